/// What is stored and then what the network has; see ``Client/values(of:overrides:)``. A sequence to be read once.
public struct CachedValues<Value: Sendable>: AsyncSequence, Sendable {
    /// What the command makes of a response.
    public typealias Element = Value

    package let stream: AsyncThrowingStream<Value, any Error>

    /// Reads on where the last iterator stopped.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator())
    }

    /// Gives the values in turn.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Value, any Error>.Iterator

        /// The next value; `nil` after the network's. Throws ``ErrandError``; `CancellationError` where the task was
        /// cancelled or the request stopped.
        public mutating func next() async throws -> Value? {
            try await base.nextOfRequest()
        }
    }
}
