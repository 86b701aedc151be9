public import HTTPTypes

/// The methods of requests that may be sent more than once.
public struct RetryMethods: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case idempotent
        case any
        case only(Set<String>)
    }

    private let rule: Rule

    /// Idempotent methods: GET, HEAD, OPTIONS, TRACE, PUT and DELETE (RFC 9110 9.2.2). The default.
    public static let idempotent = RetryMethods(rule: .idempotent)

    /// Every method. A request that is not idempotent may take effect twice.
    public static let any = RetryMethods(rule: .any)

    /// These methods alone.
    public static func only(_ methods: Set<HTTPRequest.Method>) -> RetryMethods {
        RetryMethods(rule: .only(Set(methods.map(\.rawValue))))
    }

    /// Whether the set contains this method. Methods are case-sensitive (RFC 9110 9.1).
    public func contains(_ method: HTTPRequest.Method) -> Bool {
        switch rule {
        case .idempotent: Self.idempotentNames.contains(method.rawValue)
        case .any: true
        case .only(let names): names.contains(method.rawValue)
        }
    }

    /// Whether a second request may be sent while the first one is under way. If the program has chosen no methods:
    /// safe ones (RFC 9110 9.2.1). Of two overlapping requests that change something, the one that the server handles
    /// later may fail because of the other one: a DELETE with 404, a PUT with `If-Match` with 412.
    func mayOverlap(_ method: HTTPRequest.Method) -> Bool {
        switch rule {
        case .idempotent: Self.safeNames.contains(method.rawValue)
        case .any, .only: contains(method)
        }
    }

    private static let safeNames: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]
    private static let idempotentNames: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
}
