/// The state of a run whose children run in parallel: the common part of batches and graphs.
enum GroupRunState<Run: Equatable>: Equatable {
    case idle
    case running(Run)
    /// No more children are started; the running ones have been stopped, and the group waits for their ends.
    case stopping(GroupEnding, running: Int)
    case ended(GroupEnding)

    /// Whether a child that `start` named is still to be started; the child counts as running until it has ended.
    var mayStart: Bool {
        if case .running = self { return true }
        return false
    }

    /// Ends the run as soon as the running children have ended.
    mutating func stop(_ ending: GroupEnding, running: Int) -> GroupAction {
        guard running > 0 else { return end(ending) }
        self = .stopping(ending, running: running)
        return .stopRunning
    }

    mutating func end(_ ending: GroupEnding) -> GroupAction {
        self = .ended(ending)
        return .end(ending)
    }

    /// One of the stopped children has ended.
    mutating func stoppedChildEnded(_ ending: GroupEnding, running: Int) -> GroupAction {
        guard running > 1 else { return end(ending) }
        self = .stopping(ending, running: running - 1)
        return .none
    }

    /// The group was stopped, or its time is up.
    mutating func stopRequested(_ ending: GroupEnding, running count: (Run) -> Int) -> GroupAction {
        switch self {
        case .running(let run):
            return stop(ending, running: count(run))
        case .stopping(_, let running) where ending == .stopped:
            // A stop takes precedence over an ending that was decided but not reported yet.
            self = .stopping(ending, running: running)
            return .none
        case .idle, .stopping, .ended:
            // The group has just ended or is about to end.
            return .none
        }
    }
}
