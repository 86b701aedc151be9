/// The results of a batch as its children end: each child's number and its result.
///
/// ```swift
/// let batch = client.request(Batch(commands, policy: .collectAll))
/// for try await (index, result) in batch.resultsAsCompleted { print(index, result) }
/// ```
///
/// Iterating starts the request, and the sequence ends when the request ends. If the batch fails, its error is thrown
/// after the results of the children that ended. Leaving the loop or cancelling the task stops the batch. A batch that
/// was stopped by the loop, by the task or by ``AnyRequest/stop()`` throws `CancellationError`.
///
/// Results that have not been read yet are kept, at most one for each child; children that never started give none. The
/// sequence may be iterated once for each run. Iterating while the request already runs throws
/// ``ErrandError/invalidArgument``.
public struct CompletedResults<Value: Sendable>: AsyncSequence, Sendable {
    /// A child's number, from 0, and its result.
    public typealias Element = (index: Int, result: Result<Value, ErrandError>)

    let request: AnyRequest
    /// Begins a run; the closure is called at the end of the run.
    let begin: @Sendable (@escaping @Sendable (ErrandError?) -> Void) -> RequestStateMachine.StartAction

    /// Receives the results from the carrier.
    struct Reader: Sendable {
        let continuation: AsyncThrowingStream<Element, any Error>.Continuation

        func give(_ index: Int, _ result: Result<Value, ErrandError>) {
            continuation.yield((index, result))
        }
    }

    /// Starts the batch, on this thread.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self)
        guard let carrier = request.group as? BatchCarrier<Value>, request.isAtRest,
            carrier.read(by: Reader(continuation: continuation))
        else {
            continuation.finish(throwing: ErrandError.invalidArgument.with(message: "the batch is already running"))
            return Iterator(base: stream.makeAsyncIterator())
        }
        continuation.onTermination = { [weak request] in
            if case .cancelled = $0 { request?.stop() }
        }
        let action = begin { error in
            carrier.endReading()
            continuation.finish(throwing: error?.thrown)
        }
        switch action {
        case .submit(let transfer): request.proceed(transfer)
        case .postpone: break
        case .refuse:
            carrier.endReading()
            continuation.finish(throwing: ErrandError.invalidArgument.with(message: "the batch is already running"))
        }
        return Iterator(base: stream.makeAsyncIterator())
    }

    /// Reads result by result.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Element, any Error>.Iterator

        /// The next result; `nil` when all children and the batch have ended. Throws the batch's error, or
        /// `CancellationError` if the task was cancelled or the batch was stopped.
        public mutating func next() async throws -> Element? {
            try await base.nextOfRequest()
        }
    }
}

extension Request where C: BatchCommand {
    /// The results of this batch as its children end. Iterating the sequence starts the batch; see
    /// ``CompletedResults``.
    public var resultsAsCompleted: CompletedResults<C.Element> {
        CompletedResults(request: self) { [self] ended in begin(notifiesOnStop: true) { ended($0.error) } }
    }
}
