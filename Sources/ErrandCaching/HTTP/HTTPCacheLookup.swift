import HTTPTypes

/// The decision before the network (RFC 9111 4), from the request, the responses stored for its URL, and the time.
enum HTTPCacheLookup {
    static func decide(
        _ request: HTTPCacheRequest, stored: [HTTPCacheEntry], now: CacheTime, rules: HTTPCacheRules,
        digest: VaryValues.Digest
    ) -> HTTPCacheDecision {
        let decision = unrestricted(request, stored, now, rules, digest)
        guard request.control.flags.contains(.onlyIfCached) else { return decision }
        switch decision {
        case .fresh, .unsatisfiable: return decision
        case .stale(let entry, let age, _): return .stale(entry: entry, age: age, revalidation: nil)
        case .revalidate, .miss: return .unsatisfiable
        }
    }

    private static func unrestricted(
        _ request: HTTPCacheRequest, _ stored: [HTTPCacheEntry], _ now: CacheTime, _ rules: HTTPCacheRules,
        _ digest: VaryValues.Digest
    ) -> HTTPCacheDecision {
        // A stored response answers a GET, and so a HEAD too (RFC 9110 9.3.2).
        guard request.method == .get || request.method == .head else { return .miss(.method) }
        guard !request.isConditionalOrPartial else { return .miss(.bypass) }
        guard !stored.isEmpty else { return .miss(.nothingStored) }
        let matching = matches(request, stored, digest)
        guard !matching.isEmpty else { return .miss(.vary) }
        guard let index = newest(matching.filter { isUsable(stored[$0], rules) }, of: stored) else {
            return .miss(.unusable)
        }
        let entry = stored[index]
        let age = entry.age(at: now)
        switch use(of: entry, age: age, for: request, rules) {
        case .fresh: return .fresh(entry: index, age: age)
        case .stale: return .stale(entry: index, age: age, revalidation: nil)
        case .staleWhileRevalidating: return .stale(entry: index, age: age, revalidation: entry.conditions)
        case .no(let reason): return .revalidate(entry: index, conditions: entry.conditions, reason: reason)
        }
    }

    /// The entries that could answer the request if they were fresh (RFC 9111 4.1).
    static func matches(
        _ request: HTTPCacheRequest, _ stored: [HTTPCacheEntry], _ digest: VaryValues.Digest
    ) -> [Int] {
        stored.indices.filter {
            stored[$0].isMatchable && stored[$0].vary.matches(request.headers, digest: digest)
        }
    }

    /// RFC 9111 4 and 4.1: the entry with the latest `Date`. An entry with `Vary` is preferred: an entry without `Vary`
    /// may lack it by mistake.
    static func newest(_ candidates: [Int], of stored: [HTTPCacheEntry]) -> Int? {
        candidates.max { left, right in
            let (left, right) = (stored[left], stored[right])
            let hasVary = (left.vary.names.isEmpty ? 0 : 1, right.vary.names.isEmpty ? 0 : 1)
            return (hasVary.0, left.date, left.responseTime) < (hasVary.1, right.date, right.responseTime)
        }
    }

    /// Checks entries from any store: a response that must not be stored is not served.
    private static func isUsable(_ entry: HTTPCacheEntry, _ rules: HTTPCacheRules) -> Bool {
        let flags = entry.control.flags
        if flags.contains(.noStore), !flags.contains(.mustUnderstand) { return false }
        if rules.isShared, entry.control.private == .everything { return false }
        return entry.statusCode != 206 && entry.statusCode != 304
    }

    private enum Use {
        case fresh, stale, staleWhileRevalidating
        case no(HTTPCacheDecision.Reason)
    }

    private static func use(
        of entry: HTTPCacheEntry, age: Int64, for request: HTTPCacheRequest, _ rules: HTTPCacheRules
    ) -> Use {
        let control = request.control
        if entry.control.noCache == .everything { return .no(.stale) }
        if control.noCache == .everything { return .no(.request) }
        let lifetime = entry.lifetime(rules).span
        if age < lifetime {
            // RFC 8246 2: a fresh immutable response does not change, so its age is no reason to revalidate.
            let isYoungEnough = isYoungEnough(age, control) || entry.control.flags.contains(.immutable)
            let staysFresh = lifetime - age >= (control.minFresh ?? 0) * 1000
            return isYoungEnough && staysFresh ? .fresh : .no(.request)
        }
        let staleness = age - lifetime
        // A request with min-fresh does not accept a stale response either.
        guard !entry.mustBeValidatedWhenStale(rules), control.minFresh == nil, isYoungEnough(age, control) else {
            return .no(.stale)
        }
        if let maxStale = control.maxStale, staleness <= maxStale * 1000 { return .stale }
        // RFC 9111 5.2.1.1: max-age without max-stale means that no stale response is accepted.
        if control.maxAge == nil, let seconds = entry.control.staleWhileRevalidate, seconds > 0,
            staleness <= seconds * 1000
        {
            return .staleWhileRevalidating
        }
        return .no(.stale)
    }

    /// RFC 9111 5.2.1.1. `max-age=0` requires revalidation, even within the first millisecond.
    private static func isYoungEnough(_ age: Int64, _ control: CacheControl) -> Bool {
        guard let maxAge = control.maxAge else { return true }
        return maxAge > 0 && age <= maxAge * 1000
    }

    /// The stored response for a client that accepts an expired one. `nil`: there is none, or it must not be used
    /// without revalidation (RFC 9111 4.2.4). `staleness` in milliseconds; negative for a fresh response.
    static func stale(
        _ request: HTTPCacheRequest, stored: [HTTPCacheEntry], now: CacheTime, _ rules: HTTPCacheRules,
        _ digest: VaryValues.Digest
    ) -> (entry: Int, age: Int64, staleness: Int64)? {
        guard request.method == .get || request.method == .head, !request.isConditionalOrPartial else { return nil }
        let usable = matches(request, stored, digest).filter { isUsable(stored[$0], rules) }
        guard let index = newest(usable, of: stored), !stored[index].mustBeValidatedWhenStale(rules) else { return nil }
        let age = stored[index].age(at: now)
        return (index, age, age - stored[index].lifetime(rules).span)
    }

    /// Whether `entry` may be served if the server fails or cannot be reached (RFC 5861 4, RFC 9111 4.2.4).
    static func mayServeStale(
        _ entry: HTTPCacheEntry, for request: HTTPCacheRequest, now: CacheTime, rules: HTTPCacheRules
    ) -> Bool {
        let age = entry.age(at: now)
        let staleness = age - entry.lifetime(rules).span
        guard isUsable(entry, rules), !entry.mustBeValidatedWhenStale(rules) else { return false }
        // A request with no-cache requires the server's answer, unless the same request has stale-if-error.
        guard request.control.noCache != .everything || request.control.staleIfError != nil else { return false }
        let spans = [request.control.staleIfError, entry.control.staleIfError].compactMap { $0 }
        guard let seconds = spans.max() ?? rules.staleIfError else { return false }
        return staleness <= min(max(seconds, 0), CacheControl.longest) * 1000
    }
}
