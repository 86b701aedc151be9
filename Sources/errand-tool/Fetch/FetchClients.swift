import Errand

/// The clients of one `errand fetch`. They share an engine with its connections and cookies.
struct FetchClients: Sendable {
    /// The client that owns the engine. It makes no retries.
    let plain: Client
    private let configuration: Client.Configuration

    init(_ configuration: Client.Configuration) {
        self.configuration = configuration
        plain = Client(configuration: configuration)
    }

    /// A client that retries requests by `policy`.
    func retrying(_ policy: RetryPolicy, _ notes: FetchRetryNotes) -> Client {
        var configuration = configuration
        // The number of retries already limits one run of the tool, so there is no retry budget.
        configuration.resilience = Resilience(retry: policy, budget: nil)
        // The HAR accessory is attached to the engine, which both clients share.
        configuration.accessories.removeAll { $0 is HARAccessory }
        configuration.accessories.append(notes)
        return Client(configuration: configuration, transport: plain.transport)
    }
}
