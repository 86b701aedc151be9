/// When a call that has no answer yet is sent a second time, to another endpoint or over another connection (Dean and
/// Barroso "hedged requests", gRPC `hedgingPolicy`, Finagle `BackupRequestFilter`).
///
/// The first good answer is that of the call, and the other attempts are cancelled. A call is hedged or retried, never
/// both. Every hedge needs a token of ``budget`` and of the retry budget that the call's host has.
///
/// GET, HEAD, OPTIONS and TRACE are hedged (RFC 9110 9.2.1), because a hedge and the first attempt overlap. With
/// ``RetryMethods/any`` or ``RetryMethods/only(_:)`` the methods of the retry policy are hedged instead. Of the calls
/// with an `Idempotency-Key` only GETs are hedged. Calls that are not hedged may be retried.
///
/// A cancelled HTTP/1.1 attempt costs its connection; an HTTP/2 attempt costs only its stream.
public struct HedgePolicy: Sendable, Hashable {
    /// The wait before a hedge.
    public enum Delay: Sendable, Hashable {
        /// Always the same. Zero counts as 1 ms.
        case fixed(Duration)
        /// The latency that this share of the host's recent calls did not exceed, 0.5...0.999. With 0.95 about 5 % of
        /// the calls are hedged. `initial` is the wait while there are too few samples; `nil`: no hedges until then.
        case percentile(Double, initial: Duration?)
    }

    /// The wait before the first hedge, and between hedges. By default it is the 95th percentile, and no hedge is sent
    /// while there are too few samples. The wait begins when the attempt before is sent: a request that waits for a
    /// limit of the client is not hedged.
    public let delay: Delay
    /// The hedges of a call; 1 by default, 0...4 (gRPC allows five attempts in all).
    public let maxExtra: Int
    /// How many samples are needed to compute a percentile; 100 by default, at least 1.
    public let minimumSamples: Int
    /// How far back samples count; 60 s by default, 1 s to one hour.
    public let window: Duration
    /// The hedges' own budget; 5 % of the calls, without a floor, by default.
    public let budget: RetryBudget.Policy
    /// If true, no hedge is sent. Requests are sent, and retried, as without the policy; ``ResilienceParts/Counts/wouldHedge``
    /// and ``ResilienceParts/Counts/wouldRefuseHedge`` tell how many hedges would have been sent, and how many a budget would
    /// have refused. False by default.
    ///
    /// A hedge that would have been sent counts as one without an answer, and takes a token of ``budget``. The retry budget
    /// is only asked: its tokens are for the retries. A retry stands for the hedge that its failure would have caused. Hedges
    /// that would have waited for a `Retry-After` are not counted.
    public let isDryRun: Bool

    /// Makes a policy. Numbers that are out of range are clamped; NaN gives the default.
    public init(
        delay: Delay = .percentile(0.95, initial: nil), maxExtra: Int = 1, minimumSamples: Int = 100,
        window: Duration = .seconds(60),
        budget: RetryBudget.Policy = RetryBudget.Policy(ratio: 0.05, floorPerSecond: 0), isDryRun: Bool = false
    ) {
        switch delay {
        case .fixed(let time):
            self.delay = .fixed(Self.atLeastShortest(time))
        case .percentile(let share, let initial):
            self.delay = .percentile(share.clamped(0.5...0.999, nan: 0.95), initial: initial.map(Self.atLeastShortest))
        }
        self.maxExtra = maxExtra.clamped(0...4)
        self.minimumSamples = max(minimumSamples, 1)
        self.window = min(max(window, .seconds(1)), .seconds(3600))
        self.budget = budget
        self.isDryRun = isDryRun
    }

    /// No hedge.
    public static let never = HedgePolicy(maxExtra: 0)

    /// The shortest delay: Finagle's minimum.
    static let shortestDelay = Duration.milliseconds(1)

    private static func atLeastShortest(_ time: Duration) -> Duration { max(time.clampedWait, shortestDelay) }

    /// The wait before the next hedge; `nil`: no hedge.
    func delay(by latencies: inout LatencyWindow, now: Duration) -> Duration? {
        switch delay {
        case .fixed(let time): time
        case .percentile(let share, let initial):
            latencies.percentile(share, minimumSamples: minimumSamples, now: now).map(Self.atLeastShortest) ?? initial
        }
    }
}
