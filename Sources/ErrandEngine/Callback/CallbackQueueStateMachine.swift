/// Decides when to wake the queue that underlies a ``CallbackQueue``: once per change from empty to non-empty.
struct CallbackQueueStateMachine: ~Copyable {
    private enum State {
        /// No job waits and no drain is scheduled.
        case idle
        /// A drain is scheduled or running; it looks for jobs again before it ends.
        case draining
    }

    enum AddAction: Equatable {
        case scheduleDrain
        /// The scheduled or running drain will find the jobs.
        case wait
    }

    enum LookAction: Equatable {
        case run
        /// Run these jobs, then schedule another drain instead of continuing.
        case runThenReschedule
        case finish
    }

    private var state = State.idle

    mutating func jobsAdded() -> AddAction {
        switch state {
        case .idle:
            state = .draining
            return .scheduleDrain
        case .draining:
            return .wait
        }
    }

    mutating func drainLooked(foundJobs: Bool, mayGoOn: Bool) -> LookAction {
        switch state {
        case .draining:
            guard foundJobs else {
                state = .idle
                return .finish
            }
            return mayGoOn ? .run : .runThenReschedule
        case .idle:
            // Only a defect of this library can lead here: a drain is scheduled only by leaving `idle`, once.
            preconditionFailure("drainLooked in idle: a drain ran that nobody scheduled")
        }
    }
}
