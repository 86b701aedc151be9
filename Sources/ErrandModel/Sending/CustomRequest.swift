public import HTTPTypes

/// A request that is sent unchanged: no base URL, filters, parameters, default headers or authorization are applied
/// (YTKNetwork `buildCustomUrlRequest`). Validators, decoding, priority, timeouts, limits, connection options, TLS
/// policies, redirects and progress are still those of the command.
public struct CustomRequest: Sendable {
    /// Default: GET.
    public var method: HTTPRequest.Method
    /// Absolute; `http` or `https`.
    public var url: String
    /// All fields except `Host`, the length, and the fields that the body sets (`Content-Encoding`, and `Content-Type`
    /// where none is given here).
    public var headers: HTTPFields
    /// Default: none.
    public var body: RequestBody

    /// Makes a request.
    public init(
        method: HTTPRequest.Method = .get, url: String, headers: HTTPFields = HTTPFields(), body: RequestBody = .empty
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
