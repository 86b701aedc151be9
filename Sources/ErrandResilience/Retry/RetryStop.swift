/// Why a call makes no further attempt. The raw values are fit for a metric label.
public enum RetryStop: String, Sendable, Hashable, CaseIterable {
    /// The attempt has an answer whose status the policy does not retry.
    case answered
    /// The attempt has an error that the policy does not retry.
    case permanentFailure
    /// The caller has already seen a part of the answer.
    case answerDelivered
    /// The server may have acted on the request, and the request is not known to be idempotent (RFC 9110 9.2.2).
    case notIdempotent
    /// The request's body cannot be read a second time.
    case bodyNotReplayable
    /// ``RetryPolicy/maxAttempts`` attempts were made.
    case attemptsExhausted
    /// The server asked for a wait above ``RetryPolicy/retryAfterCap``.
    case retryAfterTooLong
    /// The wait would not end before the deadline.
    case deadlineTooClose
    /// The wait would not end within ``RetryPolicy/maxRetryTime``.
    case retryTimeOver
    /// The retry budget has no token.
    case budgetExhausted
    /// The caller stopped the call.
    case cancelled
}
