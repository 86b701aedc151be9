extension ChallengeInterceptor {
    /// How to answer a challenge.
    public enum Answer: Sendable, Hashable {
        /// RFC 7617, in UTF-8. The name must not contain a colon. Anyone who can read the traffic sees the password:
        /// check ``AuthenticationChallenge/url``.
        case basic(username: String, password: String)
        /// RFC 6750.
        case bearer(String)
        /// RFC 7616, with MD5 or SHA-256, whichever the server offers. The engine answers this challenge and later
        /// ones, with an extra round trip per request (see ``ServerAuthentication``). Not for proxies: there the
        /// request fails with ``ErrandError/authenticationFailed``.
        case digest(username: String, password: String)
        /// The complete value of `Authorization` or `Proxy-Authorization`, for other schemes.
        case header(String)
        /// The challenge is the response of the request.
        case take
        /// The request fails with ``ErrandError/authenticationFailed``.
        case fail
    }
}

extension ChallengeInterceptor.Answer {
    /// The credential to send; `nil` for none. Throws ``ErrandError/authenticationFailed``, or
    /// ``ErrandError/invalidHeader`` for a value that no header field can hold.
    func credential() throws(ErrandError) -> ServerCredential? {
        let value: String?
        switch self {
        case .basic(let username, let password):
            value = try Authorization.basic(username: username, password: password).header()
        case .bearer(let token):
            value = try Authorization.bearer(token).header()
        case .digest(let username, let password):
            return .server(.digest(username: username, password: password))
        case .header(let given):
            try Authorization.check(given, "the authorization")
            value = given
        case .take:
            value = nil
        case .fail:
            throw ErrandError.authenticationFailed.with(message: "the authenticator declined the challenge")
        }
        return value.map { .field($0) }
    }
}

extension ChallengeInterceptor.Answer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind of answer, without secrets.
    public var description: String {
        switch self {
        case .basic(let username, _): "basic \(username)"
        case .bearer: "bearer"
        case .digest(let username, _): "digest \(username)"
        case .header: "header"
        case .take: "take"
        case .fail: "fail"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
