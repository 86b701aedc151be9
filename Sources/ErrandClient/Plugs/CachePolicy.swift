/// Whether and how the responses to a command are cached. The default is ``off``.
///
/// ```swift
/// struct GetPrices: Command {
///     var path: String { "prices" }
///     var cache: CachePolicy? { .timed(.seconds(60), version: 2) }
///     struct Response: Decodable, Sendable { var cents: Int }
/// }
/// ```
///
/// The policy of a request comes from ``RequestOverrides``, ``Command/cache`` or ``Client/Settings/cache``: overrides
/// take precedence over the command, and the command over the client. It is read when a request is made. Streamed
/// responses, groups and requests whose body comes from a file or a source are never cached.
/// ``Client/Configuration/cache`` sets where responses are kept.
///
/// The value is two words and is copied without a lock. Making a policy that is not ``off`` allocates once.
public struct CachePolicy: Sendable {
    /// `nil`: off.
    package let kind: (any CachePolicyKind)?

    package init(_ kind: (any CachePolicyKind)?) { self.kind = kind }

    /// Nothing is read and nothing stored.
    public static let off = CachePolicy(nil)

    /// Whether the policy is ``off``.
    public var isOff: Bool { kind == nil }
}
