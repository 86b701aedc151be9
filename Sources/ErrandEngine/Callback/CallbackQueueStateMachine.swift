/// When to wake the queue behind a ``CallbackQueue``: once per turn from empty to non-empty.
struct CallbackQueueStateMachine: ~Copyable {
    private enum State {
        /// Nothing waits and no drain is scheduled.
        case idle
        /// A drain is scheduled or running; it will look again before it ends.
        case draining
    }

    enum AddAction: Equatable {
        case scheduleDrain
        /// The drain under way will see the jobs.
        case wait
    }

    enum LookAction: Equatable {
        case run
        /// Run these, then schedule another drain instead of going on.
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
            // Only our own bug leads here: a drain is scheduled by leaving `idle`, once.
            preconditionFailure("drainLooked in idle: a drain ran that nobody scheduled")
        }
    }
}
