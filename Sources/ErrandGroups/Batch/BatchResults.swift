/// The results of a batch as they come: each child's number and what it ended with.
///
/// ```swift
/// let batch = client.request(Batch(commands, policy: .collectAll))
/// for try await (index, result) in batch.results { print(index, result) }
/// ```
///
/// Iterating starts the request, and ends with it: where the batch fails, its error is thrown after the results of the
/// children that ended. Leaving the loop and cancelling the task stop the batch; a batch that is stopped, so or by
/// ``AnyRequest/stop()``, throws `CancellationError`.
/// Results that nobody has asked for yet are kept, at most one for each child; children that never started give none.
/// To be iterated once for each run; while the request runs already it throws ``ErrandError/invalidArgument``.
public struct BatchResults<Value: Sendable>: AsyncSequence, Sendable {
    /// A child's number, from 0, and what it ended with.
    public typealias Element = (index: Int, result: Result<Value, ErrandError>)

    let request: AnyRequest
    /// Begins a run, and tells of its end.
    let begin: @Sendable (@escaping @Sendable (ErrandError?) -> Void) -> RequestStateMachine.StartAction

    /// Where a carrier puts them.
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
            continuation.finish(throwing: ErrandError.invalidArgument.with(message: "the batch runs already"))
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
            continuation.finish(throwing: ErrandError.invalidArgument.with(message: "the batch runs already"))
        }
        return Iterator(base: stream.makeAsyncIterator())
    }

    /// Gives result by result.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Element, any Error>.Iterator

        /// The next result; `nil` when all children and the batch have ended. Throws the batch's error;
        /// `CancellationError` where the task was cancelled or the batch stopped.
        public mutating func next() async throws -> Element? {
            try await base.nextOfRequest()
        }
    }
}

extension Request where C: BatchCommand {
    /// The results of this batch as its children end. Iterating them starts it; see ``BatchResults``.
    public var results: BatchResults<C.Element> {
        BatchResults(request: self) { [self] ended in begin(evenStopped: true) { ended($0.error) } }
    }
}

extension Request where C: BatchCommand {
    /// What each child of the present or last run ended with; `nil` for one that has not, or was not needed. Any thread.
    public var childResults: [Result<C.Element, ErrandError>?] {
        (group as? BatchCarrier<C.Element>)?.childResults ?? []
    }
}

/// A ``Batch``, of whatever elements.
public protocol BatchCommand: Command where Response == BatchResult<Element> {
    /// The children's value.
    associatedtype Element: Sendable
}

extension Batch: BatchCommand {}
