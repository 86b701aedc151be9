/// Bytes of heads and bodies in both directions, as on the connection after TLS. Heads are those of HTTP/1.1: HTTP/2 sends
/// less (HPACK, RFC 7541). Redirects, replays with credentials and libcurl's own resends count. A retry or a hedge
/// counts as many sent bytes as the last attempt, and its response does not count.
public struct LoadTraffic: Sendable, Hashable, Codable {
    /// Request lines and header fields of the requests for which libcurl reports the size (CURLINFO_REQUEST_SIZE).
    /// libcurl 8.7 does not report it; earlier versions do not if a body in memory was sent in several pieces.
    public var headBytesSent: UInt64 = 0
    /// Bodies of requests.
    public var bodyBytesSent: UInt64 = 0
    /// Status lines and header fields, including those of interim responses and trailers.
    public var headBytesReceived: UInt64 = 0
    /// Bodies of responses, before decompression.
    public var bodyBytesReceived: UInt64 = 0

    /// No bytes.
    public init() {}

    /// Adds the bytes of another part.
    public static func += (left: inout LoadTraffic, right: LoadTraffic) {
        left.headBytesSent += right.headBytesSent
        left.bodyBytesSent += right.bodyBytesSent
        left.headBytesReceived += right.headBytesReceived
        left.bodyBytesReceived += right.bodyBytesReceived
    }
}
