import HTTPTypes

/// One transfer with a timed policy.
struct TimedExchange: Sendable {
    let plan: ResponseCachePlan
    /// The key of the run's first transfer. The response of the run's last hop is stored under it.
    let key: CacheKey
    let description: RequestDescription
    /// When the transfer began, as a moment of ``CacheChanges``.
    let moment: UInt64
    /// The record that was found.
    var record: CacheRecord?
    var verdict = TimedCacheRule.Verdict.miss(.notStored)
    /// Whether the cache was read.
    var wasRead = false
    private var isCollapsed = false

    init(plan: ResponseCachePlan, key: CacheKey, description: RequestDescription, moment: UInt64) {
        self.plan = plan
        self.key = key
        self.description = description
        self.moment = moment
    }

    /// A copy; `isCollapsed`: the transfer waited for an equal one instead of being sent.
    func waiting(_ isCollapsed: Bool) -> TimedExchange {
        var exchange = self
        exchange.isCollapsed = isCollapsed
        return exchange
    }

    mutating func begin(_ record: CacheRecord?, now: Int64) -> CacheAction {
        self.record = record
        wasRead = true
        verdict = TimedCacheRule.judge(
            record, plan.members.kind, headers: { description.headers.fields },
            applicationVersion: plan.cache.applicationVersion, now: now)
        if case .fresh(let left) = verdict, let record, plan.reading != .networkElseCache {
            return .serve(served(record, left: left, failure: nil, .stored), .stored, revalidation: nil)
        }
        if case .expired(let since) = verdict, let record, plan.takesStale(expiredFor: since) {
            return .serve(served(record, left: -since, failure: nil, .standIn), .standIn, revalidation: nil)
        }
        return plan.reading == .cacheOnly ? .fail(verdict.miss) : .ask(.timed(self))
    }

    func ended(_ result: TransferResult, requestedAt: Int64, now: Int64) -> CacheReply {
        switch result {
        case .failure(let error):
            if error.networkFailure != nil, let response = standIn(failure: nil) {
                return .deliver(.response(response), .standIn)
            }
            return .deliver(result, .network)
        case .response(let response):
            if StatusCacheability.isServerFailure(response.statusCode),
                let stored = standIn(failure: response.statusCode)
            {
                return .deliver(.response(stored), .standIn)
            }
            var status = CacheStatus(cache: plan.cache.name, forward: wasRead ? verdict.forward : .bypass)
            status.isCollapsed = isCollapsed
            let info = HTTPCacheInfo(isServed: false, status)
            let entry = TimedEntry(
                key: key, box: plan.box, description: description, response: response,
                requestedAt: requestedAt, respondedAt: now, moment: moment, info: info)
            return .deliver(.response(response.marked(info)), .network, timed: entry)
        }
    }

    private func standIn(failure: Int?) -> Response? {
        guard let record else { return nil }
        switch verdict {
        case .fresh(let left): return served(record, left: left, failure: failure, .standIn)
        case .expired(let since):
            guard TimedCacheRule.mayServeStale(verdict, staleIfError: plan.members.staleIfError) else { return nil }
            return served(record, left: -since, failure: failure, .standIn)
        case .miss: return nil
        }
    }

    private func served(_ record: CacheRecord, left: Int64, failure: Int?, _ source: CacheSource) -> Response {
        var status = CacheStatus(cache: plan.cache.name)
        status.timeToLive = left / 1000
        if source == .standIn {
            status.forward = verdict.forward
            status.forwardStatus = failure
            status.isCollapsed = isCollapsed
            status.detail = "stand-in"
        }
        return Self.response(record, status)
    }

    static func response(_ record: CacheRecord, _ status: CacheStatus) -> Response {
        Response(
            statusCode: record.status, head: record.head, body: record.body,
            cacheInfo: HTTPCacheInfo(isServed: true, status))
    }
}
