/// How a WebSocket was closed.
public struct WebSocketClosure: Sendable, Hashable {
    /// The close code; ``WebSocketCloseCode/noStatusReceived`` where the close frame had none.
    public let code: WebSocketCloseCode
    /// The reason, at most 123 bytes of UTF-8; empty where none was given.
    public let reason: String
}
