/// Why bytes are not an encoded ``LatencyHistogram``.
public enum HistogramEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text is not Base64 (RFC 4648 4).
    case base64
    /// The bytes end early.
    case truncated
    /// Another format, or another version. The value is the first four bytes.
    case cookie(UInt32)
    /// A length in a header differs from the number of bytes that follow.
    case length
    /// The histogram has other settings than three significant digits from 1, a scale or an offset.
    case settings
    /// The compressed part is malformed, or longer than any histogram.
    case compression
    /// A count is too large (the sum is at most 2^53), or belongs to no bucket.
    case counts

    /// The reason, in words.
    public var description: String {
        switch self {
        case .base64: "the text of the histogram is not Base64"
        case .truncated: "the histogram ends early"
        case .cookie(let cookie): "0x\(String(cookie, radix: 16)) is not the start of an HdrHistogram in encoding V2"
        case .length: "the length of the histogram is wrong"
        case .settings: "the histogram does not have three significant digits from 1"
        case .compression: "the compressed histogram is malformed"
        case .counts: "the histogram has a count that is too large or has no bucket"
        }
    }
}
