/// One run of a batch: which children are started, when the others are stopped, and how the batch ends. Pure; children
/// are numbers.
struct BatchStateMachine: ~Copyable {
    /// The counts and settings of a run.
    struct Run: Equatable {
        let count: Int
        /// The number of children that run at a time.
        let width: Int
        let policy: BatchPolicy
        /// The first child that was not started.
        var next = 0
        var running = 0
        var succeeded = 0
        /// The first child that failed.
        var failure: Int?

        /// The number of children that may still succeed.
        var open: Int { running + count - next }
    }

    typealias State = GroupRunState<Run>

    private(set) var state = State.idle

    mutating func started(count: Int, width: Int, policy: BatchPolicy) -> GroupAction {
        switch state {
        case .idle, .ended:
            var run = Run(count: count, width: max(1, width), policy: policy)
            if let ending = verdict(run) { return state.end(ending) }
            return fill(&run)
        case .running, .stopping:
            // Unreachable without a bug in this library: a request is not submitted twice at a time.
            preconditionFailure("started in \(state)")
        }
    }

    /// A child of the present run has ended, by itself or because it was stopped.
    mutating func childEnded(_ index: Int, succeeded: Bool) -> GroupAction {
        switch state {
        case .running(var run):
            run.running -= 1
            if succeeded {
                run.succeeded += 1
            } else if run.failure == nil {
                run.failure = index
            }
            guard let ending = verdict(run) else { return fill(&run) }
            return state.stop(ending, running: run.running)
        case .stopping(let ending, let running):
            return state.stoppedChildEnded(ending, running: running)
        case .idle, .ended:
            // Unreachable without a bug in this library: each started child ends once, then the batch.
            preconditionFailure("childEnded in \(state)")
        }
    }

    mutating func stopRequested(_ ending: GroupEnding) -> GroupAction {
        state.stopRequested(ending) { $0.running }
    }

    /// See ``GroupRunState/mayStart``.
    var mayStart: Bool { state.mayStart }

    /// How the run ends according to the counts so far; `nil`: the run continues.
    private func verdict(_ run: Run) -> GroupEnding? {
        switch run.policy {
        case .failFast:
            if let failure = run.failure { return .failed(failure) }
        case .collectAll:
            break
        case .quorum(let needed):
            if run.succeeded >= needed { return .succeeded }
            if run.succeeded + run.open < needed, let failure = run.failure { return .failed(failure) }
        }
        return run.open == 0 ? .succeeded : nil
    }

    private mutating func fill(_ run: inout Run) -> GroupAction {
        let first = run.next
        let more = min(run.width - run.running, run.count - first)
        run.next += more
        run.running += more
        state = .running(run)
        return more > 0 ? .start(first..<run.next) : .none
    }
}
