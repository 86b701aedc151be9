extension LoadLedger {
    package enum Phase: Sendable, Equatable {
        case waiting
        case warmingUp
        case measuring
        /// Nothing begins any more.
        case draining(until: UInt64)
        /// The requests and iterations that had not ended are being cancelled.
        case cut(since: UInt64)
        case done(at: UInt64)
    }

    /// One iteration of a user.
    package struct Iteration: Sendable {
        package let scenario: Int
        /// The user's index in this share.
        package let user: Int
        /// Closed model: the user's iteration, from 0. Open model: the arrival in the whole plan, from 0.
        package let number: UInt64
        package let due: UInt64
        /// When a user was free for the iteration: later than ``due`` if the arrival had to wait for a user.
        package let free: UInt64
        let isCounted: Bool
    }

    /// One request.
    package struct Ticket: Sendable {
        let record: Int
        package let due: UInt64
        let free: UInt64
        let sent: UInt64
        let isCounted: Bool
        /// The request's place among those that have not ended, if it is counted.
        let place: Int
    }

    /// How an iteration ended.
    package enum IterationEnd: Sendable {
        case completed, failed, interrupted
    }

    /// What a dispatcher of the open model does next.
    package enum Dispatch: Sendable {
        case begin(Iteration)
        /// Nothing is due, or no user is free, before that time.
        case wait(until: UInt64)
        case over
    }

    /// The change that the time has brought.
    package enum Step: Sendable, Equatable {
        case none
        /// The measured part has begun.
        case measure
        /// The measured part is over.
        case drain
        /// The requests and iterations that have not ended are to be cancelled.
        case cut
        case done
    }
}
