/// Where a run is whose children run side by side: what a batch and a graph have in common.
enum GroupRunState<Run: Equatable>: Equatable {
    case idle
    case running(Run)
    /// No more are started; those that run have been stopped and are awaited.
    case stopping(GroupEnding, running: Int)
    case ended(GroupEnding)

    /// Whether a child that `start` named is still to be started; it counts as one that runs until it has ended.
    var mayStart: Bool {
        if case .running = self { return true }
        return false
    }

    /// Ends as soon as the children that run have.
    mutating func stop(_ ending: GroupEnding, running: Int) -> GroupAction {
        guard running > 0 else { return end(ending) }
        self = .stopping(ending, running: running)
        return .stopRunning
    }

    mutating func end(_ ending: GroupEnding) -> GroupAction {
        self = .ended(ending)
        return .end(ending)
    }

    /// One of the children that were stopped has ended.
    mutating func stoppedChildEnded(_ ending: GroupEnding, running: Int) -> GroupAction {
        guard running > 1 else { return end(ending) }
        self = .stopping(ending, running: running - 1)
        return .none
    }

    /// Somebody stops the group, or its time is up.
    mutating func stopRequested(_ ending: GroupEnding, running count: (Run) -> Int) -> GroupAction {
        switch self {
        case .running(let run):
            return stop(ending, running: count(run))
        case .stopping(_, let running) where ending == .stopped:
            // A stop wins over what was decided and not told.
            self = .stopping(ending, running: running)
            return .none
        case .idle, .stopping, .ended:
            // It has ended a moment ago, or is about to.
            return .none
        }
    }
}
