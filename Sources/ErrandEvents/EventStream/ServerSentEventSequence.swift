/// The events of one `text/event-stream` response, by the algorithm of WHATWG HTML 9.2.6. An event that is cut off by
/// the end of the stream is never returned, as the algorithm requires.
///
/// ```swift
/// for try await event in chunks.serverSentEvents { ... }
/// ```
///
/// A chunk is pulled when the events of the last chunk have been read, so a slow reader slows the server down
/// (backpressure). An event that is too large throws ``ErrandError/limitBodyBytes``. Errors of the base are passed on.
/// After either error the stream is at its end. The sequence does not reconnect.
public struct ServerSentEventSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == [UInt8] {
    /// One event.
    public typealias Element = ServerSentEvent

    private let base: Base
    private let parser: ServerSentEventParser

    /// Reads events. `lastEventID` is the ID with which the connection was opened. A line or an event's data of more
    /// than `maximumEventBytes` (4 MiB by default) ends the stream with ``ErrandError/limitBodyBytes``.
    public init(_ base: Base, lastEventID: String = "", maximumEventBytes: Int = 4 << 20) {
        self.base = base
        parser = ServerSentEventParser(lastEventID: lastEventID, maximumEventBytes: maximumEventBytes)
    }

    /// Starts to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), parser: parser)
    }

    /// Reads event by event.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: Base.AsyncIterator
        private var parser: ServerSentEventParser
        private var isAtEnd = false

        fileprivate init(base: Base.AsyncIterator, parser: ServerSentEventParser) {
            self.base = base
            self.parser = parser
        }

        /// The last event ID that a blank line dispatched, with or without an event; empty for none, as in the
        /// algorithm.
        public var lastEventID: String { parser.lastEventID }

        /// The time of the stream's last `retry`, with or without an event; `nil` for none so far.
        public var reconnectionTime: Duration? { parser.reconnectionTime }

        /// The next event; `nil` at the end.
        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        /// The next event; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            do {
                while !isAtEnd {
                    if let event = try parser.next() { return event }
                    guard let chunk = try await base.next(isolation: actor) else { break }
                    parser.push(chunk)
                }
            } catch {
                isAtEnd = true
                throw error
            }
            isAtEnd = true
            return nil
        }
    }
}

extension ServerSentEventSequence: Sendable where Base: Sendable {}

extension AsyncSequence where Element == [UInt8] {
    /// The server-sent events of these bytes, with the defaults of ``ServerSentEventSequence``.
    public var serverSentEvents: ServerSentEventSequence<Self> { ServerSentEventSequence(self) }
}
