import Errand

/// What the resilience of a scenario's clients did (`Client.Configuration.resilience`).
///
/// It counts from the beginning of the measured part to the end of the run. Requests of the warm-up that are in flight at the
/// beginning are not distinguished. Scenarios that share their parts (`Client.Configuration.resilienceParts`) have one
/// count, in the first of these scenarios.
public struct LoadResilience: Sendable, Hashable, Codable {
    /// Retries by reason: `status503`, `noConnection`.
    public var retries: [String: UInt64] = [:]
    /// Hedges that were sent.
    public var hedges: UInt64 = 0
    /// Hedges whose response became that of the request.
    public var hedgesWon: UInt64 = 0
    /// Attempts that a breaker refused.
    public var refusedByBreaker: UInt64 = 0

    /// Nothing.
    public init() {}

    /// What happened between two readings of the same parts. `before` is `nil`: since they were made.
    init(_ now: ResilienceParts.Counts, since before: ResilienceParts.Counts?) {
        func difference(_ now: Int, _ before: Int?) -> UInt64 { UInt64(clamping: now - (before ?? 0)) }
        for (reason, count) in now.retries {
            let more = difference(count, before?.retries[reason])
            if more > 0 { retries[reason] = more }
        }
        hedges = difference(now.hedges, before?.hedges)
        hedgesWon = difference(now.hedgesWon, before?.hedgesWon)
        refusedByBreaker = difference(now.refusedByBreaker, before?.refusedByBreaker)
    }

    /// Adds what happened in another part of the run.
    public static func += (left: inout LoadResilience, right: LoadResilience) {
        left.retries.merge(right.retries, uniquingKeysWith: +)
        left.hedges += right.hedges
        left.hedgesWon += right.hedgesWon
        left.refusedByBreaker += right.refusedByBreaker
    }

    /// The reasons of retries, the most frequent first.
    var sortedRetries: [(reason: String, count: UInt64)] {
        retries.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (reason: $0.key, count: $0.value) }
    }
}
