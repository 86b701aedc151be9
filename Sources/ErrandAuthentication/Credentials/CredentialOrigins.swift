/// The origins (scheme, host and port) that an ``AuthenticationInterceptor`` sends its credential to.
public struct CredentialOrigins: Sendable, Hashable {
    private enum Storage: Hashable {
        case any
        case own(and: [String])
    }

    private let storage: Storage

    /// The origins of the client and of the command's own base URLs, as ``InterceptionContext/isOwnOrigin(_:)`` defines
    /// them. This is the default. For a client without ``Client/Settings/baseURL`` and ``Client/Settings/cdnURL``: all
    /// origins.
    public static let client = CredentialOrigins(storage: .own(and: []))

    /// The origins of ``client``, and `others`, each an absolute URL such as `https://media.example.com`; its path is
    /// ignored. If one of them is invalid, every request that needs the check fails with ``ErrandError/invalidOption``.
    public static func client(and others: [String]) -> CredentialOrigins {
        CredentialOrigins(storage: .own(and: others))
    }

    /// All origins that a command's URL may have. The target of a redirect is never included.
    public static let any = CredentialOrigins(storage: .any)

    /// Checks whether a URL has one of these origins; created once.
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
                                message: "\(Redaction.quoted(text)) is not an origin such as https://host",
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
