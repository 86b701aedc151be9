public import HTTPTypes

extension Response {
    /// The same response with another body: what ``Interceptor/transform(_:in:)`` gives back where it decrypts or unwraps.
    /// Status line, trailer fields and metrics stay.
    ///
    /// - Parameters:
    ///   - body: In place of the one there is.
    ///   - headers: In place of the fields there are. Default, `nil`: they stay as they came, those that tell of the body
    ///     that was sent (`Content-Length`, `Content-Type`) included.
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
