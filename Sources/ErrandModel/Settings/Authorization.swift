import FoundationEssentials

/// The credentials of a request. An `Authorization` field among the command's own headers takes precedence, as in
/// YTKNetwork. Credentials are never sent to another origin: a redirect that changes scheme, host or port drops them.
public enum Authorization: Sendable, Hashable {
    /// No credentials, even if the client has a default.
    case anonymous
    /// RFC 7617, sent at once and without a challenge, in UTF-8 (YTKNetwork `requestAuthorizationHeaderFieldArray`).
    /// The name must not contain a colon.
    case basic(username: String, password: String)
    /// RFC 6750.
    case bearer(String)
    /// RFC 7616. The engine answers the server's challenge, see ``ServerAuthentication``. The name must not be empty
    /// and must not contain a colon.
    case digest(username: String, password: String)

    /// The `Authorization` field to send at once; `nil` for none. Throws ``ErrandError/invalidHeader``; the message
    /// contains no secret.
    package func header() throws(ErrandError) -> String? {
        switch self {
        case .anonymous, .digest:
            return nil
        case .basic(let username, let password):
            try Self.check(username, "the user name")
            try Self.check(password, "the password")
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw ErrandError.invalidHeader.with(message: "the user name of Basic authorization contains a colon")
            }
            return "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
        case .bearer(let token):
            try Self.check(token, "the bearer token")
            guard !token.isEmpty else {
                throw ErrandError.invalidHeader.with(message: "the bearer token is empty")
            }
            return "Bearer " + token
        }
    }

    /// The credentials with which the engine answers a challenge; `nil` if a header field is enough. Throws
    /// ``ErrandError/invalidHeader``.
    package func challenged() throws(ErrandError) -> ServerAuthentication? {
        guard case .digest(let username, let password) = self else { return nil }
        try Self.check(username, "the user name")
        try Self.check(password, "the password")
        guard !username.isEmpty, !username.utf8.contains(UInt8(ascii: ":")) else {
            throw ErrandError.invalidHeader.with(
                message: "the user name of Digest authorization is empty or contains a colon")
        }
        return .digest(username: username, password: password)
    }

    /// RFC 7617 2: no control characters; CR and LF would end the field.
    package static func check(_ text: String, _ name: StaticString) throws(ErrandError) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ErrandError.invalidHeader.with(message: "\(name) contains a control character")
        }
    }
}

extension Authorization: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind of authorization, without its secrets.
    public var description: String {
        switch self {
        case .anonymous: "anonymous"
        case .basic(let username, _): "basic \(username)"
        case .bearer: "bearer"
        case .digest(let username, _): "digest \(username)"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

/// Credentials for the origin server, in a scheme that needs the server's challenge first. Basic and Bearer need no
/// challenge: they are header fields.
///
/// The credentials belong to one origin: a redirect to another origin drops them.
public enum ServerAuthentication: Sendable, Hashable {
    /// Digest with MD5 or SHA-256, as the server requests (RFC 7616; CURLAUTH_DIGEST). The first attempt is sent
    /// without credentials and without the body. The engine answers the challenge within the same transfer, so one
    /// request becomes two requests on the wire. After a wrong password the response is the server's 401. The name must
    /// not be empty and must not contain a `:` or a control character, and the password must not contain NUL
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
