/// Exponential back-off: the wait after consecutive failures. It doubles with each failure. Jitter shortens it by a random
/// part, so that clients do not come back all at once.
package struct Backoff: Sendable, Hashable {
    /// The wait after the first failure.
    package var first: Duration
    /// The shortest wait, even if it is longer than `maximum`.
    package var minimum: Duration
    /// The longest wait, whatever the server says.
    package var maximum: Duration
    /// The largest share of a wait that may be left out: from 0, none, to 1.
    package var jitter: Double

    package init(first: Duration, minimum: Duration = .zero, maximum: Duration, jitter: Double = 0.2) {
        self.first = first
        self.minimum = min(minimum, .longestSleep)
        self.maximum = min(maximum, .longestSleep)
        self.jitter = min(1, max(0, jitter))
    }

    /// - Parameters:
    ///   - failures: 0 means the same as 1.
    ///   - leastByServer: `Retry-After`.
    ///   - random: 0...1.
    package func delay(failures: Int, leastByServer: Duration?, random: Double) -> Duration {
        var delay = max(first, minimum)
        var doublings = min(failures, 128) - 1
        while doublings > 0, delay < maximum {
            delay += delay
            doublings -= 1
        }
        delay = max(min(delay, maximum) * (1 - jitter * min(1, max(0, random))), minimum)
        return min(max(delay, leastByServer ?? .zero), max(maximum, minimum))
    }
}
