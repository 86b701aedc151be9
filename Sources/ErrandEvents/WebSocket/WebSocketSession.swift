import Synchronization

/// The tasks behind a ``WebSocket``: one reads frames, one sends a close frame when the client drains, and one sends
/// pings if the policy asks for them.
final class WebSocketSession: Sendable {
    let inbox: WebSocketInbox
    let outbox: WebSocketOutbox
    private let policy: WebSocketPolicy
    private let client: Client

    private struct Guarded {
        var request: AnyRequest?
        var hasReceived = false
        var tasks: [Task<Void, Never>] = []
        /// The callers that wait for the end of the connection.
        var closers: [UnsafeContinuation<Void, Never>] = []
        var isOver = false
    }

    private let guarded = Mutex(Guarded())

    init(_ policy: WebSocketPolicy, client: Client) {
        self.policy = policy
        self.client = client
        inbox = WebSocketInbox(maximum: policy.maximumUnreadBytes)
        outbox = WebSocketOutbox(maximum: policy.maximumUnsentBytes)
    }

    func start(_ response: StreamedResponse) {
        let body = response.body
        guarded.withLock { $0.request = response.request }
        var tasks = [Task { await read(body) }, Task { await closeAtShutdown() }]
        if let interval = policy.pingInterval { tasks.append(Task { await ping(each: interval) }) }
        keep(tasks)
    }

    private func keep(_ tasks: [Task<Void, Never>]) {
        let isOver = guarded.withLock { guarded in
            if !guarded.isOver { guarded.tasks += tasks }
            return guarded.isOver
        }
        if isOver { for task in tasks { task.cancel() } }
    }

    func send(_ opcode: WebSocketFrame.Opcode, _ payload: some Collection<UInt8>) async throws {
        try await outbox.send(Self.frame(opcode, payload))
    }

    func enqueue(_ opcode: WebSocketFrame.Opcode, _ payload: some Collection<UInt8>) throws(ErrandError) {
        try outbox.enqueue(Self.frame(opcode, payload))
    }

    /// A frame with an unpredictable mask (RFC 6455 10.3).
    private static func frame(_ opcode: WebSocketFrame.Opcode, _ payload: some Collection<UInt8>) -> [UInt8] {
        WebSocketFrame.encoded(opcode, payload, mask: .random(in: 0...UInt32.max))
    }

    /// The socket has no owner any more. Sends a close frame; the server has ``WebSocketPolicy/closeTimeout`` to close.
    func abandon() {
        sendClose(WebSocketClosure(code: .goingAway, reason: ""))
        inbox.finish(.failure(.cancelled))
    }

    /// Ends the socket at once, without a close frame.
    func cancel() {
        end(.failure(.cancelled))
        stop()
    }

    func beginClose(_ closure: WebSocketClosure) {
        sendClose(closure)
    }

    func close(_ closure: WebSocketClosure) async {
        sendClose(closure)
        await withUnsafeContinuation { continuation in
            let mustWait = guarded.withLock { guarded in
                if !guarded.isOver { guarded.closers.append(continuation) }
                return !guarded.isOver
            }
            if !mustWait { continuation.resume() }
        }
    }

    // MARK: The end

    private func end(_ ending: Result<WebSocketClosure, ErrandError>) {
        // The outbox ends first, so that a reader that sees the end can send nothing more.
        if case .failure(let error) = ending { outbox.finish(nil, error) } else { outbox.finish(nil, .webSocketClosed) }
        inbox.finish(ending)
    }

    /// Sends a close frame if none was sent, and ends the connection after ``WebSocketPolicy/closeTimeout`` at the
    /// latest.
    private func sendClose(_ closure: WebSocketClosure) {
        guard outbox.finish(Self.frame(.close, WebSocketFrame.closePayload(closure)), .webSocketClosed) else { return }
        let time = policy.closeTimeout
        keep([
            Task {
                // Not the client's sleep: a shutdown of the client ends that sleep, and the close may be part of a
                // shutdown.
                try? await client.clock.sleep(for: time)
                if Task.isCancelled { return }
                end(.failure(.webSocketClosed.with(message: "the server did not answer the close frame in time")))
                stop()
            }
        ])
    }

    private func stop() {
        let (request, closers, tasks) = guarded.withLock { guarded in
            guarded.isOver = true
            defer {
                guarded.closers = []
                guarded.tasks = []
            }
            return (guarded.request.take(), guarded.closers, guarded.tasks)
        }
        request?.stop()
        for task in tasks { task.cancel() }
        for closer in closers { closer.resume() }
    }

    // MARK: Tasks

    private func read(_ body: ResponseBodyStream) async {
        var reader = WebSocketFrameReader(maximumMessageBytes: policy.maximumMessageBytes)
        do {
            for try await chunk in body.resumable {
                guarded.withLock { $0.hasReceived = true }
                // After the end, the connection is read only until it closes.
                guard inbox.ending == nil else { continue }
                var events: [WebSocketFrameReader.Event] = []
                var violation: WebSocketFrameReader.Violation?
                do throws(WebSocketFrameReader.Violation) {
                    try reader.read(chunk, into: &events)
                } catch {
                    violation = error
                }
                for event in events where inbox.ending == nil { await take(event) }
                if let violation, inbox.ending == nil { fail(violation) }
            }
            end(
                .failure(
                    .webSocketClosed.with(
                        message:
                            "the connection ended without a close frame (\(WebSocketCloseCode.abnormalClosure.rawValue))"
                    )))
        } catch let error as ErrandError {
            end(.failure(error))
        } catch {
            end(.failure(.cancelled))
        }
        stop()
    }

    private func take(_ event: WebSocketFrameReader.Event) async {
        switch event {
        case .message(let message):
            await inbox.push(message)
        case .ping(let payload):
            outbox.pong(Self.frame(.pong, payload))
        case .pong:
            break
        case .close(let closure):
            sendClose(closure)
            end(.success(closure))
        }
    }

    private func fail(_ violation: WebSocketFrameReader.Violation) {
        sendClose(WebSocketClosure(code: violation.code, reason: violation.reason))
        let kind = violation.code == .messageTooBig ? ErrandError.webSocketMessageTooBig : .webSocketProtocolError
        end(.failure(kind.with(message: "\(violation.reason) (closed with \(violation.code.rawValue))")))
    }

    /// While the client drains, tells the server that this endpoint is going away.
    private func closeAtShutdown() async {
        do {
            while true { try await client.sleep(for: Timeouts.maximum) }
        } catch let error as ErrandError where error == .shutDown && client.isDraining {
            sendClose(WebSocketClosure(code: .goingAway, reason: ""))
        } catch {
            // The session has ended, or it ends together with all requests of the client.
        }
    }

    private func ping(each interval: Duration) async {
        while true {
            guarded.withLock { $0.hasReceived = false }
            guard (try? await send(.ping, [])) != nil, (try? await client.sleep(for: interval)) != nil else { return }
            if guarded.withLock({ $0.hasReceived }) || inbox.isFull { continue }
            end(.failure(.timeoutIdle.with(message: "the server did not answer a ping in time")))
            return stop()
        }
    }
}
