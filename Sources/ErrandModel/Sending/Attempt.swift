/// One transfer of a request: the first one, and one for every redirect and replay.
public struct Attempt: Sendable {
    /// 1 for the first transfer of a run.
    public let number: Int
    /// The requested URL.
    public let url: String
    /// The response; `nil` where none began.
    public let response: Response?
    /// Why the transfer failed; `nil` where a whole response arrived.
    public let error: ErrandError?

    package init(number: Int, url: String, response: Response?, error: ErrandError?) {
        self.number = number
        self.url = url
        self.response = response
        self.error = error
    }

    /// Timings and byte counts of the transfer, as far as it got; `nil` where nothing was sent.
    public var metrics: TransferMetrics? { response?.metrics ?? error?.metrics }
}

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
