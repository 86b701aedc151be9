import DequeModule
import Synchronization

/// Received messages that wait for the reader. The inbox is bounded: the task that delivers messages waits for room,
/// and so does the server (backpressure).
final class WebSocketInbox: Sendable {
    typealias Outcome = Result<WebSocketMessage?, any Error>

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Outcome, Never>
    }

    private struct State {
        var messages = Deque<WebSocketMessage>()
        var bytes = 0
        var ending: Result<WebSocketClosure, ErrandError>?
        var readers: [Waiter] = []
        var writer: UnsafeContinuation<Void, Never>?
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    private let maximum: Int

    init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    var ending: Result<WebSocketClosure, ErrandError>? { state.withLock { $0.ending } }
    var isFull: Bool { state.withLock { $0.bytes >= maximum } }

    /// For one task at a time. Returns when there is room for the next message, or the socket has ended.
    func push(_ message: WebSocketMessage) async {
        let reader = state.withLock { state -> Waiter? in
            guard state.ending == nil else { return nil }
            guard state.readers.isEmpty else { return state.readers.removeFirst() }
            state.messages.append(message)
            // An empty message also takes memory.
            state.bytes += message.byteCount + 32
            return nil
        }
        if let reader { return reader.continuation.resume(returning: .success(message)) }
        await withUnsafeContinuation { continuation in
            let mustWait = state.withLock { state in
                guard state.bytes >= maximum, state.ending == nil else { return false }
                state.writer = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Returns whether this was the first call.
    @discardableResult func finish(_ ending: Result<WebSocketClosure, ErrandError>) -> Bool {
        let (isFirst, readers, writer) = state.withLock { state in
            guard state.ending == nil else {
                return (false, [Waiter](), Optional<UnsafeContinuation<Void, Never>>.none)
            }
            state.ending = ending
            defer { state.readers = [] }
            return (true, state.readers, state.writer.take())
        }
        writer?.resume()
        for reader in readers { reader.continuation.resume(returning: Self.outcome(ending)) }
        return isFirst
    }

    private static func outcome(_ ending: Result<WebSocketClosure, ErrandError>) -> Outcome {
        switch ending {
        case .success: .success(nil)
        case .failure(let error): .failure(error.thrown)
        }
    }

    func next() async throws -> WebSocketMessage? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let (outcome, writer) = state.withLock { state -> (Outcome?, UnsafeContinuation<Void, Never>?) in
                    if let message = state.messages.popFirst() {
                        state.bytes -= message.byteCount + 32
                        return (.success(message), state.bytes < maximum ? state.writer.take() : nil)
                    }
                    if let ending = state.ending { return (Self.outcome(ending), nil) }
                    if Task.isCancelled { return (.failure(CancellationError()), nil) }
                    state.readers.append(Waiter(number: number, continuation: continuation))
                    return (nil, nil)
                }
                writer?.resume()
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.readers.firstIndex(where: { $0.number == number }) else { return nil }
                return state.readers.remove(at: index)
            }
            waiter?.continuation.resume(returning: .failure(CancellationError()))
        }
        return try outcome.get()
    }
}
