/// The wait before a retry: exponential backoff with full jitter.
///
/// The ceiling doubles with each retry, from ``base`` up to ``cap``. The wait is drawn uniformly from zero to the
/// ceiling. It is drawn after the ceiling was capped, so that clients do not meet again at the cap (AWS "full jitter";
/// Envoy `RetryBackOff`).
public struct RetryBackoff: Sendable, Hashable {
    /// The ceiling of the first retry; 100 ms by default. Negative values count as zero.
    public let base: Duration
    /// The highest ceiling; 20 s by default. Negative values count as zero.
    public let cap: Duration

    /// Makes a backoff. Durations below zero are zero, those above 68 years are 68 years.
    public init(base: Duration = .milliseconds(100), cap: Duration = .seconds(20)) {
        self.base = base.clampedWait
        self.cap = cap.clampedWait
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
        let ceiling = ceiling(retry: retry)
        // The product is rounded, and must not exceed the ceiling.
        return min(ceiling * random.clampedShare, ceiling)
    }
}
