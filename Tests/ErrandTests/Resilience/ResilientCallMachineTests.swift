import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandResilience

@Suite struct ResilientCallMachineTests {
    private typealias Machine = ResilientCallMachine

    private static func machine(_ attempts: Int = 3, isStreamed: Bool = false) -> Machine {
        Machine(
            RetryPolicy(maxAttempts: attempts, backoff: RetryBackoff(base: .seconds(1))),
            RetrySubject(isRepeatable: true), deadline: .seconds(100), isStreamed: isStreamed, bodyIsReplayable: true)
    }

    private static let busy = TransferResult.response(Response(statusCode: 503))

    /// A late return of `submit` belongs to an attempt that has ended.
    @Test func aLateIDIsIgnored() {
        var machine = Self.machine()
        _ = machine.started(now: .zero)
        let submits = (machine.willSubmit(1), machine.willSubmit(1))
        #expect(submits == (true, false))
        _ = machine.attemptEnded(Self.busy, now: .zero, random: 1)
        _ = machine.budgetAnswered(granted: true, now: .zero)
        _ = machine.waitElapsed(now: .seconds(1))
        _ = machine.willSubmit(2)
        _ = machine.opened(TransferID(rawValue: 1), attempt: 1)
        #expect(machine.attemptID == nil)
        _ = machine.opened(TransferID(rawValue: 2), attempt: 2)
        #expect(machine.attemptID == TransferID(rawValue: 2))
    }

    /// Cancelled while the budget was asked: the token goes back.
    @Test(arguments: [true, false]) func aTokenThatCameTooLate(isStreamed: Bool) {
        var machine = Self.machine(isStreamed: isStreamed)
        _ = machine.started(now: .zero)
        _ = machine.willSubmit(1)
        if isStreamed {
            _ = machine.headReceived(Response(statusCode: 503), now: .zero, random: 1)
        } else {
            _ = machine.attemptEnded(Self.busy, now: .zero, random: 1)
        }
        _ = machine.cancelRequested()
        let answer = machine.budgetAnswered(granted: true, now: .zero)
        #expect(answer.givesBackToken)
        #expect(machine.isOver != isStreamed)
        if isStreamed {
            let end = machine.attemptEnded(.failure(.cancelled), now: .zero, random: 1)
            #expect(end.isEnd)
        }
    }

    /// The response of a stream that was cancelled for a retry cannot come back.
    @Test func aRejectedStreamAndARefusal() {
        var machine = Self.machine(isStreamed: true)
        _ = machine.started(now: .zero)
        _ = machine.willSubmit(1)
        _ = machine.headReceived(Response(statusCode: 503), now: .zero, random: 1)
        _ = machine.budgetAnswered(granted: true, now: .zero)
        _ = machine.attemptEnded(.failure(.cancelled), now: .zero, random: 1)
        _ = machine.waitElapsed(now: .seconds(1))
        let decision = machine.refused(.circuitOpen.refused, attempt: 2)
        guard case .end(let outcome) = decision.action, case .failure(let error) = outcome.result else {
            Issue.record("the call did not end")
            return
        }
        #expect(error == .circuitOpen && error.statusCode == 503 && !error.isRefusal && decision.givesBackToken)
    }

    /// The deadline passes in the wait, and the rejected response cannot come back.
    @Test func aRejectedStreamWithoutTime() {
        var machine = Self.machine(isStreamed: true)
        _ = machine.started(now: .zero)
        _ = machine.willSubmit(1)
        _ = machine.headReceived(Response(statusCode: 503), now: .zero, random: 1)
        _ = machine.budgetAnswered(granted: true, now: .zero)
        _ = machine.attemptEnded(.failure(.cancelled), now: .zero, random: 1)
        let decision = machine.waitElapsed(now: .seconds(100))
        guard case .end(let outcome) = decision.action, case .failure(let error) = outcome.result else {
            Issue.record("the call did not end")
            return
        }
        #expect(error == .deadlineExceeded && error.statusCode == 503 && !error.isRefusal && decision.givesBackToken)
    }

    /// Any event at any time: one end, no attempt after it, and every token is used or goes back.
    @Test(arguments: 0..<20) func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var machine = Self.machine(4, isStreamed: Bool.random(using: &random))
            var (ends, granted, back, sent, attempt, isAsking) = (0, 0, 0, 0, 1, false)
            var now = Duration.zero
            func note(_ decision: Machine.Decision) {
                if decision.givesBackToken { back += 1 }
                switch decision.action {
                case .end: ends += 1
                case .admit(let number): attempt = number
                case .askBudget: isAsking = true
                default: break
                }
            }
            note(machine.started(now: now))
            for step in 0..<60 {
                now += .milliseconds(Int.random(in: 0...800, using: &random))
                if isAsking, Bool.random(using: &random) {
                    isAsking = false
                    let isGranted = Int.random(in: 0..<5, using: &random) > 0
                    if isGranted { granted += 1 }
                    note(machine.budgetAnswered(granted: isGranted, now: now))
                    continue
                }
                switch Int.random(in: 0..<(step < 40 ? 11 : 13), using: &random) {
                case 0, 1: if machine.willSubmit(attempt) { sent += 1 }
                case 2: note(machine.opened(TransferID(rawValue: UInt64(attempt)), attempt: attempt))
                case 3: note(machine.setPaused(Bool.random(using: &random)))
                case 4, 5:
                    // Events of an attempt are handled one after the other.
                    if !isAsking { note(machine.attemptEnded(Self.busy, now: now, random: 1)) }
                case 6: if !isAsking { note(machine.headReceived(Response(statusCode: 503), now: now, random: 1)) }
                case 7, 8: note(machine.waitElapsed(now: now))
                case 9:
                    if Int.random(in: 0..<8, using: &random) == 0, attempt == sent + 1 {
                        note(machine.refused(.queueFull, attempt: attempt))
                    }
                case 10: if Int.random(in: 0..<20, using: &random) == 0 { note(machine.transportStops()) }
                default: note(machine.cancelRequested())
                }
                #expect(ends == (machine.isOver ? 1 : 0))
            }
            if isAsking {
                granted += 1
                note(machine.budgetAnswered(granted: true, now: now))
            }
            note(machine.cancelRequested())
            note(machine.attemptEnded(.failure(.cancelled), now: now, random: 1))
            #expect(ends == 1 && machine.isOver)
            #expect(granted - back == max(0, sent - 1))
        }
    }
}

extension ResilientCallMachine.Decision {
    fileprivate var isEnd: Bool {
        if case .end = action { true } else { false }
    }
}
