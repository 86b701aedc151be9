/// What a caller may do about a request that failed: the same request may succeed later (``ErrandError/retryAdvice``).
public struct RetryAdvice: Sendable, Hashable {
    /// Why, as text with few values, fit for a metric label: `noConnection`, `timeout`, `status503`, `circuitOpen`.
    public let reason: String
    /// How long to wait at least before a repetition can help, as the server, the breaker or the limit has said; `nil`:
    /// not known. The time counts from the moment of the failure.
    public let wait: Duration?
    /// Whether a server may have acted on the request, at its last send or an earlier one: before a redirect, a replay, a
    /// retry or a hedge. Then only a request that may be made twice should be repeated: one of an idempotent method (RFC
    /// 9110 9.2.2), or one with an `Idempotency-Key`.
    public let serverMayHaveActed: Bool

    /// The statuses of answers that may be other ones later. They are not the same as the statuses that a client
    /// retries by itself (``RetryPolicy/statusCodes``): by default a client does not retry 500, because a repetition at
    /// once seldom helps. 500 is in this set because a later repetition may help.
    public static let statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]
}

extension ErrandError {
    /// Whether the same request may succeed later, why, and when; `nil`: a repetition does not help.
    ///
    /// There is an answer for transient errors (``transientFailure``), for ``statusNotAccepted`` with one of
    /// ``RetryAdvice/statusCodes``, and for refusals by this client: ``circuitOpen``, ``limitExceeded`` and
    /// ``noEndpoint``. When a caller sees the error, the client's own retries have ended. A retry in every layer
    /// multiplies the load.
    public var retryAdvice: RetryAdvice? {
        if let kind = transientFailure {
            return RetryAdvice(
                reason: kind.rawValue, wait: response?.headers.retryAfter, serverMayHaveActed: !isUnsent)
        }
        switch self {
        case .statusNotAccepted:
            guard let response, RetryAdvice.statusCodes.contains(response.statusCode) else { return nil }
            return RetryAdvice(
                reason: RetryCause.status(response.statusCode).label, wait: response.headers.retryAfter,
                serverMayHaveActed: true)
        case .circuitOpen, .limitExceeded, .noEndpoint:
            // Attempts before the refused one were sent, if the error is no refusal of the whole request.
            return RetryAdvice(reason: shortDescription, wait: retryAfter, serverMayHaveActed: !isUnsent)
        default: return nil
        }
    }
}
