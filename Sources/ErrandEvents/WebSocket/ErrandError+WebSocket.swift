extension ErrandError {
    /// The server answered a WebSocket's handshake with 101, but the response violates RFC 6455 4.2.2; ``message`` says
    /// what is wrong.
    public static let webSocketHandshakeFailed = ErrandError(.webSocketHandshakeFailed)
    /// The server sent a frame that RFC 6455 does not allow; ``message`` says what is wrong with it.
    public static let webSocketProtocolError = ErrandError(.webSocketProtocolError)
    /// A message is longer than ``WebSocketPolicy/maximumMessageBytes``.
    public static let webSocketMessageTooBig = ErrandError(.webSocketMessageTooBig)
    /// The WebSocket is closed, so nothing more is sent; or the connection ended without a close frame
    /// (``WebSocketCloseCode/abnormalClosure``).
    public static let webSocketClosed = ErrandError(.webSocketClosed)
}
