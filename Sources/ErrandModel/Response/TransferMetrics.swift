/// Timings and byte counts of one transfer. Durations are counted from the moment the engine started the transfer; only
/// ``queue`` is before it. A duration is `nil` if its phase did not happen (a reused connection needs no look-up).
public struct TransferMetrics: Sendable, Hashable {
    /// From submission to the start.
    public var queue: Duration = .zero
    /// Until the name was looked up (CURLINFO_NAMELOOKUP_TIME_T).
    public var resolved: Duration?
    /// Until TCP was connected (CURLINFO_CONNECT_TIME_T).
    public var connected: Duration?
    /// Until TLS was ready (CURLINFO_APPCONNECT_TIME_T).
    public var secured: Duration?
    /// Until the request was about to be sent (CURLINFO_PRETRANSFER_TIME_T).
    public var sent: Duration?
    /// Until the first byte of the response (CURLINFO_STARTTRANSFER_TIME_T).
    public var firstByte: Duration?
    /// Until the end.
    public var total: Duration = .zero
    /// Body bytes on the wire.
    public var bytesReceived: UInt64 = 0
    /// Body bytes on the wire.
    public var bytesSent: UInt64 = 0
    /// Bytes of request lines and fields, as HTTP/1.1 text: HTTP/2 sends less (HPACK, RFC 7541). The rounds of an
    /// authentication and libcurl's resends count. Only load tests (`ErrandLoad`) ask for it (CURLINFO_REQUEST_SIZE);
    /// `nil`: nobody asked, or libcurl does not report it.
    public var headBytesSent: UInt64?
    /// Bytes of status lines and fields with their empty lines, as HTTP/1.1 text, including interim responses and
    /// trailers. Only load tests ask for it; `nil`: nobody asked.
    public var headBytesReceived: UInt64?
    /// The connection had served a request before.
    public var isConnectionReused = false
    /// The engine resent the request on a new connection, because the reused connection was dead.
    public var wasReplayed = false
    /// The body was decompressed.
    public var wasDecoded = false
    /// `1.1`, `2`; `nil` where there was no response.
    public var httpVersion: String?
    /// `127.0.0.1:80`, `[::1]:80`; `nil` where no connection was made.
    public var remoteAddress: String?
    /// The local address of the connection, in the format of ``remoteAddress``.
    public var localAddress: String?

    /// Makes empty metrics.
    public init() {}
}
