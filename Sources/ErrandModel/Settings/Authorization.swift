import FoundationEssentials

/// Who asks. An `Authorization` field among the command's own headers wins over it, as in YTKNetwork. It is never sent to
/// another origin: a redirect that leaves scheme, host or port drops it.
public enum Authorization: Sendable, Hashable {
    /// Nobody, even where the client has a default.
    case anonymous
    /// RFC 7617, sent at once and without a challenge, in UTF-8 (YTKNetwork `requestAuthorizationHeaderFieldArray`). The
    /// name must not have a colon in it.
    case basic(username: String, password: String)
    /// RFC 6750.
    case bearer(String)
    /// RFC 7616, answered by the engine when the server challenges, see ``ServerAuthentication``. The name must not be
    /// empty or have a colon in it.
    case digest(username: String, password: String)

    /// The `Authorization` field to send at once; `nil` for none. Throws ``ErrandError/invalidHeader``; the message shows
    /// no secret.
    package func header() throws(ErrandError) -> String? {
        switch self {
        case .anonymous, .digest:
            return nil
        case .basic(let username, let password):
            try Self.check(username, "the user name")
            try Self.check(password, "the password")
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw ErrandError.invalidHeader.with(message: "the user name of Basic authorization has a colon in it")
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

    /// What the engine does by itself; `nil` where a field says all. Throws ``ErrandError/invalidHeader``.
    package func challenged() throws(ErrandError) -> ServerAuthentication? {
        guard case .digest(let username, let password) = self else { return nil }
        try Self.check(username, "the user name")
        try Self.check(password, "the password")
        guard !username.isEmpty, !username.utf8.contains(UInt8(ascii: ":")) else {
            throw ErrandError.invalidHeader.with(
                message: "the user name of Digest authorization is empty or has a colon")
        }
        return .digest(username: username, password: password)
    }

    /// RFC 7617 2: no control characters; CR and LF would end the field.
    package static func check(_ text: String, _ name: StaticString) throws(ErrandError) {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ErrandError.invalidHeader.with(message: "\(name) has a control character in it")
        }
    }
}

extension Authorization: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind; secrets are left out.
    public var description: String {
        switch self {
        case .anonymous: "anonymous"
        case .basic(let username, _): "basic \(username)"
        case .bearer: "bearer"
        case .digest(let username, _): "digest \(username)"
        }
    }

    /// The same.
    public var debugDescription: String { description }
}
