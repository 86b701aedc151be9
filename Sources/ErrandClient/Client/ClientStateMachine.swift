/// The life of a client: decides when the transport may be stopped, and when a shutdown is complete.
struct ClientStateMachine: ~Copyable {
    enum State: Equatable {
        case running
        /// No new requests, except those that running requests wait for. Running requests may end.
        case draining
        /// The transport is ending the remaining requests.
        case stopping
        /// The transport has stopped; the last requests are reporting their end.
        case transportStopped
        case stopped
    }

    enum Action: Equatable {
        case none
        /// Call `drainExpired` when the time is up.
        case startDrainTimer
        case stopTransport
        /// Call the completions of the shutdown.
        case finish
    }

    private(set) var state = State.running
    /// Requests that have started and have not reported their end. Counted in every state, including refused requests.
    private(set) var open = 0

    /// Returns whether the request may continue. If not, it ends with an error, and `requestEnded` follows in this case
    /// too. `isAwaited`: whether draining requests may be waiting for this request, because it gets a credential or an
    /// interceptor runs it.
    mutating func requestStarted(isAwaited: @autoclosure () -> Bool = false) -> Bool {
        open += 1
        switch state {
        case .running: return true
        case .draining: return isAwaited()
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
            // The drain ended before its timer.
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
            // The transport was shut down elsewhere, or reported its end twice.
            return .none
        }
    }
}
