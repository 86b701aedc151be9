import Synchronization

/// A WebSocket whose messages go to closures; see
/// ``Client/webSocket(_:subprotocols:policy:overrides:onOpen:onMessage:onEnd:)``.
public final class WebSocketTask: Sendable {
    private enum State {
        case running(Task<Void, Never>?)
        case stopped
        case ended
    }

    private let state = Mutex(State.running(nil))
    private let callbacks: CallbackQueue

    init(_ callbacks: CallbackQueue) {
        self.callbacks = callbacks
    }

    /// Cancels the handshake, or closes the socket with 1001 (going away). May be called on any thread. When it is
    /// called on the callback queue, no closure is called after it has returned.
    public func stop() {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard case .running(let task) = state else { return nil }
            state = .stopped
            return task
        }
        task?.cancel()
    }

    func keep(_ task: Task<Void, Never>) {
        let isStopped = state.withLock { state in
            switch state {
            case .running:
                state = .running(task)
                return false
            case .stopped: return true
            case .ended: return false
            }
        }
        if isStopped { task.cancel() }
    }

    /// Calls `body` on the callback queue unless the task was stopped, and returns after the call.
    func call(_ body: @escaping @Sendable () -> Void) async {
        await onQueue { state in
            if case .running = state { body } else { nil }
        }
    }

    /// Calls `body` as the last closure.
    func end(_ body: @escaping @Sendable () -> Void) async {
        await onQueue { state in
            guard case .running = state else { return nil }
            state = .ended
            return body
        }
    }

    /// Decides on the callback queue, so that a stop on that queue comes before or after the whole call.
    private func onQueue(_ decide: @escaping @Sendable (inout State) -> (@Sendable () -> Void)?) async {
        await withUnsafeContinuation { continuation in
            callbacks.async {
                self.state.withLock { decide(&$0) }?()
                continuation.resume()
            }
        }
    }
}

extension Client {
    /// Opens a WebSocket as ``webSocket(_:subprotocols:policy:overrides:)`` does, and calls closures on the callback
    /// queue: `onOpen` once when the server has answered with 101, `onMessage` for each message, and `onEnd` once and
    /// last. `onEnd` receives how the socket was closed, or the error that ended the handshake or the socket. The next
    /// message is delivered when `onMessage` has returned, so a slow closure slows the server down (backpressure). A
    /// shutdown of the client ends the socket.
    @discardableResult
    public func webSocket<C: Command>(
        _ command: C, subprotocols: [String] = [], policy: WebSocketPolicy = WebSocketPolicy(),
        overrides: RequestOverrides? = nil, onOpen: @escaping @Sendable (WebSocket) -> Void = { _ in },
        onMessage: @escaping @Sendable (WebSocket, WebSocketMessage) -> Void,
        onEnd: @escaping @Sendable (Result<WebSocketClosure, ErrandError>) -> Void
    ) -> WebSocketTask {
        let task = WebSocketTask(callbacks)
        task.keep(
            Task {
                do {
                    let socket = try await webSocket(
                        command, subprotocols: subprotocols, policy: policy, overrides: overrides)
                    await task.call { onOpen(socket) }
                    for try await message in socket { await task.call { onMessage(socket, message) } }
                    let closure = socket.closure ?? WebSocketClosure(code: .noStatusReceived, reason: "")
                    await task.end { onEnd(.success(closure)) }
                } catch let error as ErrandError {
                    await task.end { onEnd(.failure(error)) }
                } catch {
                    await task.end { onEnd(.failure(.cancelled)) }
                }
            })
        return task
    }
}
