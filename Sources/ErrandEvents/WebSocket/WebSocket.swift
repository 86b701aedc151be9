import Synchronization

/// An open WebSocket (RFC 6455); see ``Client/webSocket(_:subprotocols:policy:overrides:)``.
///
/// The socket is a sequence of messages, read by one iterator at a time. The sequence ends with `nil` after a close
/// frame of the server, whose code is in ``closure``, and throws ``ErrandError`` after any other end. Pings are
/// answered while messages are read, or while the unread messages fit into ``WebSocketPolicy/maximumUnreadBytes``. When
/// the last reference to the socket is released, it is closed with 1001 (going away).
public final class WebSocket: AsyncSequence, Sendable {
    /// A whole message.
    public typealias Element = WebSocketMessage

    private let session: WebSocketSession

    /// The server's answer to the handshake.
    public let head: Response
    /// The subprotocol that the server chose; `nil` for none.
    public let subprotocol: String?

    init(_ session: WebSocketSession, head: Response, subprotocol: String?) {
        self.session = session
        self.head = head
        self.subprotocol = subprotocol
    }

    deinit {
        session.abandon()
    }

    /// How the socket was closed; `nil` while it is open, and if it ended with an error.
    public var closure: WebSocketClosure? {
        if case .success(let closure)? = session.inbox.ending { closure } else { nil }
    }

    /// Sends a message. Waits while ``WebSocketPolicy/maximumUnsentBytes`` are unsent. Throws
    /// ``ErrandError/webSocketClosed``, the error that ended the socket, or `CancellationError`; the message is not
    /// sent then.
    public func send(_ message: WebSocketMessage) async throws {
        switch message {
        case .text(let text): try await session.send(.text, text.utf8)
        case .binary(let bytes): try await session.send(.binary, bytes)
        }
    }

    /// Sends a message without waiting. Meant for closures; may be called on any thread. Messages keep the order of the
    /// calls. Throws ``ErrandError/queueFull`` while ``WebSocketPolicy/maximumUnsentBytes`` are unsent,
    /// ``ErrandError/webSocketClosed``, or the error that ended the socket; the message is not sent then.
    public func enqueue(_ message: WebSocketMessage) throws(ErrandError) {
        switch message {
        case .text(let text): try session.enqueue(.text, text.utf8)
        case .binary(let bytes): try session.enqueue(.binary, bytes)
        }
    }

    /// Sends a ping with at most 125 bytes; a longer one is ``ErrandError/invalidArgument``.
    public func ping(_ payload: [UInt8] = []) async throws {
        guard payload.count <= 125 else {
            throw ErrandError.invalidArgument.with(message: "the ping has \(payload.count) bytes, the maximum is 125")
        }
        try await session.send(.ping, payload)
    }

    /// Sends a close frame, after which nothing is sent. Returns when the server has answered, or
    /// ``WebSocketPolicy/closeTimeout`` has passed. Messages that arrive meanwhile are kept for the reader. Throws
    /// ``ErrandError/invalidArgument`` for a code that may not be sent or a reason above 123 bytes of UTF-8.
    public func close(_ code: WebSocketCloseCode = .normalClosure, reason: String = "") async throws {
        await session.close(try Self.closure(code, reason))
    }

    /// Sends a close frame as ``close(_:reason:)`` does, without waiting for the server's answer. Meant for closures;
    /// may be called on any thread.
    public func beginClose(_ code: WebSocketCloseCode = .normalClosure, reason: String = "") throws(ErrandError) {
        session.beginClose(try Self.closure(code, reason))
    }

    private static func closure(_ code: WebSocketCloseCode, _ reason: String) throws(ErrandError) -> WebSocketClosure {
        guard code.isSendable else {
            throw ErrandError.invalidArgument.with(message: "the close code \(code.rawValue) cannot be sent")
        }
        guard reason.utf8.count <= 123 else {
            throw ErrandError.invalidArgument.with(
                message: "the close reason has \(reason.utf8.count) bytes, the maximum is 123")
        }
        return WebSocketClosure(code: code, reason: reason)
    }

    /// Continues where the last iterator stopped.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let socket: WebSocket

        /// The next message; `nil` after a close frame. Throws ``ErrandError``; throws `CancellationError` if the
        /// task was cancelled, which leaves the socket open, or if the request was stopped.
        public mutating func next() async throws -> WebSocketMessage? {
            try await socket.session.inbox.next()
        }
    }

    /// Makes an iterator that continues where the last iterator stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(socket: self)
    }
}

extension ErrandError {
    /// The server answered a WebSocket's handshake with 101, but the response violates RFC 6455 4.2.2; ``message`` says
    /// what is wrong.
    public static let webSocketHandshakeFailed = ErrandError(.webSocketHandshakeFailed)
    /// The server sent a frame that RFC 6455 does not allow; ``message`` says what is wrong with it.
    public static let webSocketProtocolError = ErrandError(.webSocketProtocolError)
    /// A message is longer than ``WebSocketPolicy/maximumMessageBytes``.
    public static let webSocketMessageTooBig = ErrandError(.webSocketMessageTooBig)
    /// The WebSocket is closed and sends nothing more, or the connection ended without a close frame
    /// (``WebSocketCloseCode/abnormalClosure``).
    public static let webSocketClosed = ErrandError(.webSocketClosed)
}
