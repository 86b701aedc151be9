public import FoundationEssentials

/// A cookie in a ``CookieJar`` (RFC 6265 5.3).
public struct Cookie: Sendable, Hashable {
    /// Not empty, without `=` and `;`.
    public var name: String
    /// Without `;`.
    public var value: String
    /// The host, without a leading dot.
    public var domain: String
    /// Begins with `/`. Default: `/`.
    public var path: String
    /// When the cookie expires, to the second; `nil`, the default: at the end of the session.
    public var expires: Date?
    /// Whether the cookie is sent only over https, and over http to this machine. Default: no.
    public var isSecure: Bool
    /// Stored in the file for other readers of it; without effect here. Default: no.
    public var isHTTPOnly: Bool
    /// Whether the cookie is also sent to the hosts below ``domain``. Default: no.
    public var includesSubdomains: Bool

    /// Makes a cookie; ``CookieJar/set(_:)`` checks it.
    public init(
        name: String, value: String, domain: String, path: String = "/", expires: Date? = nil, isSecure: Bool = false,
        isHTTPOnly: Bool = false, includesSubdomains: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.includesSubdomains = includesSubdomains
    }
}
