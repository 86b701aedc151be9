/// The control of one transfer whose id may not be known yet: `submit` returns the id, and a cancellation, a pause or
/// the end of the transfer may come before. What was asked for meanwhile is recorded, and passed on when the id is
/// known.
///
/// The id cannot be reserved before the submission. It names the loop, which the core chooses by the request's origin
/// and the loops' load; and orders reach a transfer only behind its submission, in the queue of that loop.
///
/// Pure, like the state machines: it is changed while the owner's lock is held, and the order that a method returns is
/// carried out after the lock is released. ``RequestStateMachine`` has the same states as part of its own.
package struct TransferControl: Equatable, Sendable {
    private enum State: Equatable, Sendable {
        /// Passed to the transport, whose `submit` has not returned yet.
        case submitting
        /// Cancelled before the id was known.
        case cancelledWhileSubmitting
        case open(TransferID)
        /// Cancelled; the end of the transfer has not arrived yet.
        case cancelled(TransferID)
    }

    /// What the transport has to do.
    package enum Order: Equatable, Sendable {
        case none
        case cancel(TransferID)
        case pause(TransferID)
        case resume(TransferID)
    }

    private var state = State.submitting
    /// Whether the transfer is to be paused.
    package private(set) var isPaused: Bool

    /// The transfer is about to be submitted. If `isPaused`, it is paused as soon as its id is known.
    package init(isPaused: Bool = false) {
        self.isPaused = isPaused
    }

    /// The transport's id, once it is known.
    package var id: TransferID? {
        switch state {
        case .open(let id), .cancelled(let id): id
        case .submitting, .cancelledWhileSubmitting: nil
        }
    }

    /// Whether the transfer was cancelled here.
    package var isCancelled: Bool {
        switch state {
        case .cancelled, .cancelledWhileSubmitting: true
        case .submitting, .open: false
        }
    }

    /// `submit` has returned.
    package mutating func opened(_ id: TransferID) -> Order {
        switch state {
        case .submitting:
            state = .open(id)
            return isPaused ? .pause(id) : .none
        case .cancelledWhileSubmitting:
            state = .cancelled(id)
            return .cancel(id)
        case .open, .cancelled:
            return .none
        }
    }

    package mutating func cancel() -> Order {
        switch state {
        case .submitting:
            state = .cancelledWhileSubmitting
            return .none
        case .open(let id):
            state = .cancelled(id)
            return .cancel(id)
        case .cancelledWhileSubmitting, .cancelled:
            return .none
        }
    }

    /// Pauses or resumes; no order if the transfer is in that state already.
    package mutating func setPaused(_ isPaused: Bool) -> Order {
        guard isPaused != self.isPaused else { return .none }
        self.isPaused = isPaused
        guard case .open(let id) = state else { return .none }
        return isPaused ? .pause(id) : .resume(id)
    }

    /// An order was carried out. Returns the order that undoes it if another thread has asked for the opposite since:
    /// each thread checks after its own order, so the transport ends in the state asked for last.
    package func performed(_ order: Order) -> Order {
        guard case .open(let id) = state else { return .none }
        switch order {
        case .pause: return isPaused ? .none : .resume(id)
        case .resume: return isPaused ? .pause(id) : .none
        case .none, .cancel: return .none
        }
    }
}

extension Transport {
    /// Carries out an order on the transfer.
    package func perform(_ order: TransferControl.Order) {
        switch order {
        case .none: break
        case .cancel(let id): cancel(id)
        case .pause(let id): pause(id)
        case .resume(let id): resume(id)
        }
    }
}
