/// Watches the runs of a client's requests and each of their attempts on the wire. The modules `ErrandMetrics` and
/// `ErrandTracing` have one each. Any thread.
package protocol AttemptObserver: AnyObject, Sendable {
    /// A client with this observer was made. The observer must not keep the client alive.
    func clientMade(_ client: Client)

    /// A run begins with this description, on the thread that starts the request: see ``TransportLayer``.
    func runBegins(_ description: RequestDescription, _ start: RunStart) -> any ObservedRun
}

/// The facts about a run that an observer gets besides the description.
package struct RunStart {
    /// The command's type; that of the wrapped command for a streamed response.
    package let command: Any.Type
    /// ``Command/urlTemplate``, or the override.
    package let urlTemplate: String?
    /// Whether this is the request of a group. It sends nothing itself; its children are separate requests.
    package let isGroup: Bool
    /// Whether the client's settings, or the command's own, allow retries or hedges.
    package let maySendAgain: Bool

    /// `GetUser`.
    package var commandName: String { String(describing: command) }
}

extension Client.Configuration {
    /// The observers of the client's attempts; empty, the default: none, at no cost. Read when a client is made.
    package var attemptObservers: [any AttemptObserver] {
        get {
            layers.lazy.compactMap { ($0 as? AttemptLayer)?.observers }.first ?? []
        }
        set {
            layers.removeAll { $0 is AttemptLayer }
            if !newValue.isEmpty { layers.append(AttemptLayer(observers: newValue)) }
        }
    }
}
