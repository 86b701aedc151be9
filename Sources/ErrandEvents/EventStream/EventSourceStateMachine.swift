/// The life of an event stream that reconnects: WHATWG HTML 9.2.2 and 9.2.3 with a back-off.
///
/// ```
/// idle -> connecting -> open -> waiting -> connecting ...     any -> closed
/// ```
///
/// Random numbers come with the events; the clock is the shell's.
struct EventSourceStateMachine: ~Copyable {
    enum Action: Equatable {
        case none
        /// Send the request, with this `Last-Event-ID` where there is one.
        case connect(lastEventID: String?)
        /// The response is an event stream: read it.
        case read
        /// Drop what is left of the transfer and tell `reconnectTimerFired` after this time.
        case wait(Duration)
        /// Drop what is left of the transfer; the stream has ended for good, without an error: the server said 204.
        case finish
        /// Drop what is left of the transfer; the stream has ended for good with this error.
        case fail(ErrandError)
        case cancelTransfer
        case cancelTimer
    }

    private enum State {
        /// Goes to connecting, or closed.
        case idle
        /// A request is under way. Goes to open, waiting, or closed.
        case connecting
        /// The body is being read. Goes to waiting, or closed.
        case open
        /// Goes to connecting, or closed.
        case waiting
        case closed
    }

    private let policy: EventSourcePolicy
    private var state = State.idle
    private var reconnectionTime: Duration
    private var failures = 0
    /// What the next request sends, and what the next body's parser begins with.
    private(set) var lastEventID: String

    init(policy: EventSourcePolicy, lastEventID: String = "") {
        self.policy = policy
        self.reconnectionTime = policy.reconnectionTime
        self.lastEventID = lastEventID
    }

    mutating func started() -> Action {
        switch state {
        case .idle: return connect()
        // A second start has nothing to do; a closed stream is not opened again.
        case .connecting, .open, .waiting, .closed: return .none
        }
    }

    /// The head of the final response is there. `retryAfter` is its `Retry-After`, where it is a number of seconds.
    mutating func responseReceived(
        statusCode: Int, contentType: String?, retryAfter: Duration? = nil, random: Double
    ) -> Action {
        switch state {
        case .connecting: break
        // The stream was closed while the head came; a head before a request or after another's is not told.
        case .idle, .open, .waiting, .closed: return .none
        }
        if statusCode == 204 {
            state = .closed
            return .finish
        }
        guard statusCode == 200 else {
            let error = ErrandError.statusNotAccepted.with(message: "the status \(statusCode) was not accepted")
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

    /// Something was read from the stream: the parser's last event ID and reconnection time as they are now. To be told
    /// for blocks without data too, which change both and give no event.
    mutating func streamAdvanced(lastEventID: String, reconnectionTime: Duration?) {
        switch state {
        case .open:
            self.lastEventID = lastEventID
            if let reconnectionTime { self.reconnectionTime = reconnectionTime }
            failures = 0
        // An event that was on its way when the stream was closed, or given up, changes nothing.
        case .idle, .connecting, .waiting, .closed:
            break
        }
    }

    /// The body came to its end. Reconnecting is what the standard asks for then; it is no failure.
    mutating func ended(random: Double) -> Action {
        switch state {
        case .open:
            failures = 0
            return wait(leastWait: nil, random)
        // Without a head there is an error, never an end; the others: closed meanwhile.
        case .idle, .connecting, .waiting, .closed:
            return .none
        }
    }

    /// The transfer failed, or the parser refused what came.
    mutating func failed(_ error: ErrandError, isRetryable: Bool, random: Double) -> Action {
        switch state {
        case .connecting, .open:
            return isRetryable ? failed(error, leastWait: nil, random) : fail(error)
        // The ending of a transfer that was dropped: after a response that was not accepted, or after closing.
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

    /// The reader goes, or the client shuts down.
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
        if let maximum = policy.maximumFailures, failures >= maximum { return fail(error) }
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
    /// What a server-sent event stream must be sent as.
    static let eventStream: ContentTypes = ["text/event-stream"]
}
