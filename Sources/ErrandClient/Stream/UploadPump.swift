import Synchronization

/// Moves a body from its source to one transfer, as fast as the engine gives credit. The pump does not read ahead: it
/// writes all bytes that it reads.
final class UploadPump: Sendable {
    private struct State: ~Copyable {
        /// The number of bytes that may be written. Starts with the engine's default credit, before the first credit is
        /// reported.
        var credit = 262_144
        var waiter: UnsafeContinuation<Void, Never>?
        var isCancelled = false
        /// Whether the source is at its end, or has failed.
        var isDone = false
        var task: Task<Void, Never>?
        /// Why the source failed.
        var failure: (any Error)?
        /// The pump of the same request's previous transfer, until its reader is closed.
        var former: UploadPump?
        /// True from before the source is opened until its reader is closed.
        var isReading = false
        /// Pumps that wait for the reader to be closed.
        var followers: [UnsafeContinuation<Void, Never>] = []
    }

    /// The maximum number of bytes that one read asks the source for.
    private static let piece = 65536

    private let state: Mutex<State>
    private let source: any RequestBodySource
    private let transport: any Transport

    /// `former`: the cancelled pump of the same request; its reader may still be running.
    init(_ source: any RequestBodySource, transport: any Transport, after former: UploadPump?) {
        self.source = source
        self.transport = transport
        state = Mutex(State(former: former))
    }

    /// Starts the pump. Must be called once only.
    func start(_ id: TransferID) {
        let task = Task { [self] in await run(id) }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Adds credit: the engine accepts this many more bytes.
    func credit(_ bytes: UInt64) {
        let waiter = state.withLock { state in
            state.credit += Int(clamping: bytes)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Stops the pump: the transfer has ended or is not needed any more.
    func cancel() {
        let (waiter, task) = state.withLock { state in
            state.isCancelled = true
            return (state.waiter.take(), state.task.take())
        }
        task?.cancel()
        waiter?.resume()
    }

    /// Whether the transfer waits for more bytes from the source.
    var isOpen: Bool { state.withLock { !$0.isDone && !$0.isCancelled } }

    /// The error that the source failed with.
    var failure: (any Error)? { state.withLock { $0.failure } }

    private func run(_ id: TransferID) async {
        await formerClosed()
        // The source is not opened for a transfer that has ended.
        let isWanted = state.withLock { state in
            state.isReading = !state.isCancelled
            return state.isReading
        }
        guard isWanted else { return }
        await read(to: id)
        let followers = state.withLock { state in
            state.isReading = false
            return state.followers.takeAll()
        }
        for follower in followers { follower.resume() }
    }

    private func read(to id: TransferID) async {
        do {
            let reader = try source.open()
            defer { reader.close() }
            while let room = await room() {
                let maximum = min(room, Self.piece)
                guard let bytes = try await reader.next(maximum: maximum) else {
                    state.withLock { $0.isDone = true }
                    return transport.finishUpload(id)
                }
                guard (1...maximum).contains(bytes.count) else {
                    throw ErrandError.invalidBody.with(
                        message: "the body's reader returned \(bytes.count) bytes, expected 1 to \(maximum)")
                }
                state.withLock { $0.credit -= bytes.count }
                bytes.withUnsafeBytes { transport.write($0, to: id) }
            }
        } catch {
            let isCancelled = state.withLock { state in
                state.failure = error
                state.isDone = true
                return state.isCancelled
            }
            if !isCancelled { transport.failUpload(id) }
        }
    }

    /// Waits for credit and returns it; `nil` if the transfer has ended.
    private func room() async -> Int? {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let mustWait = state.withLock { state in
                guard state.credit <= 0, !state.isCancelled else { return false }
                state.waiter = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
        return state.withLock { $0.isCancelled ? nil : $0.credit }
    }

    // MARK: One reader at a time

    private func formerClosed() async {
        guard let former = state.withLock({ $0.former }) else { return }
        await former.closed()
        state.withLock { $0.former = nil }
    }

    /// Returns when the readers of this cancelled pump and of the pumps before it are closed and no new one can open.
    private func closed() async {
        await formerClosed()
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let mustWait = state.withLock { state in
                if state.isReading { state.followers.append(continuation) }
                return state.isReading
            }
            if !mustWait { continuation.resume() }
        }
    }
}

extension [UnsafeContinuation<Void, Never>] {
    fileprivate mutating func takeAll() -> Self {
        defer { self = [] }
        return self
    }
}
