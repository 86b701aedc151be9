/// The events of one `text/event-stream` response; see ``ServerSentEventParser``.
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

    /// Reads events; the limits and the initial event ID are those of `parser`.
    public init(_ base: Base, parser: ServerSentEventParser = ServerSentEventParser()) {
        self.base = base
        self.parser = parser
    }

    /// Starts to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), parser: parser)
    }

    /// Reads event by event.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: Base.AsyncIterator
        /// Has the last event ID and the reconnection time, including values that came without an event.
        public private(set) var parser: ServerSentEventParser
        private var isAtEnd = false

        fileprivate init(base: Base.AsyncIterator, parser: ServerSentEventParser) {
            self.base = base
            self.parser = parser
        }

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
    /// The server-sent events of these bytes, with the defaults of ``ServerSentEventParser``.
    public var serverSentEvents: ServerSentEventSequence<Self> { ServerSentEventSequence(self) }
}
