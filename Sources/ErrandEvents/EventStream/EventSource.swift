import HTTPTypes

/// A stream of server-sent events that reconnects by itself: the `EventSource` of WHATWG HTML 9.2, as a sequence.
///
/// ```swift
/// for try await event in client.events(GetNews()) { print(event.data) }
/// ```
///
/// Every iteration has its own connection. The first `next()` opens it; it is closed when the iterator is released or
/// its task is cancelled. The server's data waits for the reader (backpressure). After the end of a response or a
/// temporary failure, the stream waits as ``EventSourcePolicy`` says and sends a new request with `Last-Event-ID`. The
/// field is left out if a header field cannot carry the ID unchanged (control characters, white space around it). A 204
/// ends the stream; any other failure is thrown. ``ErrandError/shutDown`` is thrown as soon as the client is shut down
/// while the stream waits. Interceptors and authentication apply to every connection.
public struct EventSource<C: Command>: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = ServerSentEvent

    let client: Client
    let command: C
    let policy: EventSourcePolicy
    let overrides: RequestOverrides?

    /// Connects with the first `next()`.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(EventSourceSession(self))
    }

    /// Reads event by event. For one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let session: EventSourceSession<C>

        init(_ session: EventSourceSession<C>) {
            self.session = session
        }

        /// The next event, over as many connections as necessary; `nil` if the server said that there are no more
        /// events. Throws ``ErrandError``, or `CancellationError` if the task was cancelled.
        public mutating func next() async throws -> ServerSentEvent? {
            try await session.next()
        }
    }
}

extension Client {
    /// The events that the server sends for `command`. ``Timeouts/idle`` bounds the silence between two pieces of the
    /// stream; after that time the stream reconnects. Set an idle timeout that fits the server's keep-alive interval,
    /// and do not set ``Timeouts/total``. The standard defines which statuses and content types are an event stream, so
    /// the accepted statuses and content types of the command, the overrides and the client have no effect here.
    public func events<C: Command>(
        _ command: C, policy: EventSourcePolicy = EventSourcePolicy(), overrides: RequestOverrides? = nil
    ) -> EventSource<C> {
        EventSource(client: self, command: command, policy: policy, overrides: overrides)
    }
}

extension HTTPField.Name {
    /// `Last-Event-ID` (WHATWG HTML 9.2.4).
    static let lastEventID = HTTPField.Name("Last-Event-ID")
}
