extension Command {
    /// The client's.
    public var cdnURL: String? { nil }
    /// No.
    public var usesCDN: Bool { false }
    /// The client's.
    public var urlRules: URLRules? { nil }
    /// None.
    public var parameters: Parameters? { nil }
    /// In the query for GET, HEAD and DELETE, as a form otherwise.
    public var parameterEncoding: ParameterEncoding { .automatic }
    /// The client's.
    public var authorization: Authorization? { nil }
    /// None: the request is built.
    public var customRequest: CustomRequest? { nil }
}
