/// The progress of a transfer: bytes of the bodies on the wire, compressed where a content encoding is used.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body sent.
    public var bytesSent: UInt64
    /// Bytes of the response's body received.
    public var bytesReceived: UInt64
    /// The length of the request's body; `nil`: not known.
    public var bytesToSend: UInt64?
    /// The length of the response's body by its `Content-Length`; `nil`: not known, or not yet.
    public var bytesToReceive: UInt64?

    /// Makes a value; the default is that nothing was transferred.
    public init(
        bytesSent: UInt64 = 0, bytesReceived: UInt64 = 0, bytesToSend: UInt64? = nil, bytesToReceive: UInt64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.bytesToSend = bytesToSend
        self.bytesToReceive = bytesToReceive
    }
}
