import HTTPTypes

extension Response {
    /// The length of this head's body in bytes, as a stream delivers it; `nil` if only the end of the body shows its
    /// length (RFC 9112 6.3), or if the body is decoded.
    var streamedLength: Int64? {
        if statusCode == 204 || statusCode == 304 { return 0 }
        let isPlain = header(.contentEncoding).map { $0.lowercased() == "identity" } ?? true
        guard isPlain, header(.transferEncoding) == nil else { return nil }
        return header(.contentLength).flatMap { Int64($0) }
    }
}
