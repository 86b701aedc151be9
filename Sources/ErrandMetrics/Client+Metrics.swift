public import Errand

extension Client.Configuration {
    /// The metrics of the client; `nil`, the default: none, at no cost. Read when a client is made. Each client needs
    /// its own object.
    public var metrics: ClientMetrics? {
        get {
            attemptObservers.lazy.compactMap { $0 as? ClientMetrics }.first
        }
        set {
            attemptObservers.removeAll { $0 is ClientMetrics }
            if let newValue { attemptObservers.append(newValue) }
        }
    }
}

extension ClientMetrics: AttemptObserver {
    package func clientMade(_ client: Client) {
        observe(client)
    }

    package func runBegins(_ description: RequestDescription, _ start: RunStart) -> any ObservedRun {
        recording.run(description, start)
    }
}
