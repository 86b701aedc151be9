import Errand
import ErrandTesting
import Testing

@testable import ErrandGroups

private typealias Machine = GroupStateMachine

extension GroupStateMachine {
    fileprivate mutating func started(count: Int, width: Int, policy: BatchPolicy) -> GroupAction {
        started(.init(count: count, width: width, policy: policy))
    }
}

/// The machine in runs of batches, which have no dependencies.
@Suite struct GroupStateMachineBatchTests {
    @Test func anEmptyBatchEndsAtOnce() {
        for policy in [BatchPolicy.failFast, .collectAll, .quorum(0)] {
            var machine = Machine()
            #expect(machine.started(count: 0, width: 4, policy: policy) == .end(.succeeded))
            #expect(machine.stopRequested(.stopped) == .none)
        }
    }

    @Test func soManyAtATime() {
        var machine = Machine()
        #expect(machine.started(count: 5, width: 2, policy: .failFast) == .start(0..<2))
        #expect(machine.childEnded(1, succeeded: true) == .start(2..<3))
        #expect(machine.childEnded(0, succeeded: true) == .start(3..<4))
        #expect(machine.childEnded(3, succeeded: true) == .start(4..<5))
        #expect(machine.childEnded(2, succeeded: true) == .none)
        #expect(machine.childEnded(4, succeeded: true) == .end(.succeeded))
        // A run may follow a run.
        #expect(machine.started(count: 1, width: 2, policy: .failFast) == .start(0..<1))
    }

    @Test func theFirstFailureStopsTheRest() {
        var machine = Machine()
        _ = machine.started(count: 10, width: 3, policy: .failFast)
        #expect(machine.childEnded(1, succeeded: false) == .stopRunning)
        let mayStart = machine.mayStart
        #expect(!mayStart)
        // What the others end with says nothing any more.
        #expect(machine.childEnded(0, succeeded: true) == .none)
        #expect(machine.childEnded(2, succeeded: false) == .end(.failed(1)))
    }

    @Test func collectAllGoesOn() {
        var machine = Machine()
        _ = machine.started(count: 2, width: 9, policy: .collectAll)
        #expect(machine.childEnded(0, succeeded: false) == .none)
        #expect(machine.childEnded(1, succeeded: false) == .end(.succeeded))
    }

    @Test func aQuorum() {
        var reached = Machine()
        _ = reached.started(count: 4, width: 4, policy: .quorum(2))
        #expect(reached.childEnded(3, succeeded: false) == .none)
        #expect(reached.childEnded(0, succeeded: true) == .none)
        #expect(reached.childEnded(1, succeeded: true) == .stopRunning)
        #expect(reached.childEnded(2, succeeded: false) == .end(.succeeded))
        var missed = Machine()
        _ = missed.started(count: 3, width: 1, policy: .quorum(2))
        #expect(missed.childEnded(0, succeeded: false) == .start(1..<2))
        #expect(missed.childEnded(1, succeeded: false) == .end(.failed(0)))
        var last = Machine()
        _ = last.started(count: 2, width: 2, policy: .quorum(2))
        #expect(last.childEnded(0, succeeded: false) == .stopRunning)
        #expect(last.childEnded(1, succeeded: true) == .end(.failed(0)))
    }

    @Test func stops() {
        var machine = Machine()
        #expect(machine.stopRequested(.stopped) == .none)
        _ = machine.started(count: 3, width: 2, policy: .failFast)
        #expect(machine.stopRequested(.timedOut) == .stopRunning)
        #expect(machine.stopRequested(.timedOut) == .none)
        // Whoever stops it wants nothing else to be told.
        #expect(machine.stopRequested(.stopped) == .none)
        #expect(machine.childEnded(0, succeeded: false) == .none)
        #expect(machine.childEnded(1, succeeded: false) == .end(.stopped))
        #expect(machine.stopRequested(.stopped) == .none)
    }

    /// A batch does what a graph without dependencies does, with every policy and after every event.
    @Test(arguments: 0..<4 as Range<UInt64>) func aBatchIsAGraphWithoutDependencies(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let count = Int.random(in: 0...12, using: &random)
            let policies = [BatchPolicy.failFast, .collectAll, .quorum(Int.random(in: 0...count, using: &random))]
            var plan = Machine.Plan(
                count: count, width: Int.random(in: 1...5, using: &random),
                policy: policies.randomElement(using: &random) ?? .failFast)
            plan.failsAtEnd = Bool.random(using: &random)
            var batch = Machine()
            var graph = Machine()
            var actions = [batch.started(plan)]
            plan.dependencies = .init(
                dependents: Array(repeating: [], count: count), needs: Array(repeating: 0, count: count))
            var others = [graph.started(plan)]
            var running: [Int] = []
            while true {
                if case .start(let range)? = actions.last {
                    running += range
                    actions[actions.count - 1] = .startEach(Array(range))
                }
                guard actions == others, !running.isEmpty else { break }
                if case .end? = actions.last { break }
                if Int.random(in: 0..<20, using: &random) == 0 {
                    actions.append(batch.stopRequested(.timedOut))
                    others.append(graph.stopRequested(.timedOut))
                } else {
                    let index = running.remove(at: Int.random(in: running.indices, using: &random))
                    let isSuccess = Int.random(in: 0..<4, using: &random) > 0
                    actions.append(batch.childEnded(index, succeeded: isSuccess))
                    others.append(graph.childEnded(index, succeeded: isSuccess))
                }
            }
            #expect(actions == others)
            if case .end? = actions.last {} else { Issue.record("the run has no end: \(actions)") }
        }
    }

    /// Half a million events: never more at a time than allowed, each child started once, one ending, and it is the right one.
    @Test(arguments: 0..<8 as Range<UInt64>) func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var events = 0
        while events < 60_000 {
            let count = Int.random(in: 0...20, using: &random)
            let width = Int.random(in: 1...6, using: &random)
            let policy =
                [BatchPolicy.failFast, .collectAll, .quorum(Int.random(in: 0...count, using: &random))]
                .randomElement(using: &random) ?? .failFast
            events += walk(count, width, policy, &random)
        }
    }

    private func walk(
        _ count: Int, _ width: Int, _ policy: BatchPolicy, _ random: inout SeededGenerator
    ) -> Int {
        var machine = Machine()
        var running: [Int] = []
        var started = 0
        var succeeded = 0
        var failed: [Int] = []
        var stopped: GroupEnding?
        var isCutOff = false
        var events = 1
        var action = machine.started(count: count, width: width, policy: policy)
        while true {
            switch action {
            case .none, .startEach, .ask, .wait: break
            case .start(let range):
                #expect(range.lowerBound == started && !isCutOff)
                running += range
                started = range.upperBound
                #expect(running.count <= width)
            case .stopRunning:
                #expect(!isCutOff && !running.isEmpty)
                isCutOff = true
            case .end(let ending):
                #expect(running.isEmpty)
                let expected: GroupEnding =
                    if let stopped {
                        stopped
                    } else {
                        switch policy {
                        case .failFast: failed.first.map { .failed($0) } ?? .succeeded
                        case .collectAll: .succeeded
                        case .quorum(let needed): succeeded >= needed ? .succeeded : .failed(failed[0])
                        }
                    }
                #expect(ending == expected)
                return events
            }
            events += 1
            if Int.random(in: 0..<40, using: &random) == 0 {
                let ending = Bool.random(using: &random) ? GroupEnding.stopped : .timedOut
                action = machine.stopRequested(ending)
                if ending == .stopped || !isCutOff && stopped == nil { stopped = ending }
                continue
            }
            let index = running.remove(at: Int.random(in: running.indices, using: &random))
            let isSuccess = !isCutOff && Int.random(in: 0..<5, using: &random) > 0
            // What ends after the rest was stopped does not count.
            if !isCutOff {
                if isSuccess { succeeded += 1 } else { failed.append(index) }
            }
            action = machine.childEnded(index, succeeded: isSuccess)
        }
    }
}
