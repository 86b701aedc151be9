import FoundationEssentials

/// What an answered challenge comes to.
enum ServerCredential: Sendable, Hashable {
    /// The value of `Authorization` or `Proxy-Authorization`.
    case field(String)

    /// RFC 7617, in UTF-8. Throws ``ErrandError/invalidHeader`` for what cannot be said that way.
    static func basic(username: String, password: String) throws(ErrandError) -> ServerCredential {
        try check(username, "the user name")
        try check(password, "the password")
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw ErrandError.invalidHeader.with(message: "the user name of Basic authorization has a colon in it")
        }
        return .field("Basic " + Data("\(username):\(password)".utf8).base64EncodedString())
    }

    /// RFC 6750. Throws ``ErrandError/invalidHeader`` for what cannot be said that way.
    static func bearer(_ token: String) throws(ErrandError) -> ServerCredential {
        try check(token, "the bearer token")
        guard !token.isEmpty else { throw ErrandError.invalidHeader.with(message: "the bearer token is empty") }
        return .field("Bearer " + token)
    }

    /// A whole field value. Throws ``ErrandError/invalidHeader``.
    static func header(_ value: String) throws(ErrandError) -> ServerCredential {
        try check(value, "the authorization")
        return .field(value)
    }

    /// RFC 7617 2: no control characters; CR and LF would end the field. The message shows no secret.
    private static func check(_ text: String, _ name: StaticString) throws(ErrandError) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ErrandError.invalidHeader.with(message: "\(name) has a control character in it")
        }
    }

    /// Puts it into a request, in place of what was there.
    func apply(to request: inout RequestDescription, by side: ChallengeSide) throws(ErrandError) {
        switch self {
        case .field(let value):
            try request.headers.set(side.field, to: value)
        }
    }
}
