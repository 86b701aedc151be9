import Errand

/// The counts of a client's resilience, by the labels of counters.
struct ResilienceTotals: Sendable {
    var retries: [String: Int] = [:]
    /// Why failures that the policy retries were not retried.
    var stops: [String: Int] = [:]
    var hedges: [String: Int] = [:]
    var refusals: [String: Int] = [:]
    var transitions: [String: Int] = [:]
    var waits: [String: Int] = [:]
    /// The counts of each remembered limit: the client's limits, and those of its commands.
    var limits: [ObjectIdentifier: LimitTotals] = [:]

    /// The present counts. `parts` is `nil`: there is no resilience.
    init(_ parts: ResilienceParts?) {
        guard let parts else { return }
        let counts = parts.counts
        retries = counts.retries
        for (stop, count) in counts.notRetried { stops[stop.rawValue] = count }
        hedges = [
            "sent": counts.hedges, "won": counts.hedgesWon, "refused": counts.hedgesRefused, "lost": counts.losers,
            "wouldSend": counts.wouldHedge, "wouldRefuse": counts.wouldRefuseHedge,
        ]
        refusals = ["breaker": counts.refusedByBreaker, "limit": counts.refusedByLimit]
        for (state, count) in counts.transitions { transitions[state.rawValue] = count }
        waits = ["concurrency": counts.waitsForConcurrency, "rate": counts.waitsForRate]
        for limit in parts.allConcurrencyLimits { add(limit, LimitResult.counts(of: limit), "concurrency") }
        for limit in parts.allRateLimits { add(limit, LimitResult.counts(of: limit), "rate") }
    }

    private mutating func add(_ limit: any AnyObject & Sendable, _ counts: [String: Int], _ kind: String) {
        var results: [LimitResult: Int] = [:]
        for (result, count) in counts { results[LimitResult(kind: kind, result: result)] = count }
        limits[ObjectIdentifier(limit)] = LimitTotals(limit: limit, results: results)
    }
}

/// The counts of one limit. The limit is kept, so that no other limit gets its identifier.
struct LimitTotals: Sendable {
    let limit: any AnyObject & Sendable
    let results: [LimitResult: Int]
}

/// The labels of a result of a limit.
struct LimitResult: Hashable, Sendable {
    let kind: String
    let result: String

    /// By the label of the result.
    fileprivate static func counts(of limit: ConcurrencyLimit) -> [String: Int] {
        let counts = limit.counts
        return [
            "granted": counts.granted, "waited": counts.waited, "refused": counts.refused,
            "displaced": counts.displaced, "expired": counts.expired, "cancelled": counts.cancelled,
            "wouldWait": counts.wouldWait, "wouldRefuse": counts.wouldRefuse,
        ]
    }

    /// By the label of the result.
    fileprivate static func counts(of limit: RateLimit) -> [String: Int] {
        let counts = limit.counts
        return [
            "granted": counts.granted, "waited": counts.delayed, "refused": counts.refused,
            "cancelled": counts.cancelled, "paused": counts.pauses, "wouldWait": counts.wouldDelay,
            "wouldRefuse": counts.wouldRefuse,
        ]
    }
}
