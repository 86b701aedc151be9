extension ErrandError {
    /// How long to wait before a request that a circuit breaker or a limit refused (``circuitOpen``, ``limitExceeded``)
    /// may pass; `nil`: not known, or another error. The time counts from the moment of the refusal.
    public var retryAfter: Duration? {
        switch underlyingError {
        case let refusal as BreakerRefusal: refusal.retryAfter
        case let refusal as LimitRefusal: refusal.retryAfter
        default: nil
        }
    }

    init(_ refusal: BreakerRefusal, of origin: String) {
        let time = refusal.retryAfter.map { "; the next request may pass after \($0.secondsText)" } ?? ""
        self = .circuitOpen.with(
            message: "the circuit breaker of \(origin) is \(refusal.state.rawValue)\(time)", underlying: refusal,
            isRefusal: true)
    }

    init(_ refusal: EndpointRefusal, of origin: String) {
        self = .noEndpoint.with(
            message: "no endpoint of \(origin) may be used: \(refusal.reason.rawValue)", underlying: refusal,
            isRefusal: true)
    }

    init(_ refusal: LimitRefusal) {
        self = .limitExceeded.with(
            message: "a limit refused the request: \(refusal)", underlying: refusal, isRefusal: true)
    }
}
