extension ErrandError {
    /// The error for a task that waits for a request: `CancellationError` if the request was stopped.
    package var thrown: any Error { self == .cancelled ? CancellationError() : self }
}

extension AsyncThrowingStream.Iterator where Failure == any Error {
    /// The next element of a stream that a request feeds. In a cancelled task the stream ends early, which must not
    /// look like the end of the response.
    package mutating func nextOfRequest() async throws -> Element? {
        let next = try await next()
        if next == nil { try Task.checkCancellation() }
        return next
    }
}
