import HTTPTypes

extension HTTPCacheEntry {
    /// How long the entry is fresh, and by which rule.
    struct Lifetime: Sendable, Hashable {
        enum Source: Sendable, Hashable {
            case sharedMaxAge, maxAge, expires, heuristic
            /// No rule gives a lifetime.
            case none
        }

        /// Milliseconds, 0 or more.
        let span: Int64
        let source: Source
    }

    /// RFC 9111 4.2.1, the first rule that applies.
    func lifetime(_ rules: HTTPCacheRules) -> Lifetime {
        if rules.isShared, let seconds = control.sharedMaxAge {
            return Lifetime(span: seconds * 1000, source: .sharedMaxAge)
        }
        if let seconds = control.maxAge { return Lifetime(span: seconds * 1000, source: .maxAge) }
        if let expires { return Lifetime(span: max(0, expires - date), source: .expires) }
        let isAllowed = StatusCacheability.isHeuristicallyCacheable(statusCode) || control.flags.contains(.public)
        guard isAllowed, let lastModified, lastModified < date else { return Lifetime(span: 0, source: .none) }
        let percent = Int64(min(max(rules.heuristicPercent, 0), 100))
        let limit = min(max(rules.heuristicLimit, 0), CacheControl.longest) * 1000
        return Lifetime(span: min((date - lastModified) / 100 * percent, limit), source: .heuristic)
    }

    /// RFC 9111 4.2.3, in milliseconds. A response time in the future (the clock was set back) counts as the same time
    /// in the past. Otherwise the entry would be used until the clock reaches that time, which may take years.
    func age(at now: CacheTime) -> Int64 {
        let apparentAge = max(0, responseTime - date)
        let responseDelay = max(0, responseTime - requestTime)
        let correctedAge = ageField * 1000 + responseDelay
        return max(apparentAge, correctedAge) + abs(now - responseTime)
    }

    /// RFC 9111 4.2.4: whether the server forbids using the stale entry without revalidation.
    func mustBeValidatedWhenStale(_ rules: HTTPCacheRules) -> Bool {
        if control.noCache == .everything || control.flags.contains(.mustRevalidate) { return true }
        // RFC 9111 5.2.2.10: s-maxage implies proxy-revalidate.
        return rules.isShared && (control.flags.contains(.proxyRevalidate) || control.sharedMaxAge != nil)
    }
}

/// The choices that RFC 9111 leaves to the cache.
struct HTTPCacheRules: Sendable, Hashable {
    /// Whether the cache serves more than one user (RFC 9111 1).
    var isShared = false
    /// The heuristic freshness lifetime, in percent of the time since the last modification (RFC 9111 4.2.2); 0: no
    /// heuristic freshness. 0...100.
    var heuristicPercent = 10
    /// Seconds; the longest heuristic lifetime.
    var heuristicLimit: Int64 = 86_400
    /// Seconds after its expiry for which a response may be served on failure, if the server sets no limit.
    var staleIfError: Int64?
}
