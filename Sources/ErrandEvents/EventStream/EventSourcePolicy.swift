/// When an event stream is connected again (WHATWG HTML 9.2.3).
public struct EventSourcePolicy: Sendable, Hashable {
    /// How long to wait before connecting again until the stream's `retry` says otherwise. Default: 3 seconds, a time of
    /// a few seconds being what the standard asks for.
    public var reconnectionTime: Duration = .seconds(3)

    /// The least wait, whatever `retry` says: `retry: 0` must not make a busy loop. Default: 100 milliseconds.
    public var minimumDelay: Duration = .milliseconds(100)

    /// The longest wait, whatever `retry`, `Retry-After` and the doubling say. Default: 60 seconds.
    public var maximumDelay: Duration = .seconds(60)

    /// How many failures in a row end the stream with the last one's error. The first event after a failure, and a
    /// response that ends by itself, begin a new count. `nil`, the default: it never gives up.
    public var maximumFailures: Int?

    /// The statuses after which to try again, where the standard would give up: 429, 502, 503 and 504 by default, as
    /// those are what proxies answer while a service restarts.
    public var retryableStatusCodes: Set<Int> = [429, 502, 503, 504]

    /// How much of a wait may be left out at random, so that clients do not come back all at once: 0, never, to 1.
    /// Default: 0.2.
    public var jitter: Double = 0.2

    /// Makes the default policy.
    public init() {}
}

extension EventSourcePolicy {
    /// The wait before the next attempt. It doubles with each failure in a row.
    ///
    /// - Parameters:
    ///   - base: ``reconnectionTime``, or what the stream has put in its place.
    ///   - failures: How many there were since something went well; 0 after an ending that is none.
    ///   - leastByServer: `Retry-After`.
    ///   - random: 0...1.
    func delay(base: Duration, failures: Int, leastByServer: Duration?, random: Double) -> Duration {
        let minimumDelay = min(self.minimumDelay, .longestSleep)
        let maximumDelay = min(self.maximumDelay, .longestSleep)
        var delay = max(base, minimumDelay)
        var doublings = failures - 1
        while doublings > 0, delay < maximumDelay {
            delay += delay
            doublings -= 1
        }
        let fraction = min(1, max(0, jitter)) * min(1, max(0, random))
        delay = max(min(delay, maximumDelay) * (1 - fraction), minimumDelay)
        return min(max(delay, leastByServer ?? .zero), max(maximumDelay, minimumDelay))
    }
}
