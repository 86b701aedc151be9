import Synchronization

/// The budgets, breakers and limits of a client with ``Resilience``, and what they have counted. Keys are origins, such
/// as `https://api.test:443`.
///
/// All members may be used on any thread; none of them fails or waits.
public final class ResilienceParts: Sendable {
    /// What has happened so far, for all origins.
    public struct Counts: Sendable, Hashable {
        /// The transfers of the client's requests, each with all its attempts.
        public internal(set) var transfers = 0
        /// The attempts that were sent.
        public internal(set) var attempts = 0
        /// The retries that were decided, by the reason: `status503`, `noConnection`. Every one of them had a token of
        /// the budget. A retry may still not be sent, if the request is stopped or a breaker or limit refuses it.
        public internal(set) var retries: [String: Int] = [:]
        /// The attempts that a breaker refused.
        public internal(set) var refusedByBreaker = 0
        /// The attempts that a limit refused.
        public internal(set) var refusedByLimit = 0
    }

    /// The retry budgets; `nil`: off.
    public let budgets: RetryBudgets?
    /// The circuit breakers; `nil`: off.
    public let breakers: CircuitBreakers?
    /// The limit of requests in flight; `nil`: off.
    public let concurrency: ConcurrencyLimit?
    /// The limit of the rate; `nil`: off.
    public let rate: RateLimit?

    private let transfers = Atomic<Int>(0)
    private let attempts = Atomic<Int>(0)
    private let refusedByBreaker = Atomic<Int>(0)
    private let refusedByLimit = Atomic<Int>(0)
    private let retries = Mutex<[String: Int]>([:])

    init(_ settings: Resilience, clock: any Clock<Duration>) {
        budgets = settings.retry == nil ? nil : settings.budget.map { RetryBudgets($0, clock: clock) }
        breakers = settings.breaker.map { CircuitBreakers($0, clock: clock) }
        concurrency = settings.concurrency.map { ConcurrencyLimit($0, clock: clock) }
        rate = settings.rate.map { RateLimit($0, clock: clock) }
    }

    /// What has happened so far. The members are read one after the other while requests run.
    public var counts: Counts {
        Counts(
            transfers: transfers.load(ordering: .relaxed), attempts: attempts.load(ordering: .relaxed),
            retries: retries.withLock { $0 }, refusedByBreaker: refusedByBreaker.load(ordering: .relaxed),
            refusedByLimit: refusedByLimit.load(ordering: .relaxed))
    }

    func transferBegan() { transfers.wrappingAdd(1, ordering: .relaxed) }
    func attemptSent() { attempts.wrappingAdd(1, ordering: .relaxed) }
    func breakerRefused() { refusedByBreaker.wrappingAdd(1, ordering: .relaxed) }
    func limitRefused() { refusedByLimit.wrappingAdd(1, ordering: .relaxed) }
    func retryDecided(_ reason: String) { retries.withLock { $0[reason, default: 0] += 1 } }
}
