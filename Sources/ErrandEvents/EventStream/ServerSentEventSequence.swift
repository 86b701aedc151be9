/// The events of one `text/event-stream` response; see ``ServerSentEventParser``.
///
/// ```swift
/// for try await event in chunks.serverSentEvents { ... }
/// ```
///
/// A chunk is pulled when the events of the last one are used up, so whoever reads slowly slows the server down. Throws
/// ``ErrandError/limitBodyBytes`` for an event that is too large; errors of the base go through; after either the stream
/// is at its end. It knows nothing of reconnecting.
public struct ServerSentEventSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == [UInt8] {
    /// One event.
    public typealias Element = ServerSentEvent

    private let base: Base
    private let parser: ServerSentEventParser

    /// Reads events; the limits and the ID to begin with are those of `parser`.
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
        /// Has the last event ID and the reconnection time, those that came without an event included.
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
