public import HTTPTypes

extension Response {
    /// The same response with another body, as ``Interceptor/transform(_:in:)`` returns it after decrypting or
    /// unwrapping. Status line, trailer fields and metrics stay.
    ///
    /// - Parameters:
    ///   - body: The new body.
    ///   - headers: The new fields. Default, `nil`: the original fields stay, including those about the original body
    ///     (`Content-Length`, `Content-Type`).
    public func replacing(body: [UInt8], headers: HTTPFields? = nil) -> Response {
        var head = Array(storage.head)
        if let headers {
            let statusLine = head.prefix { $0 != 0x0A }
            head = statusLine + [0x0A] + HeaderBlock(headers).bytes
        }
        var response = Response(
            storage: OwnedResponseStorage(
                statusCode: statusCode, head: head, body: body, metrics: metrics, trailers: Array(storage.trailers)))
        response.decoder = decoder
        return storage.cacheInfo.map(response.marked) ?? response
    }
}
