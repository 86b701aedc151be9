public import HTTPTypes

/// What one request does otherwise than its command says. `nil`: as the command, or the client, says.
public struct RequestOverrides: Sendable {
    /// In place of ``Command/baseURL``.
    public var baseURL: String?
    /// In place of ``Command/usesCDN``.
    public var usesCDN: Bool?
    /// Added to the command's headers; a name given here replaces the command's fields of that name. Default: none.
    public var headers = HTTPFields()
    /// Appended to the command's query. Default: none.
    public var query: [QueryItem] = []
    /// In place of ``Command/parameters``.
    public var parameters: Parameters?
    /// In place of ``Command/authorization``.
    public var authorization: Authorization?
    /// In place of ``Command/timeouts``.
    public var timeouts: Timeouts?
    /// In place of ``Command/limits``.
    public var limits: Limits?
    /// In place of ``Command/priority``.
    public var priority: Priority?
    /// In place of ``Command/connection``.
    public var connection: ConnectionOptions?
    /// In place of ``Command/redirects``.
    public var redirects: RedirectPolicy?
    /// In place of ``Command/options``.
    public var options: CommandOptions?

    /// In place of ``Command/accepts(statusCode:)``.
    public var acceptsStatusCode: (@Sendable (Int) -> Bool)?
    /// In place of ``Command/acceptedContentTypes``.
    public var acceptedContentTypes: ContentTypes?
    /// After the command's. Default: none.
    public var interceptors: [any Interceptor] = []

    /// Overrides nothing.
    public init() {}
}
