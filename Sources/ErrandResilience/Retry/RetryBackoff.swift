/// The wait before a retry: exponential backoff, with full jitter by default.
///
/// The ceiling doubles with each retry, from ``base`` up to ``cap``. The wait is drawn uniformly from zero to the
/// ceiling. It is drawn after the ceiling was capped, so that clients do not meet again at the cap (AWS "full jitter";
/// Envoy `RetryBackOff`). With a ``jitter`` below 1 a part of the wait is fixed.
public struct RetryBackoff: Sendable, Hashable {
    /// The ceiling of the first retry; 100 ms by default. Negative values count as zero.
    public let base: Duration
    /// The highest ceiling; 20 s by default. Negative values count as zero.
    public let cap: Duration
    /// The share of the ceiling that is drawn; 1 by default, 0...1. At 0 the wait is the ceiling, as with
    /// `curl --retry`: many clients that failed together then come back together.
    public let jitter: Double

    /// Makes a backoff. Durations below zero are zero, those above 68 years are 68 years. A jitter out of range is
    /// clamped; NaN gives the default.
    public init(base: Duration = .milliseconds(100), cap: Duration = .seconds(20), jitter: Double = 1) {
        self.base = base.clampedWait
        self.cap = cap.clampedWait
        self.jitter = jitter.clamped(0...1, nan: 1)
    }

    /// No wait at all.
    public static let none = RetryBackoff(base: .zero, cap: .zero)

    /// The longest wait before a retry.
    ///
    /// - Parameter retry: 1 for the first retry; values below 1 count as 1.
    public func ceiling(retry: Int) -> Duration {
        guard base > .zero else { return .zero }
        var ceiling = base
        var doublings = max(retry, 1) - 1
        // At most about a hundred rounds: an attosecond reaches the highest cap after them.
        while doublings > 0, ceiling < cap {
            ceiling += ceiling
            doublings -= 1
        }
        return min(ceiling, cap)
    }

    /// The wait before a retry.
    ///
    /// - Parameters:
    ///   - retry: 1 for the first retry.
    ///   - random: 0...1; values outside are clamped.
    public func wait(retry: Int, random: Double) -> Duration {
        wait(retry: retry, atLeast: .zero, random: random)
    }

    /// The wait before a retry if the server has asked to wait at least `least`. The drawn wait is added to `least`, so
    /// that clients with the same `Retry-After` do not come back at once.
    func wait(retry: Int, atLeast least: Duration, random: Double) -> Duration {
        let ceiling = ceiling(retry: retry)
        // Products are rounded, and must not exceed the ceiling together.
        let fixed = min(ceiling * (1 - jitter), ceiling)
        let drawn = min(ceiling * (jitter * random.clampedShare), ceiling - fixed)
        return max(fixed, least) + drawn
    }
}
