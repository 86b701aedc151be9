/// Credentials that are given to the origin server alone, by a scheme that needs its challenge first. Basic and Bearer
/// need none: they are header fields.
///
/// They stay with the origin they were given for: a redirect to another one drops them.
public enum ServerAuthentication: Sendable, Hashable {
    /// Digest with MD5 or SHA-256, as the server asks for (RFC 7616; CURLAUTH_DIGEST). The first try goes without
    /// credentials and without the body; the engine answers the challenge within the same transfer, so that one request
    /// is two on the wire. A wrong password is the server's 401, as a response. The name must not be empty and must not
    /// have a `:` or a control character in it, the password no NUL (``ErrandError/invalidOption``); an `Authorization`
    /// field beside it is ``ErrandError/invalidHeader``.
    case digest(username: String, password: String)
}

extension ServerAuthentication: CustomStringConvertible, CustomDebugStringConvertible {
    /// The scheme and the user, not the password.
    public var description: String {
        switch self {
        case .digest(let username, _): "digest of \(username.debugDescription)"
        }
    }

    /// The same.
    public var debugDescription: String { description }
}
