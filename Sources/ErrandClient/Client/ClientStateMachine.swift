/// The life of a client: when the transport may be stopped, and when a shutdown is complete.
struct ClientStateMachine: ~Copyable {
    enum State: Equatable {
        case running
        /// No new requests but those that get credentials for others; those that run may end.
        case draining
        /// The transport ends what is left.
        case stopping
        /// The transport has stopped; the last requests are being told.
        case transportStopped
        case stopped
    }

    enum Action: Equatable {
        case none
        /// Call `drainExpired` when the time is up.
        case startDrainTimer
        case stopTransport
        /// Resume everybody who waits for the shutdown.
        case finish
    }

    private(set) var state = State.running
    /// Requests that were started and have not told their end; counted in every state, refused ones too.
    private(set) var open = 0

    /// Returns whether the request may go on; if not it ends with an error, and `requestEnded` follows all the same.
    /// `isForRefresh`: it gets a credential, which requests that drain may be waiting for.
    mutating func requestStarted(isForRefresh: @autoclosure () -> Bool = false) -> Bool {
        open += 1
        switch state {
        case .running: return true
        case .draining: return isForRefresh()
        case .stopping, .transportStopped, .stopped: return false
        }
    }

    mutating func requestEnded() -> Action {
        open -= 1
        guard open == 0 else { return .none }
        switch state {
        case .running, .stopping, .stopped:
            return .none
        case .draining:
            state = .stopping
            return .stopTransport
        case .transportStopped:
            state = .stopped
            return .finish
        }
    }

    mutating func shutdownRequested(drain: Bool) -> Action {
        switch state {
        case .running, .draining:
            if drain, open > 0 {
                state = .draining
                return .startDrainTimer
            }
            state = .stopping
            return .stopTransport
        case .stopping, .transportStopped:
            return .none
        case .stopped:
            return .finish
        }
    }

    mutating func drainExpired() -> Action {
        switch state {
        case .draining:
            state = .stopping
            return .stopTransport
        case .running, .stopping, .transportStopped, .stopped:
            // The drain was quicker than its timer.
            return .none
        }
    }

    mutating func transportStopped() -> Action {
        switch state {
        case .stopping:
            guard open == 0 else {
                state = .transportStopped
                return .none
            }
            state = .stopped
            return .finish
        case .running, .draining, .transportStopped, .stopped:
            // A transport that was shut down by somebody else, or told twice.
            return .none
        }
    }
}
