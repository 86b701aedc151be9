public import Errand

extension Client.Configuration {
    /// The spans of the client's requests; `nil`, the default: none, at no cost. Read when a client is made.
    public var tracing: ClientTracing? {
        get {
            attemptObservers.lazy.compactMap { $0 as? ClientTracing }.first
        }
        set {
            attemptObservers.removeAll { $0 is ClientTracing }
            if let newValue { attemptObservers.append(newValue) }
        }
    }
}

extension ClientTracing: AttemptObserver {
    package func clientMade(_ client: Client) {}

    package func runBegins(_ description: RequestDescription, _ start: RunStart) -> any ObservedRun {
        TracedRun(self, description, start)
    }
}
