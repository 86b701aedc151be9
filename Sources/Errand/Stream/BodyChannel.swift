import Synchronization

/// Between a request that receives and a task that reads: what came and was not read yet. Bounded by the credit that the
/// engine was given; reading gives credit back.
final class BodyChannel: Sendable {
    private enum State {
        /// More may come. Either nothing is kept or nobody waits.
        case open(kept: [Response], waiting: [Waiter])
        /// What is kept is the rest.
        case ended(kept: [Response], ErrandError?)
    }

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Taken, Never>
    }

    /// What a reader gets.
    enum Taken: Sendable {
        case chunk(Response)
        case end
        case failure(ErrandError)
        /// The reader's own task was cancelled.
        case cancelled
    }

    private struct Guarded: ~Copyable {
        var state = State.open(kept: [], waiting: [])
        var lastNumber: UInt64 = 0
    }

    private let guarded = Mutex(Guarded())

    /// A chunk came. On the callback queue.
    func push(_ chunk: Response) {
        let waiter = guarded.withLock { guarded -> Waiter? in
            guard case .open(var kept, var waiting) = guarded.state else { return nil }
            if waiting.isEmpty {
                kept.append(chunk)
                guarded.state = .open(kept: kept, waiting: waiting)
                return nil
            }
            let first = waiting.removeFirst()
            guarded.state = .open(kept: kept, waiting: waiting)
            return first
        }
        waiter?.continuation.resume(returning: .chunk(chunk))
    }

    /// Nothing more will come; only the first call counts.
    func finish(_ error: ErrandError?) {
        let waiting = guarded.withLock { guarded -> [Waiter] in
            guard case .open(let kept, let waiting) = guarded.state else { return [] }
            guarded.state = .ended(kept: kept, error)
            return waiting
        }
        for waiter in waiting { waiter.continuation.resume(returning: error.map { .failure($0) } ?? .end) }
    }

    /// The next chunk, waiting for it. What came before a failure is read before the failure.
    func next() async -> Taken {
        let number = guarded.withLock { guarded in
            guarded.lastNumber += 1
            return guarded.lastNumber
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let taken = guarded.withLock {
                    Self.take(&$0.state, Waiter(number: number, continuation: continuation))
                }
                if let taken { continuation.resume(returning: taken) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private static func take(_ state: inout State, _ waiter: Waiter) -> Taken? {
        switch state {
        case .open(var kept, var waiting):
            if !kept.isEmpty {
                let first = kept.removeFirst()
                state = .open(kept: kept, waiting: waiting)
                return .chunk(first)
            }
            // Cancelled before it waits: the handler has run, and found nobody.
            if Task.isCancelled { return .cancelled }
            waiting.append(waiter)
            state = .open(kept: kept, waiting: waiting)
            return nil
        case .ended(var kept, let error):
            guard kept.isEmpty else {
                let first = kept.removeFirst()
                state = .ended(kept: kept, error)
                return .chunk(first)
            }
            return error.map { .failure($0) } ?? .end
        }
    }

    private func cancel(_ number: UInt64) {
        let waiter = guarded.withLock { guarded -> Waiter? in
            guard case .open(let kept, var waiting) = guarded.state,
                let index = waiting.firstIndex(where: { $0.number == number })
            else { return nil }
            let found = waiting.remove(at: index)
            guarded.state = .open(kept: kept, waiting: waiting)
            return found
        }
        waiter?.continuation.resume(returning: .cancelled)
    }
}
