/// Limits and times of a WebSocket.
public struct WebSocketPolicy: Sendable, Hashable {
    /// The length of the longest message that is accepted, with its fragments joined, in bytes. A longer message closes
    /// the socket with 1009 and is ``ErrandError/webSocketMessageTooBig``. Default: 16 MiB.
    public var maximumMessageBytes = 16 << 20

    /// The number of bytes of messages that may wait for the reader. Above this number nothing more is read from the
    /// server, and the server's writes stall. One message may exceed the number. Default: 256 KiB.
    public var maximumUnreadBytes = 256 << 10

    /// The number of bytes of frames that may wait to be sent. Above this number ``WebSocket/send(_:)`` waits. One
    /// message may exceed the number. Default: 256 KiB.
    public var maximumUnsentBytes = 256 << 10

    /// How long the server may take to answer a close frame, on the client's clock. Default: 5 seconds.
    public var closeTimeout: Duration = .seconds(5)

    /// How often a ping is sent, on the client's clock. The socket fails with ``ErrandError/timeoutIdle`` if the server
    /// sent nothing between two pings while messages were being read. `nil`, the default: never.
    public var pingInterval: Duration?

    /// Makes the default policy.
    public init() {}
}
