/// The life of one run of a graph: which members have all they need, and how the graph ends. Pure; members are numbers.
struct GraphStateMachine: ~Copyable {
    /// Who needs whom.
    struct Plan: Equatable {
        /// By member: who needs it.
        let dependents: [[Int]]
        /// By member: how many it needs.
        let needs: [Int]
        /// So many run at a time.
        let width: Int
        /// Whether members that need none of those that failed still run.
        let goesOn: Bool
    }

    struct Run: Equatable {
        let plan: Plan
        /// By member: how many of those it needs have not succeeded.
        var missing: [Int]
        /// Have, or had, all they need, in the order in which they got it; from `next` on they were not started.
        var ready: [Int]
        var next = 0
        var running = 0
        /// The first that failed.
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
            // Only our own bug leads here: a request is not submitted twice at a time.
            preconditionFailure("started in \(state)")
        }
    }

    mutating func childEnded(_ index: Int, succeeded: Bool) -> GroupAction {
        switch state {
        case .running(var run):
            // Not copied with the members that are left.
            state = .idle
            run.running -= 1
            if succeeded {
                for dependent in run.plan.dependents[index] {
                    run.missing[dependent] -= 1
                    if run.missing[dependent] == 0 { run.ready.append(dependent) }
                }
            } else {
                run.failure = run.failure ?? index
                if !run.plan.goesOn { return state.stop(.failed(index), running: run.running) }
            }
            guard run.running == 0, run.next == run.ready.count else { return fill(&run) }
            return state.end(run.failure.map { .failed($0) } ?? .succeeded)
        case .stopping(let ending, let running):
            return state.stoppedChildEnded(ending, running: running)
        case .idle, .ended:
            // Only our own bug leads here: each child that was started ends once, and the graph after it.
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
