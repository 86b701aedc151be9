extension CachePolicy {
    enum Kind: Sendable {
        case timed(timeToLive: Duration, version: Int64, sensitiveDigest: String?, requiresApplicationVersion: Bool)
        case http
    }

    /// The members that both kinds of policy have.
    package struct Members: Sendable {
        let kind: Kind
        package var reading = CacheReading.cacheElseNetwork
        package var tags: [String] = []
        package var namespace: String?
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

    /// A class, so that passing a policy on does not copy its members.
    package final class Box: CachePolicyKind {
        package let members: Members
        init(_ members: Members) { self.members = members }

        package func makeCache(over base: CacheBase) -> any ClientCache { ResponseCache().makeCache(over: base) }

        package func plan(reading: CacheReading?, in cache: any ClientCache) -> (any CachePlan)? {
            guard let carrier = cache as? CacheCarrier else { return nil }
            return ResponseCachePlan(self, reading: reading, in: carrier.cache)
        }
    }

    /// The members; `nil` if the policy is ``off``.
    package var box: Box? { kind as? Box }

    init(_ members: Members) { self.init(Box(members)) }

    /// Header fields that do not identify the user, although interceptors add them: tracing fields (W3C Trace Context,
    /// Baggage, B3), request numbers, and the fields that RFC 9110 13 and RFC 9111 5 define.
    public static let requestFields: Set<String> = [
        "traceparent", "tracestate", "baggage", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId",
        "X-B3-Sampled", "X-B3-Flags", "X-Request-Id", "Request-Id", "X-Correlation-Id", "Idempotency-Key", "Date",
        "Cache-Control",
        "Pragma", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
    ]
    private static let lowercasedRequestFields = Set(requestFields.map { $0.lowercased() })

    /// Caching by RFC 9111: the server decides how long a response is fresh. Only responses to GET and HEAD are stored.
    /// Responses to unsafe methods invalidate the responses that are stored for their URL.
    public static let http = CachePolicy(Members(.http))

    /// Caching by RFC 9111, with another order of reading the cache and the network.
    public static func http(reading: CacheReading) -> CachePolicy {
        var members = Members(.http)
        members.reading = reading
        return CachePolicy(members)
    }

    /// Caching by time and version; the server's caching fields are ignored. Applies to all methods. The bytes of a
    /// request body are part of the key. Only a response that the command accepted, decoded and validated is stored, as it
    /// was received. If an interceptor such as a `Fallback` answers instead, nothing is stored. Therefore interceptors
    /// that change a response return it with ``Response/replacing(body:headers:)``.
    ///
    /// - Parameters:
    ///   - timeToLive: How long a response is used (YTKNetwork `cacheTimeInSeconds`). With zero or less, stored
    ///     responses count as expired and nothing is stored.
    ///   - version: The version of the data, as the command understands it. A response stored with another version,
    ///     lower or higher, is not used (YTKNetwork `cacheVersion`).
    ///   - sensitiveData: The owner of the data, such as a user name. Requests with another value do not find the
    ///     response. Only a SHA-256 of the value, never the value, is part of the key and the record (YTKNetwork
    ///     `cacheSensitiveData`).
    ///   - requiresApplicationVersion: Whether responses that another version of the program
    ///     (``ResponseCache/applicationVersion``) stored are ignored. Default: no.
    ///   - reading: Default: ``CacheReading/cacheElseNetwork``.
    public static func timed(
        _ timeToLive: Duration, version: Int64 = 0, sensitiveData: String? = nil,
        requiresApplicationVersion: Bool = false, reading: CacheReading = .cacheElseNetwork
    ) -> CachePolicy {
        var digest: String?
        if let sensitiveData {
            // Without the digest, one user would find another user's response.
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

    /// The same policy with another order of reading the cache and the network.
    public func with(reading: CacheReading) -> CachePolicy {
        var policy = self
        policy.reading = reading
        return policy
    }
}

/// Settings of every policy except ``CachePolicy/off``. Setting one of them on ``CachePolicy/off`` changes nothing.
extension CachePolicy {
    /// The order in which the cache and the network are read. Default: ``CacheReading/cacheElseNetwork``.
    public var reading: CacheReading {
        get { members.reading }
        set { set { $0.reading = newValue } }
    }

    /// Labels by which ``ResponseCache/remove(tag:)`` removes many responses at once. Default: none.
    public var tags: [String] {
        get { members.tags }
        set { set { $0.tags = newValue } }
    }

    /// Separates these responses from others with the same URL. Default, `nil`: ``ResponseCache/namespace``. An
    /// empty text is a namespace too: it is the namespace of caches that set none.
    public var namespace: String? {
        get { members.namespace }
        set { set { $0.namespace = newValue } }
    }

    /// Names of query items that are not part of the key, such as a time stamp or a signature: URLs that differ only in
    /// these items share one entry. A name matches as written in the URL or decoded. Default: none (YTKNetwork
    /// `cacheFileNameFilterForRequestArgument:`).
    public var ignoredQueryItems: Set<String> {
        get { members.ignoredQueryItems }
        set { set { $0.ignoredQueryItems = newValue } }
    }

    /// Turns a request's URL into the URL that the key is made of, after ``ignoredQueryItems`` were dropped. The URL
    /// that is sent does not change. Called on the thread that submits the request, once or more. Default: `nil`.
    public var keyURL: (@Sendable (String) -> String)? {
        get { members.keyURL }
        set { set { $0.keyURL = newValue } }
    }

    /// Whether requests with different credentials share entries. Credentials are the fields of
    /// ``Redaction/secretHeaders`` (such as `Authorization`, `Cookie` and `X-Api-Key`), all fields that an interceptor
    /// or authenticator adds, ``identityFields``, Digest, user information of URLs, the client certificate, and the
    /// client's cookie jar. Default: no, so that no user receives another user's response. With the default, a response
    /// that was stored by a client with a cookie jar in memory (``CookieStorage/memory``) is found only by that client.
    /// With ``CachePolicy/http``, a shared cache ignores `Authorization` and Digest in any case, and stores only what
    /// RFC 9111 3.5 allows.
    public var ignoresCredentials: Bool {
        get { members.ignoresCredentials }
        set { set { $0.ignoresCredentials = newValue } }
    }

    /// Names of further header fields that identify the user, in addition to the known ones (see
    /// ``ignoresCredentials``), such as an `X-Tenant` that the command itself sets. Case does not matter. Default:
    /// none.
    public var identityFields: Set<String> {
        get { members.identityFields }
        set { set { $0.identityFields = newValue } }
    }

    /// Names of header fields that do not identify the user, although an interceptor adds them or
    /// ``Redaction/secretHeaders`` contains them. Requests that differ only in these fields share entries. Such
    /// requests do not share a transfer: coalescing requires all fields to be equal. Case does not matter. Do not name
    /// a field on which the server's response depends. Default: ``CachePolicy/requestFields``.
    public var ignoredFields: Set<String> {
        get { members.ignoredFields }
        set { set { $0.ignoredFields = newValue } }
    }

    /// Whether equal requests that miss wait for one transfer, as with ``CommandOptions/coalesced``. A request does not
    /// join a transfer that was sent before the response was last removed, or invalidated by an unsafe request.
    /// Default: no.
    public var collapsesMisses: Bool {
        get { members.collapsesMisses }
        set { set { $0.collapsesMisses = newValue } }
    }

    /// How long after its expiry an entry may be used when the network fails, that is, if there is no response or one
    /// with the status 500, 502, 503 or 504. Directives of the response itself (RFC 5861, `stale-if-error`,
    /// `must-revalidate`) take precedence. Default, `nil`: not at all.
    public var staleIfError: Duration? {
        get { members.staleIfError }
        set { set { $0.staleIfError = newValue } }
    }

    /// The members; the defaults if the policy is ``off``.
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
