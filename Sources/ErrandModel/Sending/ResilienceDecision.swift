/// What a client's resilience has decided about one attempt of a request (``RequestEvent/decided(_:)``).
///
/// A `name` is an origin, such as `https://api.test:443`, or the name that a command gives. Cases may be added: a `switch`
/// needs a `default`, and ``label`` has a text for each case.
public enum ResilienceDecision: Sendable, Hashable {
    /// A part that refuses attempts or delays them. The raw values are fit for a metric label.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        /// The circuit breaker.
        case breaker
        /// The limit of requests in flight.
        case concurrency
        /// The limit of the rate.
        case rate
        /// The choice of an endpoint.
        case endpoints
    }

    /// The part refused the attempt, and nothing of it was sent.
    case refused(by: Part, name: String)
    /// The attempt waits for the limit.
    case waiting(for: Part, name: String)
    /// An attempt failed, and no retry follows. The reason is the raw value of a `RetryStop`, such as `budgetExhausted`
    /// or `deadlineTooClose`. Not reported if the policy has no retries or does not retry such a failure.
    case notRetried(reason: String)
    /// No further hedge is sent. The reason is the raw value of a `HedgeStop`: `budgetExhausted`. In a dry run also
    /// `dryRun`: the hedge would have been sent.
    case notHedged(reason: String)
    /// The attempt goes to this endpoint, by its URL or address.
    case endpoint(String)
    /// The attempt goes to this alternative service of its origin, by host and port.
    case alternative(String)
    /// The alternative service could not be used, and the attempt goes to the origin.
    case leftAlternative(String)
    /// The attempt goes to this https URL instead of its http URL, because the host was learned (HSTS) after the request
    /// was described. If the host was known before, the description has the https URL already.
    case upgraded(to: String)

    /// Text with few values, fit for a metric label: `refused.breaker`, `waiting.rate`, `notRetried.budgetExhausted`,
    /// `endpoint`, `alternative`, `leftAlternative`, `upgraded`.
    public var label: String {
        switch self {
        case .refused(let part, _): "refused.\(part.rawValue)"
        case .waiting(let part, _): "waiting.\(part.rawValue)"
        case .notRetried(let reason): "notRetried.\(reason)"
        case .notHedged(let reason): "notHedged.\(reason)"
        case .endpoint: "endpoint"
        case .alternative: "alternative"
        case .leftAlternative: "leftAlternative"
        case .upgraded: "upgraded"
        }
    }
}
