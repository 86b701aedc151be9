/// Puts an ``AttemptTransport`` between a client's engine and all other layers.
struct AttemptLayer: TransportLayer {
    let observers: [any AttemptObserver]

    var position: TransportLayerPosition { .wire }

    func runBegins(_ description: RequestDescription, _ start: RunStart) -> AttemptScope? {
        guard let first = observers.first else { return nil }
        let run = first.runBegins(description, start)
        var others: [any ObservedRun] = []
        for observer in observers.dropFirst() { others.append(observer.runBegins(description, start)) }
        return AttemptScope(run, others, url: description.url)
    }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        AttemptTransport(base)
    }

    func clientMade(_ client: Client) {
        for observer in observers { observer.clientMade(client) }
    }
}
