extension Command where CDNURLMember == String? {
    /// The client's.
    @inlinable public var cdnURL: String? { nil }
}

extension Command where UsesCDNMember == Bool {
    /// No.
    @inlinable public var usesCDN: Bool { false }
}

extension Command where URLRulesMember == URLRules? {
    /// The client's.
    @inlinable public var urlRules: URLRules? { nil }
}

extension Command where ParametersMember == Parameters? {
    /// None.
    @inlinable public var parameters: Parameters? { nil }
}

extension Command where ParameterEncodingMember == ParameterEncoding {
    /// In the query for GET, HEAD and DELETE, as a form otherwise.
    @inlinable public var parameterEncoding: ParameterEncoding { .automatic }
}

extension Command where AuthorizationMember == Authorization? {
    /// The client's.
    @inlinable public var authorization: Authorization? { nil }
}

extension Command where CustomRequestMember == CustomRequest? {
    /// None: the request is built.
    @inlinable public var customRequest: CustomRequest? { nil }
}
