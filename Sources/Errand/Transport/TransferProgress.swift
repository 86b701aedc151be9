/// How far a transfer is. Told at most ten times a second, and once more at the end; neither number ever shrinks within
/// one transfer.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body that were sent.
    public var bytesSent: UInt64
    /// Bytes of the response's body that came, as they came: compressed ones count compressed.
    public var bytesReceived: UInt64
    /// How many there are to send; `nil` where that is not known.
    public var bytesToSend: UInt64?
    /// How many there are to come; `nil` where that is not known.
    public var bytesToReceive: UInt64?

    /// Made by transports.
    public init(
        bytesSent: UInt64 = 0, bytesReceived: UInt64 = 0, bytesToSend: UInt64? = nil, bytesToReceive: UInt64? = nil
    ) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.bytesToSend = bytesToSend
        self.bytesToReceive = bytesToReceive
    }
}
