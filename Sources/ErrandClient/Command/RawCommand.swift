public import HTTPTypes

/// A command made of plain values, for tools and scripts: any method, any URL, any status accepted, the response as it
/// comes.
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

    /// A request for `url`.
    public init(
        method: HTTPRequest.Method = .get, url: String, headers: HTTPFields = HTTPFields(), body: RequestBody = .empty
    ) {
        self.method = method
        self.path = url
        self.headers = headers
        self.body = body
    }

    /// The same from text that nobody has checked yet: throws ``ErrandError/invalidMethod`` where `method` is no HTTP
    /// token, and ``ErrandError/invalidHeader`` where a name is no token or a value has CR, LF or NUL in it.
    public init(
        method: String, url: String, headers: [(name: String, value: String)], body: RequestBody = .empty
    ) throws(ErrandError) {
        guard let parsed = HTTPRequest.Method(rawValue: method) else {
            throw ErrandError.invalidMethod.with(
                message: "\(method.debugDescription) is not an HTTP method", isRefusal: true)
        }
        var fields = HTTPFields()
        for (name, value) in headers {
            fields.append(try HTTPField.checked(name: name, value: value))
        }
        self.init(method: parsed, url: url, headers: fields, body: body)
    }

    /// Every status is accepted.
    public var acceptedStatusCodes: StatusCodes { .any }
}
