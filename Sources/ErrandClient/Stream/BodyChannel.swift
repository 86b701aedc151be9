import Synchronization

/// Between a request that receives and a task that reads: what came and was not read yet. Bounded by the credit that the
/// engine was given; reading gives credit back.
final class BodyChannel: Sendable {
    private enum State {
        /// More may come. Either nothing is kept or nobody waits.
        case open(waiting: [Waiter])
        /// What is kept is the rest.
        case ended(ErrandError?)
    }

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Taken, Never>
    }

    /// What a reader gets.
    enum Taken: Sendable {
        /// Never empty: one chunk, or several small ones that came meanwhile.
        case chunk([UInt8])
        case end
        case failure(ErrandError)
        /// The reader's own task was cancelled.
        case cancelled
    }

    private struct Guarded: ~Copyable {
        var state = State.open(waiting: [])
        /// What came and was not read yet. Not in `state`, from where each change would copy it.
        var kept: ChunkQueue
        var lastNumber: UInt64 = 0
    }

    private let guarded: Mutex<Guarded>

    /// `kept`: what came already.
    init(kept: ChunkQueue = ChunkQueue()) {
        guarded = Mutex(Guarded(kept: kept))
    }

    /// A chunk came. Any thread, but one at a time; empty ones are ignored.
    func push(_ chunk: Response) {
        guard !chunk.body.isEmpty else { return }
        let waiter = guarded.withLock { guarded -> Waiter? in
            guard case .open(var waiting) = guarded.state else { return nil }
            guard !waiting.isEmpty else {
                guarded.kept.append(chunk)
                return nil
            }
            let first = waiting.removeFirst()
            guarded.state = .open(waiting: waiting)
            return first
        }
        waiter?.continuation.resume(returning: .chunk(chunk.body.bytes))
    }

    /// Nothing more will come; only the first call counts.
    func finish(_ error: ErrandError?) {
        let waiting = guarded.withLock { guarded -> [Waiter] in
            guard case .open(let waiting) = guarded.state else { return [] }
            guarded.state = .ended(error)
            return waiting
        }
        for waiter in waiting { waiter.continuation.resume(returning: error.map { .failure($0) } ?? .end) }
    }

    /// Whether nothing more will come: the whole body, read or not, or a failure.
    var hasEnded: Bool {
        guarded.withLock { if case .ended = $0.state { true } else { false } }
    }

    /// The next bytes, waiting for them. What came before a failure is read before the failure.
    func next() async -> Taken {
        let number = guarded.withLock { guarded in
            guarded.lastNumber += 1
            return guarded.lastNumber
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let taken = guarded.withLock {
                    Self.take(&$0, Waiter(number: number, continuation: continuation))
                }
                if let taken { continuation.resume(returning: taken) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private static func take(_ guarded: inout Guarded, _ waiter: Waiter) -> Taken? {
        if let bytes = guarded.kept.popFirst() { return .chunk(bytes) }
        switch guarded.state {
        case .open(var waiting):
            // Cancelled before it waits: the handler has run, and found nobody.
            if Task.isCancelled { return .cancelled }
            waiting.append(waiter)
            guarded.state = .open(waiting: waiting)
            return nil
        case .ended(let error):
            return error.map { .failure($0) } ?? .end
        }
    }

    private func cancel(_ number: UInt64) {
        let waiter = guarded.withLock { guarded -> Waiter? in
            guard case .open(var waiting) = guarded.state,
                let index = waiting.firstIndex(where: { $0.number == number })
            else { return nil }
            let found = waiting.remove(at: index)
            guarded.state = .open(waiting: waiting)
            return found
        }
        waiter?.continuation.resume(returning: .cancelled)
    }
}
