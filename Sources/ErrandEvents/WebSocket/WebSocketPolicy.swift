/// Limits and times of a WebSocket.
public struct WebSocketPolicy: Sendable, Hashable {
    /// The longest message that is taken, its fragments joined, in bytes. A longer one closes the socket with 1009 and is
    /// ``ErrandError/webSocketMessageTooBig``. Default: 16 MiB.
    public var maximumMessageBytes = 16 << 20

    /// So many bytes of messages wait for their reader; above that nothing more is read from the server, and its writes
    /// stall. One message may go beyond. Default: 256 KiB.
    public var maximumUnreadBytes = 256 << 10

    /// So many bytes of frames wait to be sent; above that ``WebSocket/send(_:)`` waits. One message may go beyond.
    /// Default: 256 KiB.
    public var maximumUnsentBytes = 256 << 10

    /// How long the server may take to answer a close frame, on the client's clock. Default: 5 seconds.
    public var closeTimeout: Duration = .seconds(5)

    /// How often a ping is sent, on the client's clock. The socket fails with ``ErrandError/timeoutIdle`` where nothing came
    /// from the server between two of them, while messages were read. `nil`, the default: never.
    public var pingInterval: Duration?

    /// Makes the default policy.
    public init() {}
}
