import Errand

/// The retries of one URL of `errand fetch --retry`.
///
/// The library retries a request until it accepts the head of a response. If the body breaks off after that,
/// ``FetchRun`` requests it again from its first byte. Both kinds of retries share one limit of their number and one
/// limit of their time.
struct FetchRetries {
    private let policy: RetryPolicy
    private let began = ContinuousClock.now
    /// The retries that were made.
    private(set) var made = 0

    init(_ policy: RetryPolicy) {
        self.policy = policy
    }

    /// The number of retries that may be made.
    var limit: Int { policy.maxAttempts - 1 }

    /// The policy for the retries and the time that are left.
    var left: RetryPolicy {
        RetryPolicy(
            maxAttempts: policy.maxAttempts - made,
            // The back-off continues where it was.
            backoff: RetryBackoff(
                base: policy.backoff.ceiling(retry: made + 1), cap: policy.backoff.cap, jitter: policy.backoff.jitter),
            methods: policy.methods, statusCodes: policy.statusCodes, failures: policy.failures,
            excludedErrors: policy.excludedErrors, retryAfterCap: policy.retryAfterCap,
            attemptTimeout: policy.attemptTimeout, maxRetryTime: policy.maxRetryTime.map { $0 - elapsed })
    }

    /// Counts the retries that a client has made.
    mutating func count(_ client: Client) {
        made += client.resilience?.counts.retries.values.reduce(0, +) ?? 0
    }

    /// Counts one more retry, after a body that broke off. Returns the wait before it; `nil`: no retry follows.
    mutating func next(after error: ErrandError) -> Duration? {
        guard made < limit, let kind = error.transientFailure, policy.failures.contains(kind),
            !policy.excludedErrors.contains(error)
        else { return nil }
        let wait = policy.backoff.ceiling(retry: made + 1)
        if let time = policy.maxRetryTime, elapsed + wait > time { return nil }
        made += 1
        return wait
    }

    private var elapsed: Duration { ContinuousClock.now - began }
}
