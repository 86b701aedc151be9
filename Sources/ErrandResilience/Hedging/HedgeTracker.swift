import Synchronization

/// What hedging knows about one host: its latencies, and the hedges' own budget.
///
/// All methods may be called on any thread; none of them fails or waits.
public final class HedgeTracker: Sendable {
    /// When calls to the host are hedged.
    public let policy: HedgePolicy
    /// The hedges' own budget. Each call deposits once; a hedge withdraws through
    /// ``WithdrawOnlyRetryBudget/limited(by:)``.
    public let budget: RetryBudget
    private let latencies: Mutex<Measured>
    private let time: @Sendable () -> Duration

    private struct Measured: Sendable {
        var window: LatencyWindow
        /// The delay, computed again once in ``refreshTime`` because it takes a pass over all buckets.
        var delay: Duration?
        var isValidUntil = Duration.zero
    }

    /// How long a computed delay is used (Finagle: 3 s).
    private static let refreshTime = Duration.seconds(1)

    /// Makes a tracker without samples.
    public convenience init(_ policy: HedgePolicy = HedgePolicy(), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(policy, time: Stopwatch(clock).now)
    }

    init(_ policy: HedgePolicy, time: @escaping @Sendable () -> Duration) {
        self.policy = policy
        self.time = time
        budget = RetryBudget(policy.budget, time: time)
        latencies = Mutex(Measured(window: LatencyWindow(span: policy.window)))
    }

    /// An attempt has ended, or was cancelled, at this age.
    public func record(_ sample: LatencySample, age: Duration) {
        latencies.withLock { $0.window.recorded(age, sample, now: time()) }
    }

    /// The wait before a hedge of a call that begins now; `nil`: the call is not hedged.
    public var delay: Duration? {
        latencies.withLock { measured in
            let now = time()
            if let delay = measured.delay, now < measured.isValidUntil { return delay }
            measured.delay = policy.delay(by: &measured.window, now: now)
            measured.isValidUntil = now.clampedTime(plus: Self.refreshTime)
            return measured.delay
        }
    }

    /// Takes a token of the hedges' own budget for a hedge that is only counted. `shared`: the retry budget of the
    /// host, from which nothing is taken.
    func withdrawInDryRun(beside shared: RetryBudget?) -> Bool {
        guard budget.withdraw() else { return false }
        guard shared?.hasToken ?? true else {
            budget.giveBack()
            return false
        }
        return true
    }

    /// The latency that this share of the recent calls did not exceed; `nil`: there are no samples.
    public func percentile(_ share: Double) -> Duration? {
        latencies.withLock { $0.window.percentile(share, now: time()) }
    }
}
