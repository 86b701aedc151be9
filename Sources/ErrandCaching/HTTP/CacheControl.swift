/// The directives of `Cache-Control` (RFC 9111 5.2, RFC 5861, RFC 8246), of a request or of a response. Spans are
/// in seconds, at most 2^31. If a directive is repeated, the first one counts (RFC 9111 4.2.1).
struct CacheControl: Sendable, Hashable {
    /// RFC 9111 1.2.2: the value used for a number that is too large.
    static let longest: Int64 = 1 << 31

    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt16

        static let noStore = Flags(rawValue: 1)
        static let noTransform = Flags(rawValue: 2)
        static let onlyIfCached = Flags(rawValue: 4)
        static let `public` = Flags(rawValue: 8)
        static let mustRevalidate = Flags(rawValue: 16)
        static let proxyRevalidate = Flags(rawValue: 32)
        static let mustUnderstand = Flags(rawValue: 64)
        static let immutable = Flags(rawValue: 128)
    }

    /// The scope of a directive that may name fields (RFC 9111 5.2.2.4, 5.2.2.7).
    enum Scope: Sendable, Hashable {
        case nothing
        /// Names in lower case; at least one.
        case fields(Set<String>)
        case everything

        var fieldNames: Set<String> {
            if case .fields(let names) = self { names } else { [] }
        }

        mutating func widen(to other: Scope) {
            switch (self, other) {
            case (_, .nothing), (.everything, _): break
            case (.nothing, _), (_, .everything): self = other
            case (.fields(let names), .fields(let more)): self = .fields(names.union(more))
            }
        }
    }

    var flags: Flags = []
    var noCache = Scope.nothing
    var `private` = Scope.nothing
    /// 0 if the value cannot be read: the response then counts as stale. The same holds for ``sharedMaxAge``.
    var maxAge: Int64?
    var sharedMaxAge: Int64?
    /// ``longest`` if the value cannot be read.
    var minFresh: Int64?
    /// ``longest`` if the directive has no value, `nil` if the value cannot be read.
    var maxStale: Int64?
    /// `nil` if the value cannot be read: an unreadable directive allows nothing. The same holds for ``staleIfError``.
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?
}
