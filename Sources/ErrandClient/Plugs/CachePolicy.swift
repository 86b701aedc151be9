/// Whether and how the responses to a command are cached. ``off``, unless somebody says otherwise.
///
/// ```swift
/// struct GetPrices: Command {
///     var path: String { "prices" }
///     var cache: CachePolicy? { .timed(.seconds(60), version: 2) }
///     struct Response: Decodable, Sendable { var cents: Int }
/// }
/// ```
///
/// Said by ``Command/cache``, ``RequestOverrides`` and ``Client/Settings/cache``, the first of these that says anything; read
/// when a request is made. Streamed responses, groups and requests whose body comes from a file or a source are never
/// cached. Where responses are kept is ``Client/Configuration/cache``'s business.
///
/// One word, copied without a lock; making one that is not ``off`` allocates once.
public struct CachePolicy: Sendable {
    /// `nil`: off.
    package let kind: (any CachePolicyKind)?

    package init(_ kind: (any CachePolicyKind)?) { self.kind = kind }

    /// Nothing is read and nothing stored.
    public static let off = CachePolicy(nil)

    /// Whether it is ``off``.
    public var isOff: Bool { kind == nil }
}
