extension Client.Configuration {
    /// Retries, circuit breakers and limits of the client's requests; `nil`, the default: none, at no cost. Read when a
    /// client is made. Times are measured by ``Client/Configuration/clock``.
    public var resilience: Resilience? {
        get {
            resilienceLayer?.settings
        }
        set {
            let parts = resilienceParts
            layers.removeAll { $0 is ResilienceLayer }
            if newValue != nil || parts != nil { layers.append(ResilienceLayer(settings: newValue, parts: parts)) }
        }
    }

    /// The budgets, breakers and limits that the client shares with other clients; `nil`, the default: parts of its own.
    /// Without ``resilience`` they have no effect. Read when a client is made.
    ///
    /// Which parts there are, and their settings, is what these parts were made with. Retries and hedges are those of
    /// ``resilience``.
    public var resilienceParts: ResilienceParts? {
        get {
            resilienceLayer?.parts
        }
        set {
            let settings = resilience
            layers.removeAll { $0 is ResilienceLayer }
            if newValue != nil || settings != nil {
                layers.append(ResilienceLayer(settings: settings, parts: newValue))
            }
        }
    }

    private var resilienceLayer: ResilienceLayer? { layers.lazy.compactMap { $0 as? ResilienceLayer }.first }
}

extension Client {
    /// The budgets, breakers and limits of this client; `nil` without ``Configuration/resilience``. Any thread.
    public var resilience: ResilienceParts? { layer(ResilientTransport.self)?.parts }
}
