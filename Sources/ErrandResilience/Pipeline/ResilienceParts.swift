import Synchronization

/// The budgets, breakers and limits of a client with ``Resilience``, and what they have counted. Keys are origins, such
/// as `https://api.test:443`, or the names that commands give.
///
/// Clients that call the same services share the parts of one of them: a breaker then sees the failures of all of them,
/// and a limit holds for all of them together.
///
/// ```swift
/// let parts = ResilienceParts(.standard)
/// configuration.resilience = .standard
/// configuration.resilienceParts = parts
/// ```
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
        /// The hedges that were sent: second attempts of transfers whose answer was late, or whose first attempt failed
        /// before that.
        public internal(set) var hedges = 0
        /// The hedges whose answer was that of the transfer.
        public internal(set) var hedgesWon = 0
        /// The attempts that were cancelled because another attempt of the transfer was faster.
        public internal(set) var losers = 0
        /// The hedges that were not sent because a budget was exhausted.
        public internal(set) var hedgesRefused = 0
        /// The hedges that a dry run would have sent (``HedgePolicy/isDryRun``).
        public internal(set) var wouldHedge = 0
        /// The hedges of a dry run that a budget would have refused.
        public internal(set) var wouldRefuseHedge = 0
        /// The attempts that a breaker refused.
        public internal(set) var refusedByBreaker = 0
        /// The attempts that a limit refused.
        public internal(set) var refusedByLimit = 0
        /// The attempts that did not immediately get a permit of the limit of requests in flight.
        public internal(set) var waitsForConcurrency = 0
        /// The attempts that had to wait for the limit of the rate, and had not waited for the limit of requests in
        /// flight before.
        public internal(set) var waitsForRate = 0
        /// The failed attempts that no retry followed although the policy retries such failures, by the reason:
        /// ``RetryStop/budgetExhausted``, ``RetryStop/deadlineTooClose``, ``RetryStop/attemptsExhausted``.
        public internal(set) var notRetried: [RetryStop: Int] = [:]
        /// The changes of state of all breakers, those of commands too, by the new state.
        public internal(set) var transitions: [BreakerState: Int] = [:]
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
    private let hedges = Atomic<Int>(0)
    private let hedgesWon = Atomic<Int>(0)
    private let losers = Atomic<Int>(0)
    private let hedgesRefused = Atomic<Int>(0)
    private let hedgesOfDryRuns = Atomic<Int>(0)
    private let refusalsOfDryRuns = Atomic<Int>(0)
    private let waitsForConcurrency = Atomic<Int>(0)
    private let waitsForRate = Atomic<Int>(0)
    private let retries = Mutex<[String: Int]>([:])
    private let stops = Mutex<[RetryStop: Int]>([:])
    private let transitions = TransitionTally()
    private let trackers = Mutex<[HedgePolicy: HedgeTrackers]>([:])
    /// The parts of commands with policies of their own.
    let commands: CommandParts
    /// The clock of all parts.
    let stopwatch: Stopwatch

    /// The most hedge policies of commands that have latencies of their own.
    private static let longestTrackers = 64

    /// Makes parts for clients to share.
    ///
    /// - Parameters:
    ///   - clock: a monotonic clock.
    ///   - onBreakerTransition: is called after each change of state of a breaker, for logs and metrics, in the same
    ///     way as by ``CircuitBreaker``: on the thread whose call caused the change. It must not block.
    public init(
        _ settings: Resilience, clock: any Clock<Duration> = ContinuousClock(),
        onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)? = nil
    ) {
        let stopwatch = Stopwatch(clock)
        self.stopwatch = stopwatch
        budgets = settings.budget.map { RetryBudgets($0, time: stopwatch.now) }
        let onTransition = transitions.counting(onBreakerTransition)
        breakers = settings.breaker.map { CircuitBreakers($0, time: stopwatch.now, onTransition: onTransition) }
        concurrency = settings.concurrency.map { ConcurrencyLimit($0, stopwatch: stopwatch) }
        rate = settings.rate.map { RateLimit($0, clock: clock) }
        commands = CommandParts(stopwatch, onBreakerTransition: onTransition)
    }

    /// What has happened so far. The members are read one after the other while requests run.
    public var counts: Counts {
        Counts(
            transfers: transfers.load(ordering: .relaxed), attempts: attempts.load(ordering: .relaxed),
            retries: retries.withLock { $0 }, hedges: hedges.load(ordering: .relaxed),
            hedgesWon: hedgesWon.load(ordering: .relaxed), losers: losers.load(ordering: .relaxed),
            hedgesRefused: hedgesRefused.load(ordering: .relaxed),
            wouldHedge: hedgesOfDryRuns.load(ordering: .relaxed),
            wouldRefuseHedge: refusalsOfDryRuns.load(ordering: .relaxed),
            refusedByBreaker: refusedByBreaker.load(ordering: .relaxed),
            refusedByLimit: refusedByLimit.load(ordering: .relaxed),
            waitsForConcurrency: waitsForConcurrency.load(ordering: .relaxed),
            waitsForRate: waitsForRate.load(ordering: .relaxed), notRetried: stops.withLock { $0 },
            transitions: transitions.counts)
    }

    /// The latencies of a key, and the hedges' own budget. Each policy has its own.
    public func hedgeTracker(for key: String, _ policy: HedgePolicy) -> HedgeTracker {
        let trackers = trackers.withLock { all in
            if let found = all[policy] { return found }
            if all.count >= Self.longestTrackers { all.removeAll() }
            let made = HedgeTrackers(policy, time: stopwatch.now)
            all[policy] = made
            return made
        }
        return trackers.tracker(for: key)
    }

    func transferBegan() { transfers.wrappingAdd(1, ordering: .relaxed) }
    func attemptSent() { attempts.wrappingAdd(1, ordering: .relaxed) }
    func breakerRefused() { refusedByBreaker.wrappingAdd(1, ordering: .relaxed) }
    func limitRefused() { refusedByLimit.wrappingAdd(1, ordering: .relaxed) }
    func hedgeSent() { hedges.wrappingAdd(1, ordering: .relaxed) }
    func hedgesUnsent(_ count: Int) { hedges.wrappingSubtract(count, ordering: .relaxed) }
    func hedgeWon() { hedgesWon.wrappingAdd(1, ordering: .relaxed) }
    func hedgeRefused() { hedgesRefused.wrappingAdd(1, ordering: .relaxed) }
    func wouldHedge() { hedgesOfDryRuns.wrappingAdd(1, ordering: .relaxed) }
    func wouldRefuseHedge() { refusalsOfDryRuns.wrappingAdd(1, ordering: .relaxed) }
    func lost(_ count: Int) { if count > 0 { losers.wrappingAdd(count, ordering: .relaxed) } }
    func retryStopped(_ reason: RetryStop) { stops.withLock { $0[reason, default: 0] += 1 } }

    func waits(for part: ResilienceDecision.Part) {
        if part == .rate {
            waitsForRate.wrappingAdd(1, ordering: .relaxed)
        } else {
            waitsForConcurrency.wrappingAdd(1, ordering: .relaxed)
        }
    }

    func retryDecided(_ reason: String) { retries.withLock { $0[reason, default: 0] += 1 } }
}
