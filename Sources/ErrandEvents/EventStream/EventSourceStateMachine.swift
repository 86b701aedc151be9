/// The states of an event stream that reconnects: WHATWG HTML 9.2.2 and 9.2.3 with a backoff.
///
/// ```
/// idle -> connecting -> open -> waiting -> connecting ...     any -> closed
/// ```
///
/// The caller passes random numbers with the events. The shell has the clock.
struct EventSourceStateMachine: ~Copyable {
    enum Action: Equatable {
        case none
        /// Send the request, with this `Last-Event-ID` if there is one.
        case connect(lastEventID: String?)
        /// The response is an event stream: read it.
        case read
        /// Drop the rest of the transfer and call `reconnectTimerFired` after this time.
        case wait(Duration)
        /// Drop the rest of the transfer; the stream has ended for good without an error, because the server sent 204.
        case finish
        /// Drop the rest of the transfer; the stream has ended for good with this error.
        case fail(ErrandError)
        case cancelTransfer
        case cancelTimer
    }

    private enum State {
        /// Next: connecting or closed.
        case idle
        /// A request is in flight. Next: open, waiting or closed.
        case connecting
        /// The body is being read. Next: waiting or closed.
        case open
        /// The timer runs. Next: connecting or closed.
        case waiting
        case closed
    }

    private let policy: EventSourcePolicy
    private var state = State.idle
    private var reconnectionTime: Duration
    private var failures = 0
    /// The ID that the next request sends and the next body's parser starts with.
    private(set) var lastEventID: String

    init(policy: EventSourcePolicy, lastEventID: String = "") {
        self.policy = policy
        self.reconnectionTime = policy.reconnectionTime
        self.lastEventID = lastEventID
    }

    mutating func started() -> Action {
        switch state {
        case .idle: return connect()
        // A second start has no effect; a closed stream cannot be opened again.
        case .connecting, .open, .waiting, .closed: return .none
        }
    }

    /// The head of the final response arrived. `retryAfter` is its `Retry-After`.
    mutating func responseReceived(
        statusCode: Int, contentType: String?, retryAfter: Duration? = nil, random: Double
    ) -> Action {
        switch state {
        case .connecting: break
        // The stream was closed while the head arrived; the shell passes no head before a request or after another
        // head.
        case .idle, .open, .waiting, .closed: return .none
        }
        if statusCode == 204 {
            state = .closed
            return .finish
        }
        guard statusCode == 200 else {
            let error = StatusCodes.of([200]).error(for: statusCode)
            let isRetryable = policy.retryableStatusCodes.contains(statusCode)
            return isRetryable ? failed(error, leastWait: retryAfter, random) : fail(error)
        }
        guard let contentType, ContentTypes.eventStream.accepts(contentType: contentType) else {
            let found = contentType.map { "'\($0)'" } ?? "missing"
            return fail(
                .contentTypeNotAccepted.with(message: "the content type is \(found), expected text/event-stream"))
        }
        state = .open
        return .read
    }

    /// Something was read from the stream: the parser's present last event ID and reconnection time. Also called for
    /// blocks without data, which may change both without an event.
    mutating func streamAdvanced(lastEventID: String, reconnectionTime: Duration?) {
        switch state {
        case .open:
            self.lastEventID = lastEventID
            if let reconnectionTime { self.reconnectionTime = reconnectionTime }
            failures = 0
        // An event that was in transit when the stream was closed or given up has no effect.
        case .idle, .connecting, .waiting, .closed:
            break
        }
    }

    /// The body ended. The standard asks to reconnect then; this is not a failure.
    mutating func ended(random: Double) -> Action {
        switch state {
        case .open:
            failures = 0
            return wait(leastWait: nil, random)
        // A transfer without a head ends with an error, never normally. In the other states the stream was closed
        // meanwhile.
        case .idle, .connecting, .waiting, .closed:
            return .none
        }
    }

    /// The transfer failed, or the parser rejected the bytes.
    mutating func failed(_ error: ErrandError, isRetryable: Bool, random: Double) -> Action {
        switch state {
        case .connecting, .open:
            return isRetryable ? failed(error, leastWait: nil, random) : fail(error)
        // The end of a transfer that was dropped, after a rejected response or after closing.
        case .idle, .waiting, .closed:
            return .none
        }
    }

    mutating func reconnectTimerFired() -> Action {
        switch state {
        case .waiting: return connect()
        // The timer fired while it was being cancelled.
        case .idle, .connecting, .open, .closed: return .none
        }
    }

    /// The reader was released, or the client is shutting down.
    mutating func closed() -> Action {
        defer { state = .closed }
        switch state {
        case .idle, .closed: return .none
        case .connecting, .open: return .cancelTransfer
        case .waiting: return .cancelTimer
        }
    }

    private mutating func connect() -> Action {
        state = .connecting
        return .connect(lastEventID: lastEventID.isEmpty ? nil : lastEventID)
    }

    private mutating func failed(_ error: ErrandError, leastWait: Duration?, _ random: Double) -> Action {
        failures += 1
        if let maximum = policy.maximumFailures, failures > maximum { return fail(error) }
        return wait(leastWait: leastWait, random)
    }

    private mutating func wait(leastWait: Duration?, _ random: Double) -> Action {
        state = .waiting
        return .wait(
            policy.delay(base: reconnectionTime, failures: failures, leastByServer: leastWait, random: random))
    }

    private mutating func fail(_ error: ErrandError) -> Action {
        state = .closed
        return .fail(error)
    }
}

extension ContentTypes {
    /// The content type of a server-sent event stream.
    static let eventStream: ContentTypes = ["text/event-stream"]
}
