import DequeModule
import Synchronization

/// The frames that wait to be sent. For the engine they are the body of the handshake's request. The outbox is bounded:
/// a sender waits for room. A new pong replaces a pong that still waits (RFC 6455 5.5.3).
final class WebSocketOutbox: RequestBodySource {
    private struct Sender {
        let number: UInt64
        let continuation: UnsafeContinuation<Result<Void, any Error>, Never>
    }

    private struct State {
        var frames = Deque<[UInt8]>()
        var current: ArraySlice<UInt8> = []
        var unsent = 0
        var pong: [UInt8]?
        /// No more frames are accepted; the remaining ones are still sent.
        var ended: ErrandError?
        var reader: UnsafeContinuation<Void, Never>?
        var isReaderGone = false
        var senders: [Sender] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    private let maximum: Int

    init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    var length: Int64? { nil }
    /// Nothing is read before the handshake has ended.
    var isReplayable: Bool { true }

    func open() throws -> sending any BodyReader {
        state.withLock { $0.isReaderGone = false }
        return Reader(outbox: self)
    }

    private final class Reader: BodyReader {
        let outbox: WebSocketOutbox
        init(outbox: WebSocketOutbox) { self.outbox = outbox }
        func next(maximum: Int) async throws -> [UInt8]? { try await outbox.next(maximum) }
        func close() {}
    }

    private func next(_ most: Int) async throws -> [UInt8]? {
        while true {
            try Task.checkCancellation()
            let (part, isOver, senders) = state.withLock { Self.take(&$0, most, maximum) }
            for sender in senders { sender.continuation.resume(returning: .success(())) }
            if let part { return part }
            if isOver { return nil }
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let isReady = state.withLock { state in
                        if state.isReaderGone || !state.frames.isEmpty || state.pong != nil || state.ended != nil {
                            return true
                        }
                        state.reader = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                state.withLock { state in
                    state.isReaderGone = true
                    return state.reader.take()
                }?.resume()
            }
        }
    }

    private static func take(_ state: inout State, _ most: Int, _ maximum: Int) -> ([UInt8]?, Bool, [Sender]) {
        if state.current.isEmpty {
            if let pong = state.pong.take() {
                state.current = pong[...]
                state.unsent += pong.count
            } else if let frame = state.frames.popFirst() {
                state.current = frame[...]
            } else {
                return (nil, state.ended != nil, [])
            }
        }
        let part = Array(state.current.prefix(most))
        state.current = state.current.dropFirst(part.count)
        state.unsent -= part.count
        guard state.unsent < maximum else { return (part, false, []) }
        let senders = state.senders
        state.senders = []
        return (part, false, senders)
    }

    /// Waits for room, then adds a frame. Throws the error that ended the outbox, or `CancellationError`.
    func send(_ frame: [UInt8]) async throws {
        while true {
            let (isTaken, ended, reader) = state.withLock { state in
                if let ended = state.ended {
                    return (false, ended as ErrandError?, Optional<UnsafeContinuation<Void, Never>>.none)
                }
                guard state.unsent < maximum else { return (false, nil, nil) }
                state.frames.append(frame)
                state.unsent += frame.count
                return (true, nil, state.reader.take())
            }
            reader?.resume()
            if isTaken { return }
            if let ended { throw ended }
            try await waitForRoom()
        }
    }

    /// Adds a frame if there is room. Throws ``ErrandError/queueFull``, or the error that ended the outbox.
    func enqueue(_ frame: [UInt8]) throws(ErrandError) {
        let (error, reader) = state.withLock { state -> (ErrandError?, UnsafeContinuation<Void, Never>?) in
            if let ended = state.ended { return (ended, nil) }
            guard state.unsent < maximum else {
                return (.queueFull.with(message: "the WebSocket already has \(state.unsent) unsent bytes"), nil)
            }
            state.frames.append(frame)
            state.unsent += frame.count
            return (nil, state.reader.take())
        }
        reader?.resume()
        if let error { throw error }
    }

    private func waitForRoom() async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let now = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.ended != nil || state.unsent < maximum { return .success(()) }
                    state.senders.append(Sender(number: number, continuation: continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let sender = state.withLock { state -> Sender? in
                guard let index = state.senders.firstIndex(where: { $0.number == number }) else { return nil }
                return state.senders.remove(at: index)
            }
            sender?.continuation.resume(returning: .failure(CancellationError()))
        }
        try result.get()
    }

    /// Replaces a pong that has not been sent yet.
    func pong(_ frame: [UInt8]) {
        state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard state.ended == nil else { return nil }
            state.pong = frame
            return state.reader.take()
        }?.resume()
    }

    /// Adds a last frame and accepts no more; later senders get `error`. Only the first call has an effect. Returns
    /// whether this was the first call.
    @discardableResult func finish(_ last: [UInt8]?, _ error: ErrandError) -> Bool {
        let (isFirst, reader, senders) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?, [Sender]) in
            guard state.ended == nil else { return (false, nil, []) }
            state.ended = error
            if let last {
                state.frames.append(last)
                state.unsent += last.count
            }
            defer { state.senders = [] }
            return (true, state.reader.take(), state.senders)
        }
        reader?.resume()
        for sender in senders { sender.continuation.resume(returning: .success(())) }
        return isFirst
    }
}
