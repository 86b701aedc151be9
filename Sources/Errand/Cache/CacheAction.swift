import HTTPTypes

/// What a transfer does after the cache was looked at.
enum CacheAction: Sendable {
    /// `revalidation`: what the server is asked in the background.
    case serve(Response, CacheRun.Source, revalidation: CacheQuestion?)
    case ask(CacheQuestion)
    case fail(CacheMiss)
}

/// What the network is asked, and what the cache wants to know of the answer.
enum CacheQuestion: Sendable {
    /// Nothing: it is none of the cache's.
    case none
    /// Nothing: it has a policy, but is not cacheable.
    case passed(CachePlan, CacheStatus.Forward)
    case timed(TimedExchange)
    case http(HTTPExchange, conditions: HTTPFields)

    /// The header fields to send.
    func headers(of description: RequestDescription) -> HeaderBlock {
        guard case .http(_, let conditions) = self, !conditions.isEmpty else { return description.headers }
        // None of them is there: such a request is not the cache's.
        return HeaderBlock(bytes: description.headers.bytes + HeaderBlock(conditions).bytes)
    }
}

/// What is made of the network's answer.
enum CacheReply: Sendable {
    case deliver(TransferResult, CacheRun.Source, timed: TimedEntry? = nil)
    /// The same without conditions.
    case askAgain
}

/// One transfer by time and version.
struct TimedExchange: Sendable {
    let plan: CachePlan
    /// Whose response is stored: that of the run's first transfer, whose last hop's response it will be.
    let key: CacheKey
    let description: RequestDescription
    /// What was found.
    var record: CacheRecord?
    var verdict = TimedCacheRule.Verdict.miss(.notStored)
    /// `nil`: nothing was looked for.
    var wasRead = false

    mutating func begin(_ record: CacheRecord?, now: Int64) -> CacheAction {
        self.record = record
        wasRead = true
        verdict = TimedCacheRule.judge(
            record, plan.members.kind, headers: { description.headers.fields },
            applicationVersion: plan.cache.applicationVersion, now: now)
        if case .fresh(let left) = verdict, let record, plan.reading != .networkElseCache {
            return .serve(served(record, left: left, failure: nil, .stored), .stored, revalidation: nil)
        }
        return plan.reading == .cacheOnly ? .fail(verdict.miss) : .ask(.timed(self))
    }

    func ended(_ result: TransferResult, requestedAt: Int64, now: Int64) -> CacheReply {
        switch result {
        case .failure(let error):
            if error.isNetworkFailure, let response = standIn(failure: nil) {
                return .deliver(.response(response), .standIn)
            }
            return .deliver(result, .network)
        case .response(let response):
            if StatusCacheability.isServerFailure(response.statusCode),
                let stored = standIn(failure: response.statusCode)
            {
                return .deliver(.response(stored), .standIn)
            }
            let entry = TimedEntry(
                key: key, members: plan.members, description: description, response: response,
                requestedAt: requestedAt, respondedAt: now)
            let status = CacheStatus(cache: plan.cache.name, forward: wasRead ? verdict.forward : .bypass)
            return .deliver(
                .response(response.marked(CacheInfo(isServed: false, status))), .network, timed: entry)
        }
    }

    private func standIn(failure: Int?) -> Response? {
        guard let record else { return nil }
        switch verdict {
        case .fresh(let left): return served(record, left: left, failure: failure, .standIn)
        case .expired(let since):
            guard TimedCacheRule.mayStandIn(verdict, staleIfError: plan.members.staleIfError) else { return nil }
            return served(record, left: -since, failure: failure, .standIn)
        case .miss: return nil
        }
    }

    private func served(_ record: CacheRecord, left: Int64, failure: Int?, _ source: CacheRun.Source) -> Response {
        var status = CacheStatus(cache: plan.cache.name)
        status.timeToLive = left / 1000
        if source == .standIn {
            status.forward = verdict.forward
            status.forwardStatus = failure
            status.detail = "stand-in"
        }
        return Response(
            storage: CachedStorage(
                statusCode: record.status, head: record.head, body: record.body, CacheInfo(isServed: true, status)))
    }
}

extension ErrandError {
    /// Whether the server, or the way to it, is to blame: what is stored may stand in then.
    var isNetworkFailure: Bool {
        switch code {
        case .timeoutQueue, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal, .resolveFailed,
            .connectFailed, .proxyFailed, .tlsFailed, .sendFailed, .connectionLost, .receiveFailed, .partialBody,
            .malformedResponse, .protocolError:
            true
        default:
            false
        }
    }
}
