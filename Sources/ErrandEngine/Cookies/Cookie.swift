public import FoundationEssentials

/// A cookie as a ``CookieJar`` keeps it (RFC 6265 5.3).
public struct Cookie: Sendable, Hashable {
    /// Not empty, without `=` and `;`.
    public var name: String
    /// Without `;`.
    public var value: String
    /// The host, without a leading dot.
    public var domain: String
    /// Begins with `/`. Default: `/`.
    public var path: String
    /// When it goes, to the second; `nil`, the default: with the session.
    public var expires: Date?
    /// Only for https, and for http to this machine. Default: no.
    public var isSecure: Bool
    /// Noted for those who read the file; of no meaning here. Default: no.
    public var isHTTPOnly: Bool
    /// For the hosts below ``domain`` too. Default: no.
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
