import HTTPTypes

extension Response {
    /// How many bytes the body of this head has, as a stream gives them; `nil` where only its end will tell (RFC 9112
    /// 6.3), or where it is decoded on its way.
    var streamedLength: Int64? {
        if statusCode == 204 || statusCode == 304 { return 0 }
        let isPlain = header(.contentEncoding).map { $0.lowercased() == "identity" } ?? true
        guard isPlain, header(.transferEncoding) == nil else { return nil }
        return header(.contentLength).flatMap { Int64($0) }
    }
}
