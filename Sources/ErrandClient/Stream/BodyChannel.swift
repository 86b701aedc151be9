import Synchronization

/// The channel between a request that receives a body and a task that reads it. It holds the bytes that were not read
/// yet, bounded by the credit that the engine was given; reading gives credit back.
final class BodyChannel: Sendable {
    private enum State {
        /// More bytes may arrive. Either the channel is empty or no reader waits.
        case open(waiting: [Waiter])
        /// No more bytes arrive; the channel holds the rest.
        case ended(ErrandError?)
    }

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Taken, Never>
    }

    /// The result of a read.
    enum Taken: Sendable {
        /// One chunk, or several small chunks that arrived meanwhile.
        case piece(BodyPiece)
        case end
        case failure(ErrandError)
        /// The reader's own task was cancelled.
        case cancelled
    }

    private struct Guarded: ~Copyable {
        var state = State.open(waiting: [])
        /// The bytes that were not read yet. Not in `state`, because each change of `state` would copy them.
        var kept: ChunkQueue
        var lastNumber: UInt64 = 0
    }

    private let guarded: Mutex<Guarded>
    /// Whether all bytes have arrived, as far as is known.
    private let whole = Atomic<Bool>(false)
    /// Bytes that were read without giving credit back.
    private let withheld = Atomic<Int>(0)

    /// A quarter of the engine's credit. The end of a body can need credit too: libcurl reports it while the transfer is
    /// not paused.
    private static let mostWithheld = 65_536

    /// Makes a channel. `kept`: the bytes that have arrived already.
    init(kept: ChunkQueue = ChunkQueue()) {
        guarded = Mutex(Guarded(kept: kept))
    }

    /// Adds a chunk. Any thread, but one at a time; empty chunks are ignored.
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
        waiter?.continuation.resume(returning: .piece(.chunk(chunk)))
    }

    /// Ends the channel: no more bytes arrive. Only the first call has an effect.
    func finish(_ error: ErrandError?) {
        let waiting = guarded.withLock { guarded -> [Waiter] in
            guard case .open(let waiting) = guarded.state else { return [] }
            guarded.state = .ended(error)
            return waiting
        }
        for waiter in waiting { waiter.continuation.resume(returning: error.map { .failure($0) } ?? .end) }
    }

    /// Whether no more bytes arrive: the body is complete, read or not, or has failed.
    var hasEnded: Bool {
        guarded.withLock { if case .ended = $0.state { true } else { false } }
    }

    /// All bytes have arrived; the end of the transfer may follow later. Any thread.
    func becameWhole() {
        whole.store(true, ordering: .releasing)
    }

    /// Whether credit has to be given back for `count` bytes that were read. Each grant wakes the loop, and a body that
    /// has arrived needs none.
    func needsCredit(for count: Int) -> Bool {
        guard whole.load(ordering: .acquiring) else { return true }
        if hasEnded { return false }
        return withheld.wrappingAdd(count, ordering: .relaxed).newValue > Self.mostWithheld
    }

    /// Waits for the next bytes. Bytes that arrived before a failure are read before the failure.
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
        if let piece = guarded.kept.popFirst() { return .piece(piece) }
        switch guarded.state {
        case .open(var waiting):
            // If the task was cancelled before it waits, the cancellation handler has run and found no waiter.
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
