/// Puts a ``ResilientTransport`` between a client and its engine.
struct ResilienceLayer: TransportLayer {
    let settings: Resilience

    func makeTransport(over base: any Transport, stopwatch: Stopwatch) -> any Transport {
        ResilientTransport(base, settings, stopwatch: stopwatch)
    }
}
