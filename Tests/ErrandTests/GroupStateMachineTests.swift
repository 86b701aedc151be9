import Errand
import ErrandTesting
import Testing

@testable import ErrandGroups

private typealias Machine = GroupStateMachine

/// The machine in runs of graphs; ``GroupStateMachineBatchTests`` has the runs of batches.
@Suite struct GroupStateMachineTests {
    private static func plan(
        _ needs: [[Int]], width: Int = 64, goesOn: Bool = false
    ) -> Machine.Plan {
        let dependents = needs.indices.map { member in needs.indices.filter { needs[$0].contains(member) } }
        return .init(
            count: needs.count, width: width, policy: goesOn ? .collectAll : .failFast, failsAtEnd: true,
            dependencies: .init(dependents: dependents, needs: needs.map(\.count)))
    }

    /// Where a machine is whose members are 0, 1, 2 (needs 0) and 3 (needs 0 and 1), two of them at a time.
    enum Place: CaseIterable {
        case idle, running, stoppingTwo, stoppingOne, timingOut, failing, ended
    }

    enum Event: CaseIterable {
        case started, success, failure, stop, timeout
    }

    private static let diamond = plan([[], [], [0], [0, 1]], width: 2)

    private static func machine(at place: Place, goesOn: Bool = false) -> Machine {
        var machine = Machine()
        if place == .idle { return machine }
        _ = machine.started(plan([[], [], [0], [0, 1]], width: 2, goesOn: goesOn))
        switch place {
        case .idle, .running: break
        case .stoppingTwo: _ = machine.stopRequested(.stopped)
        case .stoppingOne:
            _ = machine.stopRequested(.stopped)
            _ = machine.childEnded(1, succeeded: false)
        case .timingOut: _ = machine.stopRequested(.timedOut)
        case .failing: _ = machine.childEnded(1, succeeded: false)
        case .ended:
            _ = machine.stopRequested(.stopped)
            _ = machine.childEnded(1, succeeded: false)
            _ = machine.childEnded(0, succeeded: false)
        }
        return machine
    }

    private static func feed(_ event: Event, _ machine: inout Machine) -> GroupAction {
        switch event {
        case .started: machine.started(plan([[1], []]))
        case .success: machine.childEnded(0, succeeded: true)
        case .failure: machine.childEnded(0, succeeded: false)
        case .stop: machine.stopRequested(.stopped)
        case .timeout: machine.stopRequested(.timedOut)
        }
    }

    /// The action, and the state after it; `nil`: only our own bug leads there.
    private static func row(_ place: Place, _ event: Event) -> (GroupAction, Machine.State)? {
        func over(_ ending: GroupEnding) -> (GroupAction, Machine.State) { (.end(ending), .ended(ending)) }
        let unchanged = (GroupAction.none, machine(at: place).state)
        switch (place, event) {
        case (.idle, .started), (.ended, .started):
            var run = Machine.Run(plan([[1], []]))
            (run.next, run.running) = (1, 1)
            return (.startEach([1]), .running(run))
        case (_, .started): return nil
        case (.running, .success):
            var run = Machine.Run(diamond)
            (run.missing, run.ready) = ([0, 0, 0, 1], [0, 1, 2])
            (run.next, run.running, run.succeeded) = (3, 2, 1)
            return (.startEach([2]), .running(run))
        case (.running, .failure): return (.stopRunning, .stopping(.failed(0), running: 1))
        case (.running, .stop): return (.stopRunning, .stopping(.stopped, running: 2))
        case (.running, .timeout): return (.stopRunning, .stopping(.timedOut, running: 2))
        case (.stoppingTwo, .success), (.stoppingTwo, .failure): return (.none, .stopping(.stopped, running: 1))
        case (.timingOut, .success), (.timingOut, .failure): return (.none, .stopping(.timedOut, running: 1))
        case (.stoppingOne, .success), (.stoppingOne, .failure): return over(.stopped)
        case (.failing, .success), (.failing, .failure): return over(.failed(1))
        case (_, .success), (_, .failure): return nil
        case (.timingOut, .stop): return (.none, .stopping(.stopped, running: 2))
        case (.failing, .stop): return (.none, .stopping(.stopped, running: 1))
        case (.stoppingTwo, .stop), (.stoppingOne, .stop), (.idle, .stop), (.ended, .stop), (.idle, .timeout),
            (.stoppingTwo, .timeout), (.stoppingOne, .timeout), (.timingOut, .timeout), (.failing, .timeout),
            (.ended, .timeout):
            return unchanged
        }
    }

    @Test(arguments: Place.allCases) func everyCell(place: Place) {
        for event in Event.allCases {
            guard let (due, after) = Self.row(place, event) else { continue }
            var machine = Self.machine(at: place)
            let action = Self.feed(event, &machine)
            let (state, mayStart) = (machine.state, machine.mayStart)
            #expect(action == due && state == after, "\(event)")
            var isRunning = false
            if case .running = state { isRunning = true }
            #expect(mayStart == isRunning, "\(event)")
        }
    }

    @Test func whatNeedsNoneOfTheFailedGoesOn() {
        var machine = Self.machine(at: .running, goesOn: true)
        #expect(machine.childEnded(1, succeeded: false) == .none)
        // 2 needs 0 alone; 3 needs 1 as well.
        #expect(machine.childEnded(0, succeeded: true) == .startEach([2]))
        #expect(machine.childEnded(2, succeeded: false) == .end(.failed(1)))
        var all = Self.machine(at: .running, goesOn: true)
        #expect(all.childEnded(0, succeeded: false) == .none)
        #expect(all.childEnded(1, succeeded: true) == .end(.failed(0)))
    }

    @Test func anEmptyGraphEndsAtOnce() {
        var machine = Machine()
        #expect(machine.started(Self.plan([])) == .end(.succeeded))
        #expect(machine.stopRequested(.stopped) == .none)
    }

    /// 120,000 events: each member at most once, after all it needs and in the order in which it got it, never too many
    /// at a time, one ending, and the right one.
    @Test(arguments: 0..<8 as Range<UInt64>) func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var walk = Walk()
        while walk.events < 15_000, walk.wrong == nil { walk.run(&random) }
        #expect(walk.wrong == nil)
        #expect(walk.endings.count == 4)
    }

    /// What a graph should do, by looking at all members each time.
    private struct Walk {
        var events = 0
        var wrong: String?
        var endings: Set<String> = []

        mutating func run(_ random: inout SeededGenerator) {
            let needs = (0..<Int.random(in: 0...12, using: &random)).map { member in
                (0..<member).filter { _ in Int.random(in: 0..<5, using: &random) == 0 }
            }
            // Numbers say nothing about who needs whom.
            let names = Array(needs.indices).shuffled(using: &random)
            var shuffled = needs
            for member in needs.indices { shuffled[names[member]] = needs[member].map { names[$0] } }
            run(shuffled, &random)
        }

        private mutating func run(_ needs: [[Int]], _ random: inout SeededGenerator) {
            let width = Int.random(in: 1...5, using: &random)
            let goesOn = Bool.random(using: &random)
            var machine = Machine()
            /// In the order in which they got all they need.
            var order: [Int] = []
            var started = 0
            var running: [Int] = []
            var succeeded: Set<Int> = []
            var failed: [Int] = []
            var cut: GroupEnding?
            events += 1
            var got = machine.started(GroupStateMachineTests.plan(needs, width: width, goesOn: goesOn))
            var due = GroupAction.none
            while true {
                if cut == nil {
                    order += needs.indices.filter { !order.contains($0) && succeeded.isSuperset(of: needs[$0]) }
                    let fresh = order.dropFirst(started).prefix(width - running.count)
                    started += fresh.count
                    running += fresh
                    due = fresh.isEmpty ? .none : .startEach(Array(fresh))
                    if running.isEmpty { due = .end(failed.first.map { .failed($0) } ?? .succeeded) }
                }
                guard got == due else {
                    wrong = wrong ?? "\(got) in place of \(due) in \(machine.state)"
                    return
                }
                if case .end(let ending) = got {
                    if case .ended(ending) = machine.state {} else { wrong = "ended, and is \(machine.state)" }
                    endings.insert(String("\(ending)".prefix(4)))
                    return
                }
                events += 1
                due = .none
                if Int.random(in: 0..<40, using: &random) == 0 {
                    let ending = Bool.random(using: &random) ? GroupEnding.stopped : .timedOut
                    got = machine.stopRequested(ending)
                    if cut == nil { due = .stopRunning }
                    if cut == nil || ending == .stopped { cut = ending }
                    continue
                }
                let index = running.remove(at: Int.random(in: running.indices, using: &random))
                let isSuccess = Int.random(in: 0..<6, using: &random) > 0
                got = machine.childEnded(index, succeeded: isSuccess)
                if let cut {
                    due = running.isEmpty ? .end(cut) : .none
                } else if isSuccess {
                    succeeded.insert(index)
                } else {
                    failed.append(index)
                    guard !goesOn else { continue }
                    cut = .failed(index)
                    due = running.isEmpty ? .end(.failed(index)) : .stopRunning
                }
            }
        }
    }
}
