extension CachePolicy {
    enum Kind: Sendable {
        case timed(timeToLive: Duration, version: Int64, sensitiveDigest: String?, requiresApplicationVersion: Bool)
        case http
    }

    /// What may be set of both kinds.
    package struct Members: Sendable {
        let kind: Kind
        package var reading = CacheReading.cacheElseNetwork
        package var tags: [String] = []
        package var namespace = ""
        package var ignoredQueryItems: Set<String> = []
        package var keyURL: (@Sendable (String) -> String)?
        package var ignoresCredentials = false
        package var identityFields: Set<String> = []
        package var ignoredFields = CachePolicy.requestFields {
            didSet { ignored = Set(ignoredFields.map { $0.lowercased() }) }
        }
        /// ``ignoredFields`` in lower case.
        private(set) var ignored = CachePolicy.lowercasedRequestFields
        package var collapsesMisses = false
        package var staleIfError: Duration?

        init(_ kind: Kind) { self.kind = kind }
    }

    /// So that a policy is passed on without a copy of its members.
    package final class Box: CachePolicyKind {
        package let members: Members
        init(_ members: Members) { self.members = members }

        package func makeCache(over base: CacheBase) -> any ClientCache { ResponseCache().makeCache(over: base) }

        package func plan(reading: CacheReading?, in cache: any ClientCache) -> (any CachePlan)? {
            guard let carrier = cache as? CacheCarrier else { return nil }
            return ResponseCachePlan(self, reading: reading, in: carrier.cache)
        }
    }

    /// `nil`: off.
    package var box: Box? { kind as? Box }

    init(_ members: Members) { self.init(Box(members)) }

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

    /// The same in another order of asking.
    public func with(reading: CacheReading) -> CachePolicy {
        var policy = self
        policy.reading = reading
        return policy
    }
}

/// What may be set of each policy but ``CachePolicy/off``, where setting changes nothing.
extension CachePolicy {
    /// Default: ``CacheReading/cacheElseNetwork``.
    public var reading: CacheReading {
        get { members.reading }
        set { set { $0.reading = newValue } }
    }

    /// Words by which many responses are removed at once, by ``ResponseCache/remove(tag:)``. Default: none.
    public var tags: [String] {
        get { members.tags }
        set { set { $0.tags = newValue } }
    }

    /// Keeps these responses apart from those of others with the same URL. Default, empty: ``ResponseCache/namespace``.
    public var namespace: String {
        get { members.namespace }
        set { set { $0.namespace = newValue } }
    }

    /// Names of query items that do not count, such as a time stamp or a signature: URLs that differ in them alone are
    /// one entry. As they are written in the URL, or decoded. Default: none (YTKNetwork
    /// `cacheFileNameFilterForRequestArgument:`).
    public var ignoredQueryItems: Set<String> {
        get { members.ignoredQueryItems }
        set { set { $0.ignoredQueryItems = newValue } }
    }

    /// Makes of a request's URL what it is known by in the cache, after ``ignoredQueryItems`` were dropped; what is sent
    /// stays as it is. Called where the request is submitted, once or more. Default: `nil`.
    public var keyURL: (@Sendable (String) -> String)? {
        get { members.keyURL }
        set { set { $0.keyURL = newValue } }
    }

    /// Whether requests with other credentials share entries: the fields of ``Redaction/secretHeaders`` (`Authorization`,
    /// `Cookie`, `X-Api-Key` and the like), all that an interceptor or authenticator adds, ``identityFields``, Digest, user
    /// information of URLs, client certificate, the client's cookie jar. Default: no, so that nobody is given another's
    /// response; what was stored by a client with a jar in memory (``CookieStorage/memory``) is then found by that client
    /// alone. By HTTP a shared cache does not look at `Authorization` and Digest anyway, and keeps what RFC 9111 3.5 lets
    /// it.
    public var ignoresCredentials: Bool {
        get { members.ignoresCredentials }
        set { set { $0.ignoresCredentials = newValue } }
    }

    /// Names of header fields that tell who asks, beside those that are known to (see ``ignoresCredentials``): one that the
    /// command itself sets, such as `X-Tenant`. Case does not matter. Default: none.
    public var identityFields: Set<String> {
        get { members.identityFields }
        set { set { $0.identityFields = newValue } }
    }

    /// Names of header fields that do not tell who asks, although an interceptor adds them or their name is among
    /// ``Redaction/secretHeaders``: requests that differ in them alone share entries. Of transfers they
    /// share none: what waits for another's is equal in all fields. Case does not matter. Name none by which the server
    /// decides what to say. Default: ``CachePolicy/requestFields``.
    public var ignoredFields: Set<String> {
        get { members.ignoredFields }
        set { set { $0.ignoredFields = newValue } }
    }

    /// Whether equal requests that find nothing wait for one transfer, as ``CommandOptions/coalesced`` would have it; none
    /// for one that was sent before the response was last removed, or made void by an unsafe request. Default: no.
    public var collapsesMisses: Bool {
        get { members.collapsesMisses }
        set { set { $0.collapsesMisses = newValue } }
    }

    /// For how long after it has expired an entry may stand in where the network fails: no response, or one of status
    /// 500, 502, 503 or 504. Where the response itself says something (RFC 5861, `stale-if-error`,
    /// `must-revalidate`), that counts. Default, `nil`: not at all.
    public var staleIfError: Duration? {
        get { members.staleIfError }
        set { set { $0.staleIfError = newValue } }
    }

    /// The members; of ``off`` they have their defaults.
    private var members: Members { box?.members ?? Members(.http) }

    private mutating func set(_ change: (inout Members) -> Void) {
        guard var members = box?.members else { return }
        change(&members)
        self = CachePolicy(members)
    }
}

extension CachePolicy.Members {
    package var isTimed: Bool {
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
