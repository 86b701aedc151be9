import Synchronization

/// Moves a body from its source to one transfer, as fast as the engine gives credit. The pump does not read ahead: it
/// writes all bytes that it reads.
final class UploadPump: Sendable {
    private struct State: ~Copyable {
        /// The number of bytes that may be written. Starts with the engine's default credit, before the first credit is
        /// reported.
        var credit = 262_144
        var waiter: UnsafeContinuation<Void, Never>?
        var isStarted = false
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
    /// The number of the request's transfer that the pump belongs to.
    let transfer: Int
    /// The number of the attempt that has failed, to which a former pump of the transfer wrote; `nil`: none.
    private let failedAttempt: Int?

    /// `former`: the cancelled pump of the same request; its reader may still be running.
    init(
        _ source: any RequestBodySource, transport: any Transport, transfer: Int, after former: UploadPump?,
        failedAttempt: Int?
    ) {
        self.source = source
        self.transport = transport
        self.transfer = transfer
        self.failedAttempt = failedAttempt
        state = Mutex(State(former: former))
    }

    /// Starts the pump. Further calls do nothing.
    func start(_ id: TransferID) {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
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
        // The former pump writes nothing more: its reader is closed.
        if let failedAttempt { transport.restartUpload(id, after: failedAttempt) }
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
            let shared = reader as? any SharedBytesReader
            while let room = await room() {
                let isMore =
                    if let shared {
                        try await writeNext(ofShared: shared, maximum: room, to: id)
                    } else {
                        try await writeNext(of: reader, maximum: min(room, Self.piece), to: id)
                    }
                guard isMore else {
                    state.withLock { $0.isDone = true }
                    return transport.finishUpload(id)
                }
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

    /// Writes the next bytes. Returns false at the end of the body.
    private func writeNext(of reader: any BodyReader, maximum: Int, to id: TransferID) async throws -> Bool {
        guard let bytes = try await reader.next(maximum: maximum) else { return false }
        try take(bytes.count, maximum: maximum)
        bytes.withUnsafeBytes { transport.write($0, to: id) }
        return true
    }

    /// Lends the next bytes to the engine, as many as there is room for, so that the engine needs no memory for them. A few
    /// bytes are copied instead. Returns false at the end of the body.
    private func writeNext(
        ofShared reader: any SharedBytesReader, maximum: Int, to id: TransferID
    ) async throws -> Bool {
        guard let bytes = try await reader.nextShared(maximum: maximum) else { return false }
        try take(bytes.count, maximum: maximum)
        if bytes.count < SharedBytes.smallestLoan {
            bytes.withUnsafeBytes { transport.write($0, to: id) }
        } else {
            transport.write(shared: bytes, to: id)
        }
        return true
    }

    /// Takes the credit for the bytes that a reader has returned.
    private func take(_ count: Int, maximum: Int) throws {
        guard (1...maximum).contains(count) else {
            throw ErrandError.invalidBody.with(
                message: "the body's reader returned \(count) bytes, expected 1 to \(maximum)")
        }
        state.withLock { $0.credit -= count }
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

    /// Returns when the readers of this pump and of the pumps before it are closed and no new one can open.
    private func closed() async {
        await formerClosed()
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let mustWait = state.withLock { state in
                // The next pump may be started before this one is cancelled.
                state.isCancelled = true
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
