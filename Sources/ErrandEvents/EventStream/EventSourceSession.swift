import HTTPTypes

/// The shell of ``EventSourceStateMachine``. A single iterator calls it, so it needs no lock.
final class EventSourceSession<C: Command> {
    private typealias Reader = ServerSentEventSequence<ResponseBodyStream>.Iterator

    private let source: EventSource<C>
    private var machine: EventSourceStateMachine
    /// The body that is being read. Releasing it stops the request.
    private var reader: Reader?
    private var head: Response?

    init(_ source: EventSource<C>) {
        self.source = source
        machine = EventSourceStateMachine(policy: source.policy)
    }

    func next() async throws -> ServerSentEvent? {
        var action = machine.started()
        while true {
            switch action {
            case .none, .read:
                switch try await read() {
                case .event(let event): return event
                case .action(let next): action = next
                }
            case .connect(let lastEventID):
                action = try await connect(lastEventID)
            case .wait(let time):
                (reader, head) = (nil, nil)
                action = try await wait(time)
            case .finish, .cancelTransfer, .cancelTimer:
                (reader, head) = (nil, nil)
                return nil
            case .fail(let error):
                let response = error.response ?? head
                (reader, head) = (nil, nil)
                throw error.with(response: response)
            }
        }
    }

    private enum Read {
        case event(ServerSentEvent)
        case action(EventSourceStateMachine.Action)
    }

    private func read() async throws -> Read {
        // After the end: the sequence stays at its end.
        guard var reading = reader else { return .action(.finish) }
        let before = (reading.lastEventID, reading.reconnectionTime)
        let result: Result<ServerSentEvent?, any Error>
        do {
            result = .success(try await reading.next())
        } catch {
            result = .failure(error)
        }
        reader = reading
        let (lastEventID, time) = (reading.lastEventID, reading.reconnectionTime)
        if case .success(.some) = result {
            machine.streamAdvanced(lastEventID: lastEventID, reconnectionTime: time)
        } else if lastEventID != before.0 || time != before.1 {
            // A block without data may change both, and is not an event.
            machine.streamAdvanced(lastEventID: lastEventID, reconnectionTime: time)
        }
        switch result {
        case .success(let event?): return .event(event)
        case .success(nil): return .action(machine.ended(random: .random(in: 0...1)))
        case .failure(let error): return .action(try failed(error))
        }
    }

    private func wait(_ time: Duration) async throws -> EventSourceStateMachine.Action {
        do {
            try await source.client.sleep(for: time)
            return machine.reconnectTimerFired()
        } catch {
            // The task was cancelled, or the client was shut down.
            _ = machine.closed()
            throw error
        }
    }

    private func connect(_ lastEventID: String?) async throws -> EventSourceStateMachine.Action {
        var overrides = source.overrides ?? RequestOverrides()
        if overrides.headers[.accept] == nil { overrides.headers[.accept] = "text/event-stream" }
        if overrides.headers[.cacheControl] == nil { overrides.headers[.cacheControl] = "no-store" }
        if let lastEventID, lastEventID.isFieldValue, let name = HTTPField.Name.lastEventID {
            overrides.headers[name] = lastEventID
        }
        // The machine decides which responses are a stream, an end or a reason to retry; all others arrive as errors.
        let retried = source.policy.retryableStatusCodes
        overrides.acceptedStatusCodes = .successful.union(.of(retried))
        overrides.acceptedContentTypes = .any
        do {
            let response = try await source.client.stream(source.command, overrides: overrides)
            head = response.head
            let sequence = ServerSentEventSequence(response.body, lastEventID: machine.lastEventID)
            reader = sequence.makeAsyncIterator()
            return machine.responseReceived(
                statusCode: response.statusCode, contentType: response.header(.contentType),
                retryAfter: response.headers.retryAfter,
                random: .random(in: 0...1))
        } catch {
            return try failed(error)
        }
    }

    private func failed(_ error: any Error) throws -> EventSourceStateMachine.Action {
        guard let error = error as? ErrandError else {
            // The task was cancelled, or the request was stopped.
            _ = machine.closed()
            (reader, head) = (nil, nil)
            throw error
        }
        return machine.failed(error, isRetryable: error.mayPass, random: .random(in: 0...1))
    }
}

extension String {
    /// Whether a header field carries the string to the server unchanged (RFC 9110 5.5): no control characters except
    /// tabs inside, and no white space around it.
    fileprivate var isFieldValue: Bool {
        guard let first = utf8.first, let last = utf8.last, !FieldTokens.isBlank(first), !FieldTokens.isBlank(last)
        else { return false }
        return utf8.allSatisfy { FieldTokens.isBlank($0) || ($0 > 0x20 && $0 != 0x7F) }
    }
}

extension ErrandError {
    // A stream retries after more errors than a download, because it is meant to stay open for as long as its reader
    // wants. So it also waits for a server that was never reached or answers wrongly for a while, and for a free place
    // in the queue.
    /// Whether the same request may succeed later: a failure of the network, not of the caller or the server's answer.
    fileprivate var mayPass: Bool {
        self == .queueFull || self != .timeoutTotal && self != .deadlineExceeded && networkFailure != nil
    }
}
