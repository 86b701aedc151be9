extension Client.Configuration {
    /// Retries, circuit breakers and limits of the client's requests; `nil`, the default: none, at no cost. Read when a
    /// client is made. Times are measured by ``Client/Configuration/clock``.
    public var resilience: Resilience? {
        get {
            layers.lazy.compactMap { ($0 as? ResilienceLayer)?.settings }.first
        }
        set {
            layers.removeAll { $0 is ResilienceLayer }
            if let newValue { layers.append(ResilienceLayer(settings: newValue)) }
        }
    }
}

extension Client {
    /// The budgets, breakers and limits of this client; `nil` without ``Configuration/resilience``. Any thread.
    public var resilience: ResilienceParts? { (transport as? ResilientTransport)?.parts }
}
