/// Puts an ``AltServiceTransport`` between a client and its engine.
struct AltServiceLayer: TransportLayer {
    let cache: AltServiceCache

    // Beneath retries, so that each attempt may find another place, and above HSTS.
    var position: TransportLayerPosition { .alternatives }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        AltServiceTransport(base, cache, stopwatch: client.stopwatch, connection: client.connection)
    }
}
