extension ErrandError {
    /// What a task that waits for a request gets: `CancellationError` for a request that was stopped.
    package var thrown: any Error { self == .cancelled ? CancellationError() : self }
}

extension AsyncThrowingStream.Iterator where Failure == any Error {
    /// The next element of a stream that a request feeds. A task that is cancelled finds the stream at its end, which
    /// is not the end of what it asked for.
    package mutating func nextOfRequest() async throws -> Element? {
        let next = try await next()
        if next == nil { try Task.checkCancellation() }
        return next
    }
}
