/// When a circuit breaker opens, how long it stays open, and how it probes.
public struct BreakerPolicy: Sendable, Hashable {
    /// The calls that failure rates are computed over.
    public enum Window: Sendable, Hashable {
        /// The last calls; at least 1, at most 10,000.
        case count(Int)
        /// The calls that ended within this time before now, counted in ten buckets; 100 ms to one hour.
        case time(Duration)
    }

    /// The calls that rates are computed over; the last 10 s by default.
    public let window: Window
    /// The share of failed calls at which the breaker opens; 0.5 by default, 0...1. At 0 one failure is enough.
    public let failureRate: Double
    /// The share of slow calls at which the breaker opens; 1 by default, 0...1.
    public let slowCallRate: Double
    /// The duration from which a call counts as slow, whatever its outcome; `nil`, the default: no call is slow. In a
    /// client the duration begins when an attempt is sent, after its waits for the client's limits.
    public let slowCallDuration: Duration?
    /// How many calls the window must contain before a rate is judged; 20 by default, at least 1, at most the calls of
    /// a count window.
    public let minimumCalls: Int
    /// How long the breaker stays open the first time; 5 s by default. Doubles each time that probes fail.
    public let openTime: Duration
    /// The longest time open; 5 min by default.
    public let longestOpenTime: Duration
    /// The largest share of an open time that is subtracted at random; 0.2 by default, 0...1. This way clients do not
    /// all probe at the same time.
    public let jitter: Double
    /// How many probes a half-open breaker lets pass; 5 by default, 1...1000. Their rates decide whether it closes.
    public let halfOpenPermits: Int
    /// How long a probe may take; 60 s by default. A probe that has not ended by then counts as failed, so a lost
    /// permit cannot keep the breaker half-open. In a client this time begins when the probe is sent. A probe that
    /// waits for a limit for this long before it is sent gives its place to another request, and does not count.
    public let permitLifetime: Duration
    /// Whether the breaker only counts what it would refuse (Finagle's dark mode); false by default.
    public let isDryRun: Bool

    /// Makes a policy. Numbers that are out of range are clamped; NaN gives the default.
    public init(
        window: Window = .time(.seconds(10)), failureRate: Double = 0.5, slowCallRate: Double = 1,
        slowCallDuration: Duration? = nil, minimumCalls: Int = 20, openTime: Duration = .seconds(5),
        longestOpenTime: Duration = .seconds(300), jitter: Double = 0.2, halfOpenPermits: Int = 5,
        permitLifetime: Duration = .seconds(60), isDryRun: Bool = false
    ) {
        switch window {
        case .count(let count):
            let count = count.clamped(1...10_000)
            self.window = .count(count)
            self.minimumCalls = minimumCalls.clamped(1...count)
        case .time(let time):
            self.window = .time(min(max(time, .milliseconds(100)), .seconds(3600)))
            self.minimumCalls = max(minimumCalls, 1)
        }
        self.failureRate = failureRate.clamped(0...1, nan: 0.5)
        self.slowCallRate = slowCallRate.clamped(0...1, nan: 1)
        self.slowCallDuration = slowCallDuration?.clampedWait
        self.openTime = max(openTime.clampedWait, .milliseconds(1))
        self.longestOpenTime = max(longestOpenTime.clampedWait, self.openTime)
        self.jitter = jitter.clamped(0...1, nan: 0.2)
        self.halfOpenPermits = halfOpenPermits.clamped(1...1000)
        self.permitLifetime = max(permitLifetime.clampedWait, .milliseconds(1))
        self.isDryRun = isDryRun
    }

    /// A breaker that never opens. If a command chooses it (``Command/resilience``), the command has no breaker.
    public static let never = BreakerPolicy(minimumCalls: .max)

    /// How long the breaker stays open.
    ///
    /// - Parameters:
    ///   - opening: 1 for the first time in a row, 2 after the probes failed once, and so on.
    ///   - random: 0...1; 0 is the longest time.
    func openTime(opening: Int, random: Double) -> Duration {
        let longest = RetryBackoff(base: openTime, cap: longestOpenTime).ceiling(retry: opening)
        return min(longest, max(longest * (1 - jitter * random.clamped(0...1, nan: 0)), .milliseconds(1)))
    }

    /// Whether calls with these results open the breaker.
    func isTripped(by tally: BreakerTally) -> BreakerTransition.Cause? {
        func reaches(_ count: Int, _ rate: Double) -> Bool {
            count > 0 && Double(count) >= rate * Double(tally.calls)
        }
        if reaches(tally.failures, failureRate) { return .failureRate }
        return reaches(tally.slow, slowCallRate) ? .slowCallRate : nil
    }
}
