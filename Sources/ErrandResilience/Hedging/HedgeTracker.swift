import Synchronization

/// What hedging knows of one host: its latencies, and the hedges' own budget.
///
/// All methods may be called on any thread; none of them fails or waits.
public final class HedgeTracker: Sendable {
    /// When calls to the host are hedged.
    public let policy: HedgePolicy
    /// The hedges' own budget. Each call deposits once; a hedge withdraws through
    /// ``WithdrawOnlyRetryBudget/limited(by:)``.
    public let budget: RetryBudget
    private let latencies: Mutex<LatencyWindow>
    private let time: @Sendable () -> Duration

    /// Makes a tracker without samples.
    public convenience init(_ policy: HedgePolicy = HedgePolicy(), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(policy, time: Stopwatch(clock).now)
    }

    init(_ policy: HedgePolicy, time: @escaping @Sendable () -> Duration) {
        self.policy = policy
        self.time = time
        budget = RetryBudget(policy.budget, time: time)
        latencies = Mutex(LatencyWindow(span: policy.window))
    }

    /// An attempt has ended, or was cancelled, at this age.
    public func record(_ sample: LatencySample, age: Duration) {
        latencies.withLock { $0.recorded(age, sample, now: time()) }
    }

    /// The wait before a hedge of a call that begins now; `nil`: the call is not hedged.
    public var delay: Duration? {
        latencies.withLock { policy.delay(by: &$0, now: time()) }
    }

    /// The latency that this share of the recent calls did not exceed; `nil`: there are no samples.
    public func percentile(_ share: Double) -> Duration? {
        latencies.withLock { $0.percentile(share, now: time()) }
    }
}
