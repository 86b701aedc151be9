/// Credentials for the origin server, in a scheme that needs the server's challenge first. Basic and Bearer need no
/// challenge: they are header fields.
///
/// The credentials belong to one origin: a redirect to another origin drops them.
public enum ServerAuthentication: Sendable, Hashable {
    /// Digest with MD5 or SHA-256, as the server requests (RFC 7616; CURLAUTH_DIGEST). The first attempt is sent
    /// without credentials and without the body; the engine answers the challenge within the same transfer, so that one
    /// request is two on the wire. After a wrong password the response is the server's 401. The name must not be empty
    /// and must not contain a `:` or a control character, and the password must not contain NUL
    /// (``ErrandError/invalidOption``). An `Authorization` field in the same request is ``ErrandError/invalidHeader``.
    case digest(username: String, password: String)
}

extension ServerAuthentication: CustomStringConvertible, CustomDebugStringConvertible {
    /// The scheme and the user name, without the password.
    public var description: String {
        switch self {
        case .digest(let username, _): "digest of \(username.debugDescription)"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
