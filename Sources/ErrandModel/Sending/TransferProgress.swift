/// How far a transfer is: bytes of the bodies as they cross the wire, compressed where they are.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body sent.
    public var bytesSent: UInt64
    /// Bytes of the response's body received.
    public var bytesReceived: UInt64
    /// The length of the request's body; `nil`: not known.
    public var bytesToSend: UInt64?
    /// The length of the response's body as its `Content-Length` says; `nil`: not known, or not yet.
    public var bytesToReceive: UInt64?

    /// Makes a value; nothing has moved where nothing is given.
    public init(
        bytesSent: UInt64 = 0, bytesReceived: UInt64 = 0, bytesToSend: UInt64? = nil, bytesToReceive: UInt64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.bytesToSend = bytesToSend
        self.bytesToReceive = bytesToReceive
    }
}
