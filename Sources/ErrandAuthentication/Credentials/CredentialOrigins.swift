/// The origins (scheme, host and port) that an ``AuthenticationInterceptor`` sends its credential to.
public struct CredentialOrigins: Sendable, Hashable {
    private enum Storage: Hashable {
        case any
        case own(and: [String])
    }

    private let storage: Storage

    /// Those of the client and of the command's own base URLs, as ``InterceptionContext/isOwnOrigin(_:)`` tells them: the
    /// default. Of a client without ``Client/Settings/baseURL`` and ``Client/Settings/cdnURL`` all.
    public static let client = CredentialOrigins(storage: .own(and: []))

    /// Those of ``client``, and `others`, each an absolute URL such as `https://media.example.com`; its path is not looked
    /// at. One that is none makes every request that asks for it fail with ``ErrandError/invalidOption``.
    public static func client(and others: [String]) -> CredentialOrigins {
        CredentialOrigins(storage: .own(and: others))
    }

    /// All: wherever a command leads. What a redirect leads to is never among them.
    public static let any = CredentialOrigins(storage: .any)

    /// What tells whether an URL is one of them, made once.
    func matcher() -> Matcher {
        switch storage {
        case .any: return .any
        case .own(let others):
            return .own(
                and: Result { () throws(ErrandError) in
                    try others.map { (text) throws(ErrandError) in
                        do throws(ErrandError) {
                            return try BaseURL(text)
                        } catch {
                            throw ErrandError.invalidOption.with(
                                message: "\(Redaction.quoted(text)) is no origin, such as https://host",
                                underlying: error)
                        }
                    }
                })
        }
    }

    enum Matcher: Sendable {
        case any
        case own(and: Result<[BaseURL], ErrandError>)

        func contains(_ url: String, in context: InterceptionContext) throws(ErrandError) -> Bool {
            switch self {
            case .any: true
            case .own(let others): try others.get().contains { $0.isOrigin(of: url) } || context.isOwnOrigin(url)
            }
        }
    }
}

extension CredentialOrigins {
    /// Whether two absolute URLs have the same scheme, host and port.
    package static func areSame(_ url: String, _ other: String) -> Bool {
        URLReference(url).origin == URLReference(other).origin
    }
}
