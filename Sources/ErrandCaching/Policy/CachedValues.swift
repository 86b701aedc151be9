/// The stored value, if any, and then the value from the network; see ``Client/values(of:overrides:)``. The sequence
/// can be read once.
public struct CachedValues<Value: Sendable>: AsyncSequence, Sendable {
    /// The command's response type.
    public typealias Element = Value

    package let stream: AsyncThrowingStream<Value, any Error>

    /// Continues where the last iterator stopped.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator())
    }

    /// Returns the values in order.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Value, any Error>.Iterator

        /// The next value; `nil` after the value from the network. Throws ``ErrandError``, and `CancellationError`
        /// if the task was cancelled or the request was stopped.
        public mutating func next() async throws -> Value? {
            try await base.nextOfRequest()
        }
    }
}
