public import HTTPTypes

/// A response whose body is still arriving; see ``Client/stream(_:overrides:)``.
public struct StreamedResponse: Sendable {
    /// Status and header fields; the body of this response is empty.
    public let head: Response
    /// The body; it can be read once.
    public let body: ResponseBodyStream
    /// The running request: to stop, pause or watch it, and for ``AnyRequest/metrics`` when the body has ended.
    public var request: AnyRequest { body.source.request }

    /// Trailer fields (RFC 9110 6.5). They arrive after the body: empty until the end of the body was read.
    public var trailers: HTTPFields { request.response?.trailers ?? HTTPFields() }

    /// The status code, 100...599.
    public var statusCode: Int { head.statusCode }

    /// The header fields, parsed now.
    public var headers: HTTPFields { head.headers }

    /// The value of the first field of that name.
    public func header(_ name: HTTPField.Name) -> String? { head.header(name) }
}

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
