import ErrandTesting
import Testing

@testable import ErrandClient

/// The table of the machine, and random walks: each call of `next` is answered once, and the run ends.
@Suite struct InterceptionStateMachineTests {
    typealias Machine = InterceptionStateMachine
    typealias State = Machine.State

    private static let asking = State.asking(call: 1)
    private static let sending = State.sending(call: 1, isGivenUp: false)
    private static let givenUp = State.sending(call: 1, isGivenUp: true)
    /// A new call, and the transfer of an older one.
    private static let again = State.askingWhileSending(call: 1, sent: 0)
    private static let abandoned = State.sending(call: 0, isGivenUp: true)
    private static let all: [State] = [
        .running, asking, sending, givenUp, again, .endedWhileSending, .ended, .closed,
    ]

    /// For each state the action and the next state.
    private func check<Action: Equatable>(
        _ rows: [(Action, State)], _ event: (inout Machine) -> Action, _ place: SourceLocation = #_sourceLocation
    ) {
        for (state, (action, next)) in zip(Self.all, rows) {
            var machine = Machine(state)
            #expect(event(&machine) == action, "in \(state)", sourceLocation: place)
            #expect(machine.state == next, "after \(state)", sourceLocation: place)
        }
        #expect(rows.count == Self.all.count, sourceLocation: place)
    }

    @Test func theTable() {
        let (asking, sending, givenUp, again) = (Self.asking, Self.sending, Self.givenUp, Self.again)
        check(
            [
                (.ask(call: 1), asking), (.refuseConcurrent, asking), (.refuseConcurrent, sending),
                (.ask(call: 1), .askingWhileSending(call: 1, sent: 1)), (.refuseConcurrent, again),
                (.refuseLate, .endedWhileSending), (.refuseLate, .ended), (.refuseLate, .closed),
            ]
        ) { $0.nextCalled() }
        check(
            [
                (false, .running), (true, sending), (false, sending), (false, givenUp), (false, again),
                (false, .endedWhileSending), (false, .ended), (false, .closed),
            ]
        ) { $0.taken(1) }
        for call in [1, nil] {
            check(
                [
                    (.none, .running), (.withdraw, .running), (.cut(call: 1), givenUp), (.none, givenUp),
                    (.withdraw, Self.abandoned), (.none, .endedWhileSending), (.none, .ended), (.none, .closed),
                ]
            ) { $0.gaveUp(call) }
        }
        check(Self.all.map { (Machine.GiveUpAction.none, $0) }) { $0.gaveUp(7) }
        check(
            [
                (.drop, .running), (.drop, asking), (.resume, .running), (.resume, .running), (.replace, asking),
                (.drop, .ended), (.drop, .ended), (.drop, .closed),
            ]
        ) { $0.resultArrived() }
        check(
            [
                (.report, .ended), (.reportAndWithdraw, .ended), (.cut(call: 1), .endedWhileSending),
                (.cut(call: 1), .endedWhileSending), (.cut(call: 0), .endedWhileSending),
                (.ignore, .endedWhileSending), (.ignore, .ended), (.ignore, .closed),
            ]
        ) { $0.interceptorsEnded() }
        check(Self.all.map { _ in (true, State.closed) }) { machine in
            machine.closed()
            return machine.isOver
        }
    }

    /// As the shell uses it: what is offered is taken or withdrawn, and what is sent has one result. A call that was
    /// given up is answered by the end of its transfer, or by the next call.
    @Test(arguments: 0..<64) func walks(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = Machine()
        var (present, calls, answered, results) = (0, 0, 0, 0)
        var isWaiting = false
        for _ in 0..<200 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3:
                let former = machine.state
                guard case .ask(let call) = machine.nextCalled() else { break }
                if isWaiting {
                    #expect(former == .sending(call: present, isGivenUp: true))
                    answered += 1
                }
                #expect(call == present + 1)
                (present, calls, isWaiting) = (call, calls + 1, true)
            case 3..<6:
                let isOffered = machine.state == .asking(call: present)
                #expect(machine.taken(present) == isOffered)
            case 6..<9:
                // Of a call that was replaced, by one that was withdrawn, nobody waits for the result.
                if machine.resultArrived() == .resume, isWaiting { (answered, isWaiting) = (answered + 1, false) }
            case 9:
                if machine.gaveUp(Bool.random(using: &random) ? present : nil) == .withdraw {
                    #expect(isWaiting)
                    (answered, isWaiting) = (answered + 1, false)
                }
            case 10 where Int.random(in: 0..<10, using: &random) == 0:
                switch machine.interceptorsEnded() {
                case .report: results += 1
                case .reportAndWithdraw:
                    #expect(isWaiting)
                    (answered, isWaiting, results) = (answered + 1, false, results + 1)
                case .cut:
                    if isWaiting { (answered, isWaiting) = (answered + 1, false) }
                    results += 1
                case .ignore: break
                }
            case 11 where Int.random(in: 0..<40, using: &random) == 0:
                machine.closed()
                if isWaiting { (answered, isWaiting) = (answered + 1, false) }
            default: break
            }
        }
        machine.closed()
        if isWaiting { answered += 1 }
        #expect(calls == answered)
        #expect(results <= 1)
        #expect(machine.nextCalled() == .refuseLate)
    }
}
