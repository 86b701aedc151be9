import HTTPTypes

/// A shortcut for the most frequent case: a stored response that is fresh and that the request accepts. Pure.
///
/// If this returns `nil`, ``TimedExchange`` and ``HTTPExchange`` decide. If this returns a response, they would return
/// the same response.
enum CacheHit {
    /// `nil`: the full lookup has to decide.
    static func response(
        _ record: CacheRecord, under key: CacheKey, for description: RequestDescription, _ plan: ResponseCachePlan
    ) -> Response? {
        plan.members.isTimed ? timed(record, description, plan) : http(record, key, description, plan)
    }

    private static func timed(
        _ record: CacheRecord, _ description: RequestDescription, _ plan: ResponseCachePlan
    ) -> Response? {
        // A stored redirect needs the full lookup, which records the run's first request: the response of the
        // redirect's target is stored under that request.
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
        // A request without any field that concerns caches needs no parsing.
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
    /// Whether a fresh stored response ends the transfer.
    var servesHits: Bool {
        guard !isHop, !isSecond else { return false }
        switch reading {
        case .cacheElseNetwork, .cacheOnly, .cacheThenNetwork: return true
        case .networkOnly, .networkElseCache: return false
        }
    }
}

extension HeaderBlock {
    /// Whether the request has a field that controls caches (RFC 9111 5.2 and 5.4), or a field that asks for something
    /// other than the whole response (RFC 9110 13.1 and 14.2).
    var concernsCaches: Bool {
        bytes.withUnsafeBytes { HeaderParser.hasField(of: Self.concerningCaches, in: $0) }
    }

    /// Names in lower case.
    private static let concerningCaches = [
        "cache-control", "pragma", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
        "if-unmodified-since",
    ]
}
