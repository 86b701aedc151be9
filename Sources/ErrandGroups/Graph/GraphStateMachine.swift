/// One run of a graph: which members have all they need, and how the graph ends. Pure; members are numbers.
struct GraphStateMachine: ~Copyable {
    /// The dependencies between the members.
    struct Plan: Equatable {
        /// By member: the members that need it.
        let dependents: [[Int]]
        /// By member: the number of members that it needs.
        let needs: [Int]
        /// The number of members that run at a time.
        let width: Int
        /// Whether members that do not need a failed member still run.
        let continuesAfterFailures: Bool
    }

    struct Run: Equatable {
        let plan: Plan
        /// By member: how many of its needed members have not succeeded yet.
        var missing: [Int]
        /// The members that have or had all they need, in the order in which they became ready. The members from `next`
        /// on were not started.
        var ready: [Int]
        var next = 0
        var running = 0
        /// The first member that failed.
        var failure: Int?
    }

    typealias State = GroupRunState<Run>

    private(set) var state = State.idle

    mutating func started(_ plan: Plan) -> GroupAction {
        switch state {
        case .idle, .ended:
            let ready = plan.needs.indices.filter { plan.needs[$0] == 0 }
            guard !ready.isEmpty else { return state.end(.succeeded) }
            var run = Run(plan: plan, missing: plan.needs, ready: ready)
            return fill(&run)
        case .running, .stopping:
            // Unreachable without a bug in this library: a request is not submitted twice at a time.
            preconditionFailure("started in \(state)")
        }
    }

    mutating func childEnded(_ index: Int, succeeded: Bool) -> GroupAction {
        switch state {
        case .running(var run):
            // Releases the state's reference, so that changing the run does not copy its arrays.
            state = .idle
            run.running -= 1
            if succeeded {
                for dependent in run.plan.dependents[index] {
                    run.missing[dependent] -= 1
                    if run.missing[dependent] == 0 { run.ready.append(dependent) }
                }
            } else {
                run.failure = run.failure ?? index
                if !run.plan.continuesAfterFailures { return state.stop(.failed(index), running: run.running) }
            }
            guard run.running == 0, run.next == run.ready.count else { return fill(&run) }
            return state.end(run.failure.map { .failed($0) } ?? .succeeded)
        case .stopping(let ending, let running):
            return state.stoppedChildEnded(ending, running: running)
        case .idle, .ended:
            // Unreachable without a bug in this library: each started child ends once, then the graph.
            preconditionFailure("childEnded in \(state)")
        }
    }

    mutating func stopRequested(_ ending: GroupEnding) -> GroupAction {
        state.stopRequested(ending) { $0.running }
    }

    /// See ``GroupRunState/mayStart``.
    var mayStart: Bool { state.mayStart }

    private mutating func fill(_ run: inout Run) -> GroupAction {
        let first = Array(run.ready[run.next...].prefix(run.plan.width - run.running))
        run.next += first.count
        run.running += first.count
        state = .running(run)
        return first.isEmpty ? .none : .startEach(first)
    }
}
