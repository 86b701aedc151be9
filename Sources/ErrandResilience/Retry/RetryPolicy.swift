/// Which requests are retried after a failure, how often, and after which wait.
///
/// A retry needs all of these: an answer or an error that the policy names, a request that may be repeated, an attempt
/// that is left, a wait that ends before the deadline, and a token of the retry budget. ``RetryStop`` has the reasons
/// against a retry.
///
/// A request may be repeated if its method is one of ``methods``, if it carries an `Idempotency-Key` (IETF draft
/// `idempotency-key-header`), or if its command has ``CommandOptions/allowReplay``. Any request may be repeated if the
/// server did not see it (``ErrandError/TransientFailure/noConnection``). A body that cannot be read twice, and an
/// answer of which the caller has already seen a part, forbid a retry.
public struct RetryPolicy: Sendable, Hashable {
    /// All attempts of a call, the first included; 3 by default, 1...100.
    public let maxAttempts: Int
    /// The waits before retries; 100 ms doubling to 20 s, with full jitter, by default.
    public let backoff: RetryBackoff
    /// The methods of requests that may be repeated; idempotent ones by default.
    public let methods: RetryMethods
    /// The statuses after which a request is retried; 408, 429, 502, 503 and 504 by default. 500 is optional: it is
    /// often a defect that a repetition repeats.
    public let statusCodes: Set<Int>
    /// The failures after which a request is retried; by default all but
    /// ``ErrandError/TransientFailure/malformedResponse``.
    public let failures: Set<ErrandError.TransientFailure>
    /// Errors after which no request is retried although their kind is one of ``failures``; none by default.
    public let excludedErrors: Set<ErrandError>
    /// The longest `Retry-After` that is waited for; 60 s by default. A longer one ends the retries with
    /// ``RetryStop/retryAfterTooLong``. `nil`: `Retry-After` is ignored.
    public let retryAfterCap: Duration?
    /// The time for one attempt, with the body of its response; `nil`, the default: no limit of its own. It also ends
    /// streams and event streams whose body is still arriving. Give their commands a retry policy without this time
    /// (``Command/resilience``). A value that is zero or less counts as one millisecond.
    public let attemptTimeout: Duration?
    /// For how long after the start of the call retries may begin; `nil`, the default: no limit. A wait that would end
    /// later ends the retries with ``RetryStop/retryTimeOver``. An attempt that has begun goes on, unlike at the call's
    /// deadline (`curl --retry-max-time`).
    public let maxRetryTime: Duration?

    /// The default of ``statusCodes``.
    public static let standardStatusCodes: Set<Int> = [408, 429, 502, 503, 504]

    /// The default of ``failures``.
    public static let standardFailures: Set<ErrandError.TransientFailure> = [
        .noConnection, .brokenConnection, .timeout,
    ]

    /// Makes a policy. Numbers that are out of range are clamped.
    public init(
        maxAttempts: Int = 3, backoff: RetryBackoff = RetryBackoff(), methods: RetryMethods = .idempotent,
        statusCodes: Set<Int> = standardStatusCodes,
        failures: Set<ErrandError.TransientFailure> = standardFailures, excludedErrors: Set<ErrandError> = [],
        retryAfterCap: Duration? = .seconds(60), attemptTimeout: Duration? = nil, maxRetryTime: Duration? = nil
    ) {
        self.maxAttempts = maxAttempts.clamped(1...100)
        self.backoff = backoff
        self.methods = methods
        self.statusCodes = statusCodes
        self.failures = failures
        self.excludedErrors = excludedErrors
        self.retryAfterCap = retryAfterCap?.clampedWait
        self.attemptTimeout = attemptTimeout.map { max($0.clampedWait, .milliseconds(1)) }
        self.maxRetryTime = maxRetryTime?.clampedWait
    }

    /// One attempt, no retry.
    public static let never = RetryPolicy(maxAttempts: 1)

    /// The same policy without retries.
    var once: RetryPolicy {
        maxAttempts == 1
            ? self
            : RetryPolicy(
                maxAttempts: 1, backoff: backoff, methods: methods, statusCodes: statusCodes, failures: failures,
                excludedErrors: excludedErrors, retryAfterCap: retryAfterCap, attemptTimeout: attemptTimeout,
                maxRetryTime: maxRetryTime)
    }
}
