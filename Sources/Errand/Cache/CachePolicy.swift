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
@dynamicMemberLookup
public struct CachePolicy: Sendable {
    enum Kind: Sendable {
        case timed(timeToLive: Duration, version: Int64, sensitiveDigest: String?, requiresApplicationVersion: Bool)
        case http
    }

    /// What may be set of both kinds.
    public struct Members: Sendable {
        let kind: Kind
        /// Default: ``CacheReading/cacheElseNetwork``.
        public var reading = CacheReading.cacheElseNetwork
        /// Words by which many responses are removed at once, by ``ResponseCache/remove(tag:)``. Default: none.
        public var tags: [String] = []
        /// Keeps these responses apart from those of others with the same URL. Default, empty: ``ResponseCache/namespace``.
        public var namespace = ""
        /// Names of query items that do not count, such as a time stamp or a signature: URLs that differ in them alone are
        /// one entry. As they are written in the URL, or decoded. Default: none (YTKNetwork
        /// `cacheFileNameFilterForRequestArgument:`).
        public var ignoredQueryItems: Set<String> = []
        /// Makes of a request's URL what it is known by in the cache, after ``ignoredQueryItems`` were dropped; what is sent
        /// stays as it is. Called where the request is submitted, once or more. Default: `nil`.
        public var keyURL: (@Sendable (String) -> String)?
        /// Whether requests with other credentials share entries: the fields of ``Redaction/secretHeaders`` (`Authorization`,
        /// `Cookie`, `X-Api-Key` and the like), all that an interceptor or authenticator adds, ``identityFields``, Digest, user
        /// information of URLs, client certificate, the client's cookie jar. Default: no, so that nobody is given another's
        /// response; what was stored by a client with a jar in memory (``CookieStorage/memory``) is then found by that client
        /// alone. By HTTP a shared cache does not look at `Authorization` and Digest anyway, and keeps what RFC 9111 3.5 lets
        /// it.
        public var ignoresCredentials = false
        /// Names of header fields that tell who asks, beside those that are known to (see ``ignoresCredentials``): one that the
        /// command itself sets, such as `X-Tenant`. Case does not matter. Default: none.
        public var identityFields: Set<String> = []
        /// Names of header fields that do not tell who asks, although an interceptor adds them or their name is among
        /// ``Redaction/secretHeaders``: requests that differ in them alone share entries. Of transfers they
        /// share none: what waits for another's is equal in all fields. Case does not matter. Name none by which the server
        /// decides what to say. Default: ``CachePolicy/requestFields``.
        public var ignoredFields = CachePolicy.requestFields {
            didSet { ignored = Set(ignoredFields.map { $0.lowercased() }) }
        }
        /// ``ignoredFields`` in lower case.
        private(set) var ignored = CachePolicy.lowercasedRequestFields
        /// Whether equal requests that find nothing wait for one transfer, as ``CommandOptions/coalesced`` would have it; none
        /// for one that was sent before the response was last removed, or made void by an unsafe request. Default: no.
        public var collapsesMisses = false
        /// For how long after it has expired an entry may stand in where the network fails: no response, or one of status
        /// 500, 502, 503 or 504. Where the response itself says something (RFC 5861, `stale-if-error`,
        /// `must-revalidate`), that counts. Default, `nil`: not at all.
        public var staleIfError: Duration?

        init(_ kind: Kind) { self.kind = kind }
    }

    /// So that a policy is passed on without a copy of its members.
    final class Box: Sendable {
        let members: Members
        init(_ members: Members) { self.members = members }
    }

    /// `nil`: off.
    private(set) var box: Box?

    private init(_ box: Box?) { self.box = box }

    init(_ members: Members) { box = Box(members) }

    /// Nothing is read and nothing stored.
    public static let off = CachePolicy(nil)

    /// Fields that interceptors add to tell one request from another, or to say something to a cache, and not who asks: of
    /// tracing (W3C Trace Context, Baggage, B3), request numbers, and what RFC 9110 13 and RFC 9111 5 define.
    public static let requestFields: Set<String> = [
        "traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId",
        "X-B3-Sampled", "X-B3-Flags", "X-Request-Id", "Request-Id", "X-Correlation-Id", "Idempotency-Key", "Date",
        "Cache-Control",
        "Pragma", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
    ]
    private static let lowercasedRequestFields = Set(requestFields.map { $0.lowercased() })

    /// By RFC 9111: the server says for how long. GET and HEAD alone; responses to other methods void what is stored for
    /// their URL.
    public static let http = CachePolicy(Members(.http))

    /// By RFC 9111, with another order of asking.
    public static func http(reading: CacheReading) -> CachePolicy {
        var members = Members(.http)
        members.reading = reading
        return CachePolicy(members)
    }

    /// By time and version, whatever the server says: for all methods, the bytes of a body being part of the key. Only what
    /// the command accepted, decoded and validated is stored.
    ///
    /// - Parameters:
    ///   - timeToLive: So long is a response used (YTKNetwork `cacheTimeInSeconds`). Zero or less: what is stored has
    ///     expired, and nothing is stored.
    ///   - version: Of the data, as the command understands it. What was stored with another one, lower or higher, is not
    ///     used (YTKNetwork `cacheVersion`).
    ///   - sensitiveData: Whose data it is, such as the name of a user: others do not find it. Goes into the key and the
    ///     record as a SHA-256, never as it is (YTKNetwork `cacheSensitiveData`).
    ///   - requiresApplicationVersion: Whether what another version of the program stored
    ///     (``ResponseCache/applicationVersion``) is not used. Default: no.
    ///   - reading: Default: ``CacheReading/cacheElseNetwork``.
    public static func timed(
        _ timeToLive: Duration, version: Int64 = 0, sensitiveData: String? = nil,
        requiresApplicationVersion: Bool = false, reading: CacheReading = .cacheElseNetwork
    ) -> CachePolicy {
        var digest: String?
        if let sensitiveData {
            // Without it one user would find another's.
            guard let hash = SHA256.digest(of: Array(sensitiveData.utf8)) else { return .off }
            digest = SHA256.hex(hash)
        }
        var members = Members(
            .timed(
                timeToLive: timeToLive, version: version, sensitiveDigest: digest,
                requiresApplicationVersion: requiresApplicationVersion))
        members.reading = reading
        return CachePolicy(members)
    }

    /// Whether it is ``off``.
    public var isOff: Bool { box == nil }

    /// The members; of ``off`` they have their defaults, and setting them changes nothing.
    public subscript<Value>(dynamicMember member: WritableKeyPath<Members, Value>) -> Value {
        get { (box?.members ?? Members(.http))[keyPath: member] }
        set {
            guard var members = box?.members else { return }
            members[keyPath: member] = newValue
            box = Box(members)
        }
    }

    /// The same in another order of asking.
    public func with(reading: CacheReading) -> CachePolicy {
        var policy = self
        policy.reading = reading
        return policy
    }
}

extension CachePolicy.Members {
    var isTimed: Bool {
        if case .timed = kind { true } else { false }
    }
}

extension Duration {
    /// Rounded down, and bounded so that sums do not overflow.
    var cacheMilliseconds: Int64 {
        let bound: Int64 = 1 << 43
        let seconds = min(max(components.seconds, -bound), bound)
        return seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
