/// When an event stream reconnects (WHATWG HTML 9.2.3).
public struct EventSourcePolicy: Sendable, Hashable {
    /// The wait before reconnecting, until the stream's `retry` sets another one. Default: 3 seconds; the standard asks
    /// for a few seconds.
    public var reconnectionTime: Duration = .seconds(3)

    /// The shortest wait, whatever `retry` says: `retry: 0` must not cause a busy loop. Default: 100 milliseconds.
    public var minimumDelay: Duration = .milliseconds(100)

    /// The longest wait, whatever `retry`, `Retry-After` and the backoff say. Default: 60 seconds.
    public var maximumDelay: Duration = .seconds(60)

    /// The number of consecutive failures after each of which the stream tries again; the next failure ends the stream
    /// with its error. The first event after a failure, and a response that ends normally, reset the count. 0: the
    /// first failure ends the stream. `nil`, the default: the stream never gives up.
    public var maximumFailures: Int?

    // Fewer statuses than for a download: the standard ends a stream after every status other than 200, so each of
    // these is an exception to the standard.
    /// The statuses after which the stream retries although the standard would give up. Default: 429, 502, 503 and 504,
    /// because proxies send these while a service restarts.
    public var retryableStatusCodes: Set<Int> = [429, 502, 503, 504]

    /// The largest share of a wait that may be cut off at random, from 0 (none) to 1, so that clients do not reconnect
    /// all at once. Default: 0.2.
    public var jitter: Double = 0.2

    /// Makes the default policy.
    public init() {}
}

extension EventSourcePolicy {
    /// The wait before the next attempt. The wait doubles with each failure in a row.
    ///
    /// - Parameters:
    ///   - base: ``reconnectionTime``, or the time that the stream's `retry` set instead.
    ///   - failures: The number of failures since the last success; 0 after a response that ended normally.
    ///   - leastByServer: `Retry-After`.
    ///   - random: 0...1.
    func delay(base: Duration, failures: Int, leastByServer: Duration?, random: Double) -> Duration {
        Backoff(first: base, minimum: minimumDelay, maximum: maximumDelay, jitter: jitter)
            .delay(failures: failures, leastByServer: leastByServer, random: random)
    }
}
