extension ChallengeInterceptor {
    /// What to do about a challenge.
    public enum Answer: Sendable, Hashable {
        /// RFC 7617, in UTF-8. The name must not have a colon in it. Shows the password to all who can read along: mind
        /// ``AuthenticationChallenge/url``.
        case basic(username: String, password: String)
        /// RFC 6750.
        case bearer(String)
        /// RFC 7616, with what the server offers of MD5 and SHA-256. The engine answers, here and later, in a round of its
        /// own per request (see ``ServerAuthentication``). Not for proxies, which end in
        /// ``ErrandError/authenticationFailed``.
        case digest(username: String, password: String)
        /// The whole value of `Authorization`, or `Proxy-Authorization`, for other schemes.
        case header(String)
        /// The response is the response.
        case take
        /// The request fails with ``ErrandError/authenticationFailed``.
        case fail
    }
}

extension ChallengeInterceptor.Answer {
    /// `nil` for none. Throws ``ErrandError/authenticationFailed``, or ``ErrandError/invalidHeader`` for what no field can
    /// say.
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
            throw ErrandError.authenticationFailed.with(message: "the challenge was declined")
        }
        return value.map { .field($0) }
    }
}

extension ChallengeInterceptor.Answer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind; secrets are left out.
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

    /// The same.
    public var debugDescription: String { description }
}
