import HTTPTypes

/// A stream of server-sent events that connects again by itself: the `EventSource` of WHATWG HTML 9.2, as a sequence.
///
/// ```swift
/// for try await event in client.events(GetNews()) { print(event.data) }
/// ```
///
/// Every iteration is a connection of its own, opened by the first `next()` and closed when the iterator goes or its task
/// is cancelled. What the server sends waits for the reader. After the end of a response, or a failure that may pass, it
/// waits as ``EventSourcePolicy`` says and asks again with `Last-Event-ID`, which is left out where no header field can carry
/// the ID as it is (control characters, white space around it); 204 ends it, any other failure is thrown. So is
/// ``ErrandError/shutDown``, as soon as the client is shut down while it waits. Interceptors and authentication act on every
/// connection.
public struct EventSource<C: Command>: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = ServerSentEvent

    let client: Client
    let command: C
    let policy: EventSourcePolicy
    let overrides: RequestOverrides?

    /// Connects when it is first asked.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(EventSourceSession(self))
    }

    /// Reads event by event. Of one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let session: EventSourceSession<C>

        init(_ session: EventSourceSession<C>) {
            self.session = session
        }

        /// The next event, over as many connections as it takes; `nil` where the server said that there are no more.
        /// Throws ``ErrandError``; `CancellationError` where the task was cancelled.
        public mutating func next() async throws -> ServerSentEvent? {
            try await session.next()
        }
    }
}

extension Client {
    /// The events that `command`'s URL sends. ``Timeouts/idle`` bounds the silence between two pieces of the stream, after
    /// which it is connected again; give the command a time that fits what the server sends to stay alive, and no
    /// ``Timeouts/total``. The standard says which statuses and content types are a stream: those of the command, the
    /// overrides and the client do not count here.
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
