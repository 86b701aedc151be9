extension Client.Configuration {
    /// Retries, circuit breakers and limits of the client's requests; `nil`, the default: none, at no cost. Read when a
    /// client is made. Times are measured by ``Client/Configuration/clock``.
    public var resilience: Resilience? {
        get { resilienceLayer?.settings }
        set { setLayer(newValue, resilienceParts, onBreakerTransition) }
    }

    /// The budgets, breakers and limits that the client shares with other clients; `nil`, the default: parts of its own.
    /// Without ``resilience`` they have no effect. Read when a client is made.
    ///
    /// Which budgets, breakers and limits there are, and their settings, is decided when these parts are made. Retries
    /// and hedges are those of ``resilience``.
    public var resilienceParts: ResilienceParts? {
        get { resilienceLayer?.parts }
        set { setLayer(resilience, newValue, onBreakerTransition) }
    }

    /// Called after each change of state of the client's breakers, including those of its commands, for logs and
    /// metrics; `nil`, the default: nothing is called. It is called on the thread whose call caused the change, and
    /// must not block. Shared ``resilienceParts`` have their own closure instead of this one. Read when a client is
    /// made.
    ///
    /// ```swift
    /// configuration.onBreakerTransition = { breaker, transition in print(breaker.name, transition.to, transition.cause) }
    /// ```
    public var onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)? {
        get { resilienceLayer?.onBreakerTransition }
        set { setLayer(resilience, resilienceParts, newValue) }
    }

    private mutating func setLayer(
        _ settings: Resilience?, _ parts: ResilienceParts?,
        _ onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    ) {
        layers.removeAll { $0 is ResilienceLayer }
        guard settings != nil || parts != nil || onBreakerTransition != nil else { return }
        layers.append(
            ResilienceLayer(settings: settings, parts: parts, onBreakerTransition: onBreakerTransition))
    }

    private var resilienceLayer: ResilienceLayer? { layers.lazy.compactMap { $0 as? ResilienceLayer }.first }
}

extension Client {
    /// The budgets, breakers and limits of this client; `nil` without ``Configuration/resilience``. Any thread.
    public var resilience: ResilienceParts? { layer(ResilientTransport.self)?.parts }
}
