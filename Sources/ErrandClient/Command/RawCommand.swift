public import HTTPTypes

/// A command made of plain values, for tools and scripts: any method and any URL. Every status is accepted, and the
/// response is not decoded.
public struct RawCommand: Command {
    /// The response, undecoded.
    public typealias Response = ErrandModel.Response

    /// Default: GET.
    public var method: HTTPRequest.Method
    /// Absolute, or relative to the client's base URL.
    public var path: String
    /// Default: none.
    public var query: [QueryItem] = []
    /// Default: none but the client's.
    public var headers: HTTPFields
    /// Default: none.
    public var body: RequestBody
    /// Default: the client's.
    public var timeouts: Timeouts?
    /// Default: the client's.
    public var limits: Limits?
    /// Default: normal.
    public var priority = Priority.normal
    /// Default: the client's.
    public var connection: ConnectionOptions?
    /// Default: the client's.
    public var redirects: RedirectPolicy?
    /// Default: none but the client's.
    public var options: CommandOptions = []
    /// Default: the client's.
    public var cache: CachePolicy?
    /// Default: the client's.
    public var resilience: RequestResilience?

    /// Makes a command for `url`.
    public init(
        method: HTTPRequest.Method = .get, url: String, headers: HTTPFields = HTTPFields(), body: RequestBody = .empty
    ) {
        self.method = method
        self.path = url
        self.headers = headers
        self.body = body
    }

    /// Makes a command from unchecked text. Throws ``ErrandError/invalidMethod`` if `method` is no HTTP token, and
    /// ``ErrandError/invalidHeader`` if a name is no token or a value contains CR, LF or NUL.
    public init(
        method: String, url: String, headers: [(name: String, value: String)], body: RequestBody = .empty
    ) throws(ErrandError) {
        self.init(
            method: try .checked(method), url: url, headers: try .checked(headers.map { ($0.name, $0.value) }),
            body: body)
    }

    /// Every status is accepted.
    public var acceptedStatusCodes: StatusCodes { .any }
}
