import Errand
import ErrandTesting
import Testing

@testable import ErrandGroups

private typealias Machine = ChainStateMachine

@Suite struct ChainStateMachineTests {
    /// Where a machine of the steps 0, 1 and 2 is, with 1 and 2 left.
    enum Place: CaseIterable {
        case idle, running, deciding, decidingStopped, decidingTimedOut, waiting, stopping, timingOut, ended
    }

    enum Event: CaseIterable {
        case started, success, failure
        case goOn, insert, append, again, againLater, skipOne, skipAll, finish, abort
        case added, elapsed, stop, timeout
    }

    /// What it answers; an event whose answer is yes or no has `.none` for it.
    private struct Row {
        var action = GroupAction.none
        var isYes: Bool?
        let state: Machine.State
        var left: [Int] = []
    }

    private static func machine(at place: Place) -> Machine {
        var machine = Machine()
        if place == .idle { return machine }
        _ = machine.started(steps: [0, 1, 2])
        switch place {
        case .idle, .running: break
        case .deciding: _ = machine.childEnded(0, succeeded: true)
        case .decidingStopped, .decidingTimedOut:
            _ = machine.childEnded(0, succeeded: true)
            _ = machine.stopRequested(place == .decidingStopped ? .stopped : .timedOut)
        case .waiting:
            _ = machine.childEnded(0, succeeded: false)
            _ = machine.decided(.again(.seconds(1)))
        case .stopping: _ = machine.stopRequested(.stopped)
        case .timingOut: _ = machine.stopRequested(.timedOut)
        case .ended:
            _ = machine.childEnded(0, succeeded: true)
            _ = machine.decided(.finish)
        }
        return machine
    }

    private static func feed(_ event: Event, _ machine: inout Machine) -> (GroupAction, Bool?) {
        switch event {
        case .started: (machine.started(steps: [7, 8]), nil)
        case .success: (machine.childEnded(0, succeeded: true), nil)
        case .failure: (machine.childEnded(0, succeeded: false), nil)
        case .goOn: (machine.decided(.goOn), nil)
        case .insert: (machine.decided(.goOn, inserted: [3, 4]), nil)
        case .append: (machine.decided(.goOn, appended: [3, 4]), nil)
        case .again: (machine.decided(.again(.zero), inserted: [3], appended: [4]), nil)
        case .againLater: (machine.decided(.again(.seconds(1)), inserted: [3], appended: [4]), nil)
        case .skipOne: (machine.decided(.skip(1), inserted: [3, 4]), nil)
        case .skipAll: (machine.decided(.skip(9)), nil)
        case .finish: (machine.decided(.finish, inserted: [3]), nil)
        case .abort: (machine.decided(.abort, inserted: [3]), nil)
        case .added: (.none, machine.appendRequested(5))
        case .elapsed: (.none, machine.delayElapsed())
        case .stop: (machine.stopRequested(.stopped), nil)
        case .timeout: (machine.stopRequested(.timedOut), nil)
        }
    }

    /// `nil`: only our own bug leads there.
    private static func row(_ place: Place, _ event: Event) -> Row? {
        let left = [1, 2]
        let stops: [Place: GroupEnding] = [
            .decidingStopped: .stopped, .decidingTimedOut: .timedOut, .stopping: .stopped, .timingOut: .timedOut,
        ]
        func over(_ ending: GroupEnding) -> Row { Row(action: .end(ending), state: .ended(ending)) }
        func unchanged(_ isYes: Bool? = nil) -> Row {
            let machine = machine(at: place)
            return Row(isYes: isYes, state: machine.state, left: Array(machine.left))
        }
        switch (place, event) {
        case (.idle, .started), (.ended, .started): return Row(action: .startEach([7]), state: .running(7), left: [8])
        case (_, .started): return nil
        case (.running, .success), (.running, .failure):
            return Row(action: .ask(0), state: .deciding(0, stop: nil), left: left)
        case (.stopping, .success), (.stopping, .failure): return over(.stopped)
        case (.timingOut, .success), (.timingOut, .failure): return over(.timedOut)
        case (_, .success), (_, .failure): return nil
        case (.deciding, .goOn): return Row(action: .startEach([1]), state: .running(1), left: [2])
        case (.deciding, .insert): return Row(action: .startEach([3]), state: .running(3), left: [4, 1, 2])
        case (.deciding, .append): return Row(action: .startEach([1]), state: .running(1), left: [2, 3, 4])
        case (.deciding, .again): return Row(action: .startEach([0]), state: .running(0), left: [3, 1, 2, 4])
        case (.deciding, .againLater):
            return Row(action: .wait(0, .seconds(1)), state: .waiting(0), left: [3, 1, 2, 4])
        case (.deciding, .skipOne): return Row(action: .startEach([4]), state: .running(4), left: [1, 2])
        case (.deciding, .skipAll), (.deciding, .finish): return over(.succeeded)
        case (.deciding, .abort): return over(.failed(0))
        case (.decidingStopped, .goOn), (.decidingStopped, .insert), (.decidingStopped, .append),
            (.decidingStopped, .again), (.decidingStopped, .againLater), (.decidingStopped, .skipOne),
            (.decidingStopped, .skipAll), (.decidingStopped, .finish), (.decidingStopped, .abort),
            (.decidingTimedOut, .goOn), (.decidingTimedOut, .insert), (.decidingTimedOut, .append),
            (.decidingTimedOut, .again), (.decidingTimedOut, .againLater), (.decidingTimedOut, .skipOne),
            (.decidingTimedOut, .skipAll), (.decidingTimedOut, .finish), (.decidingTimedOut, .abort):
            return stops[place].map(over)
        case (_, .goOn), (_, .insert), (_, .append), (_, .again), (_, .againLater), (_, .skipOne), (_, .skipAll),
            (_, .finish), (_, .abort):
            return nil
        case (.running, .added), (.deciding, .added), (.waiting, .added):
            return Row(isYes: true, state: machine(at: place).state, left: [1, 2, 5])
        case (_, .added): return unchanged(false)
        case (.waiting, .elapsed): return Row(isYes: true, state: .running(0), left: left)
        case (_, .elapsed): return unchanged(false)
        case (.running, .stop): return Row(action: .stopRunning, state: .stopping(.stopped), left: left)
        case (.running, .timeout): return Row(action: .stopRunning, state: .stopping(.timedOut), left: left)
        case (.deciding, .stop), (.decidingTimedOut, .stop): return Row(state: .deciding(0, stop: .stopped), left: left)
        case (.deciding, .timeout): return Row(state: .deciding(0, stop: .timedOut), left: left)
        case (.waiting, .stop): return over(.stopped)
        case (.waiting, .timeout): return over(.timedOut)
        case (.timingOut, .stop): return Row(state: .stopping(.stopped), left: left)
        case (.idle, .stop), (.idle, .timeout), (.decidingStopped, .stop), (.decidingStopped, .timeout),
            (.decidingTimedOut, .timeout), (.stopping, .stop), (.stopping, .timeout), (.timingOut, .timeout),
            (.ended, .stop), (.ended, .timeout):
            return unchanged()
        }
    }

    @Test(arguments: Place.allCases) func everyCell(place: Place) {
        for event in Event.allCases {
            guard let row = Self.row(place, event) else { continue }
            var machine = Self.machine(at: place)
            let (action, isYes) = Self.feed(event, &machine)
            let (state, left, mayStart) = (machine.state, Array(machine.left), machine.mayStart)
            #expect(action == row.action && isYes == row.isYes, "\(event)")
            #expect(state == row.state && left == row.left, "\(event)")
            var isRunning = false
            if case .running = state { isRunning = true }
            #expect(mayStart == isRunning, "\(event)")
        }
    }

    @Test func anEmptyChainEndsAtOnce() {
        var machine = Machine()
        #expect(machine.started(steps: []) == .end(.succeeded))
        #expect(machine.started(steps: []) == .end(.succeeded))
    }

    /// Half a million events: one step at a time and in order, each as often as was decided, one ending, and the right one.
    @Test(arguments: 0..<8 as Range<UInt64>) func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var walk = Walk()
        while walk.events < 60_000, walk.wrong == nil { walk.run(&random) }
        #expect(walk.wrong == nil)
        #expect(walk.endings.count == 4)
    }

    /// What a chain should do, by a plain list.
    private struct Walk {
        enum Phase { case running, deciding, waiting }

        var events = 0
        var wrong: String?
        var endings: Set<String> = []

        mutating func run(_ random: inout SeededGenerator) {
            var machine = Machine()
            var next = Int.random(in: 0...6, using: &random)
            var plan = Array(0..<next)
            var step = -1
            var phase = Phase.running
            var stop: GroupEnding?
            var due = GroupAction.end(.succeeded)
            if !plan.isEmpty {
                step = plan.removeFirst()
                due = .startEach([step])
            }
            var got = machine.started(steps: Array(0..<next))
            events += 1
            while true {
                guard got == due else {
                    wrong = wrong ?? "\(got) in place of \(due) in \(machine.state)"
                    return
                }
                if case .end(let ending) = due {
                    if case .ended(ending) = machine.state {} else { wrong = "ended, and is \(machine.state)" }
                    endings.insert(String("\(ending)".prefix(4)))
                    return
                }
                events += 1
                due = .none
                switch Int.random(in: 0..<24, using: &random) {
                case 0:
                    let ending = Int.random(in: 0..<2, using: &random) == 0 ? GroupEnding.stopped : .timedOut
                    got = machine.stopRequested(ending)
                    let isFirst = stop == nil
                    if isFirst || ending == .stopped { stop = ending }
                    if phase == .waiting {
                        due = .end(ending)
                    } else if phase == .running, isFirst {
                        due = .stopRunning
                    }
                case 1:
                    let isTaken = machine.appendRequested(next)
                    if isTaken != (stop == nil) { wrong = "added: \(isTaken)" }
                    if isTaken { plan.append(next) }
                    next += 1
                    got = .none
                default:
                    switch phase {
                    case .running:
                        got = machine.childEnded(step, succeeded: Bool.random(using: &random))
                        if let stop { due = .end(stop) } else { due = .ask(step) }
                        phase = .deciding
                    case .waiting:
                        if !machine.delayElapsed() { wrong = "does not go on after a wait" }
                        got = .none
                        phase = .running
                    case .deciding:
                        let inserted = (0..<Int.random(in: 0...2, using: &random)).map { next + $0 }
                        next += inserted.count
                        let appended = (0..<Int.random(in: 0...1, using: &random)).map { next + $0 }
                        next += appended.count
                        let decision = Self.decision(&random)
                        got = machine.decided(decision, inserted: inserted, appended: appended)
                        if let stop {
                            due = .end(stop)
                            continue
                        }
                        plan = inserted + plan + appended
                        phase = .running
                        switch decision {
                        case .again(let delay):
                            due = delay > .zero ? .wait(step, delay) : .startEach([step])
                            if delay > .zero { phase = .waiting }
                        case .finish: due = .end(.succeeded)
                        case .abort: due = .end(.failed(step))
                        case .goOn, .skip:
                            if case .skip(let count) = decision { plan = Array(plan.dropFirst(count)) }
                            step = plan.first ?? -1
                            due = plan.isEmpty ? .end(.succeeded) : .startEach([step])
                            plan = Array(plan.dropFirst())
                        }
                    }
                }
            }
        }

        private static func decision(_ random: inout SeededGenerator) -> ChainMoves.Decision {
            switch Int.random(in: 0..<24, using: &random) {
            case 0: .finish
            case 1: .abort
            case 2...3: .skip(Int.random(in: 0...3, using: &random))
            case 4...6: .again(.zero)
            case 7...8: .again(.milliseconds(5))
            case 9: .again(.milliseconds(-5))
            default: .goOn
            }
        }
    }
}
