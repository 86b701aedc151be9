import HTTPTypes

/// The commonest answer of a cache by the shortest way: a response that is there, fresh, and all that is asked for. Pure.
///
/// What it says nothing of, ``TimedExchange`` and ``HTTPExchange`` decide; what it says is what they would.
enum CacheHit {
    /// `nil`: it takes a closer look.
    static func response(
        _ record: CacheRecord, under key: CacheKey, for description: RequestDescription, _ plan: ResponseCachePlan
    ) -> Response? {
        plan.members.isTimed ? timed(record, description, plan) : http(record, key, description, plan)
    }

    private static func timed(
        _ record: CacheRecord, _ description: RequestDescription, _ plan: ResponseCachePlan
    ) -> Response? {
        // What a redirect leads to is stored by what its run has sent first.
        guard !(300...399).contains(record.status) else { return nil }
        let verdict = TimedCacheRule.judge(
            record, plan.members.kind, headers: { description.headers.fields },
            applicationVersion: plan.cache.applicationVersion, now: plan.cache.now)
        guard case .fresh(let left) = verdict else { return nil }
        var status = CacheStatus(cache: plan.cache.name)
        status.timeToLive = left / 1000
        return TimedExchange.response(record, status)
    }

    private static func http(
        _ record: CacheRecord, _ key: CacheKey, _ description: RequestDescription, _ plan: ResponseCachePlan
    ) -> Response? {
        let (cache, method) = (plan.cache, description.method)
        cache.willHoldHTTP()
        // Where nothing in the request has to do with caches, none of it needs to be read.
        guard record.varyNames.isEmpty, !description.headers.concernsCaches,
            let head = cache.heads.head(of: record, under: key)
        else { return nil }
        let request = HTTPCacheRequest(method: method, url: description.url, headers: HTTPFields())
        let decision = HTTPCacheLookup.decide(
            request, stored: [head.entry], now: CacheTime(milliseconds: cache.now), rules: cache.rules,
            digest: ResponseCache.digest)
        guard case .fresh(_, let age) = decision else { return nil }
        var status = CacheStatus(cache: cache.name)
        status.timeToLive = (head.entry.lifetime(cache.rules).span - age).flooredSeconds
        return Response(
            statusCode: record.status, head: head.lines + "Age: \(max(0, age) / 1000)\r\n".utf8,
            body: method == .head ? [] : record.body,
            cacheInfo: HTTPCacheInfo(isServed: true, status))
    }
}

extension ResponseCachePlan {
    /// Whether what is stored ends the transfer, where it is fresh.
    var servesHits: Bool {
        guard !isHop, !isSecond else { return false }
        switch reading {
        case .cacheElseNetwork, .cacheOnly, .cacheThenNetwork: return true
        case .networkOnly, .networkElseCache: return false
        }
    }
}

extension HeaderBlock {
    /// Whether one of the fields is there by which a request tells caches what it wants (RFC 9111 5.2 and 5.4), or by which
    /// it wants something else than the whole response (RFC 9110 13.1 and 14.2).
    var concernsCaches: Bool {
        bytes.withUnsafeBytes { HeaderParser.hasField(of: Self.concerningCaches, in: $0) }
    }

    /// In lower case.
    private static let concerningCaches = [
        "cache-control", "pragma", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
        "if-unmodified-since",
    ]
}
