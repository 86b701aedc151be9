extension Command where CDNURLMember == String? {
    /// The default: the client's CDN URL.
    @inlinable public var cdnURL: String? { nil }
}

extension Command where UsesCDNMember == Bool {
    /// The default: no.
    @inlinable public var usesCDN: Bool { false }
}

extension Command where URLRulesMember == URLRules? {
    /// The default: the client's URL rules.
    @inlinable public var urlRules: URLRules? { nil }
}

extension Command where ParametersMember == Parameters? {
    /// The default: no parameters.
    @inlinable public var parameters: Parameters? { nil }
}

extension Command where ParameterEncodingMember == ParameterEncoding {
    /// The default: in the query for GET, HEAD and DELETE, as a form otherwise.
    @inlinable public var parameterEncoding: ParameterEncoding { .automatic }
}

extension Command where AuthorizationMember == Authorization? {
    /// The default: the client's authorization.
    @inlinable public var authorization: Authorization? { nil }
}

extension Command where CustomRequestMember == CustomRequest? {
    /// The default: none. The request is built from the command's members.
    @inlinable public var customRequest: CustomRequest? { nil }
}
