/// One run of a batch or a graph: which children start, when the others are stopped, and how the run ends. A batch is a
/// graph without dependencies. Pure; children are identified by number.
struct GroupStateMachine: ~Copyable {
    /// The dependencies between the children.
    struct Dependencies: Equatable {
        /// By child: the children that need it.
        let dependents: [[Int]]
        /// By child: the number of children that it needs.
        let needs: [Int]
    }

    /// What a run does.
    struct Plan: Equatable {
        let count: Int
        /// The number of children that run at a time.
        let width: Int
        /// A quorum requires that all children may start, so it is only for runs without dependencies.
        let policy: BatchPolicy
        /// Whether a run with ``BatchPolicy/collectAll`` fails at its end because of a failed child.
        var failsAtEnd = false
        /// `nil`: the children start in the order of their numbers, and the run keeps no list of them.
        var dependencies: Dependencies?
    }

    struct Run: Equatable {
        let plan: Plan
        /// By child: how many of its needed children have not succeeded yet. Empty without dependencies.
        var missing: [Int] = []
        /// The children whose needed children have all succeeded, in the order in which they became ready. Empty
        /// without dependencies.
        var ready: [Int] = []
        /// The number of children that were started.
        var next = 0
        var running = 0
        var succeeded = 0
        /// The first child that failed.
        var failure: Int?

        init(_ plan: Plan) {
            self.plan = plan
            guard let dependencies = plan.dependencies else { return }
            missing = dependencies.needs
            ready = missing.indices.filter { missing[$0] == 0 }
        }

        /// The number of children that may start or have started.
        var readyCount: Int { plan.dependencies == nil ? plan.count : ready.count }

        /// The number of children that run or may start. Without dependencies, all of them may still succeed.
        var open: Int { running + readyCount - next }

        /// How the run ends according to the counts so far; `nil`: the run continues.
        var verdict: GroupEnding? {
            switch plan.policy {
            case .failFast:
                if let failure { return .failed(failure) }
            case .collectAll:
                if plan.failsAtEnd, open == 0, let failure { return .failed(failure) }
            case .quorum(let needed):
                if succeeded >= needed { return .succeeded }
                if succeeded + open < needed, let failure { return .failed(failure) }
            }
            return open == 0 ? .succeeded : nil
        }
    }

    enum State: Equatable {
        case idle
        case running(Run)
        /// No more children are started. The running ones have been stopped, and the group waits for their ends.
        case stopping(GroupEnding, running: Int)
        case ended(GroupEnding)
    }

    private(set) var state = State.idle

    mutating func started(_ plan: Plan) -> GroupAction {
        switch state {
        case .idle, .ended:
            var run = Run(plan)
            if let ending = run.verdict { return end(ending) }
            return startMore(&run)
        case .running, .stopping:
            // Unreachable without a bug in this library: a request is not submitted twice at a time.
            preconditionFailure("started in \(state)")
        }
    }

    /// A child of the present run has ended, by itself or because it was stopped.
    mutating func childEnded(_ index: Int, succeeded: Bool) -> GroupAction {
        switch state {
        case .running(var run):
            // Releases the state's reference, so that changing the run does not copy its arrays.
            state = .idle
            run.running -= 1
            if succeeded {
                run.succeeded += 1
                for dependent in run.plan.dependencies?.dependents[index] ?? [] {
                    run.missing[dependent] -= 1
                    if run.missing[dependent] == 0 { run.ready.append(dependent) }
                }
            } else if run.failure == nil {
                run.failure = index
            }
            guard let ending = run.verdict else { return startMore(&run) }
            return stop(ending, running: run.running)
        case .stopping(let ending, let running):
            guard running > 1 else { return end(ending) }
            state = .stopping(ending, running: running - 1)
            return .none
        case .idle, .ended:
            // Unreachable without a bug in this library: each started child ends once, then the group.
            preconditionFailure("childEnded in \(state)")
        }
    }

    /// The group was stopped, or its time is up.
    mutating func stopRequested(_ ending: GroupEnding) -> GroupAction {
        switch state {
        case .running(let run):
            return stop(ending, running: run.running)
        case .stopping(_, let running) where ending == .stopped:
            // A stop takes precedence over an ending that was decided but not reported yet.
            state = .stopping(ending, running: running)
            return .none
        case .idle, .stopping, .ended:
            // The group has just ended or is about to end.
            return .none
        }
    }

    /// Whether a child that `start` named is still to be started; the child counts as running until it has ended.
    var mayStart: Bool {
        if case .running = state { return true }
        return false
    }

    private mutating func startMore(_ run: inout Run) -> GroupAction {
        let first = run.next
        let more = min(run.plan.width - run.running, run.readyCount - first)
        run.next += more
        run.running += more
        state = .running(run)
        guard more > 0 else { return .none }
        return run.plan.dependencies == nil
            ? .start(first..<run.next) : .startEach(Array(run.ready[first..<run.next]))
    }

    /// Ends the run as soon as the running children have ended.
    private mutating func stop(_ ending: GroupEnding, running: Int) -> GroupAction {
        guard running > 0 else { return end(ending) }
        state = .stopping(ending, running: running)
        return .stopRunning
    }

    private mutating func end(_ ending: GroupEnding) -> GroupAction {
        state = .ended(ending)
        return .end(ending)
    }
}
