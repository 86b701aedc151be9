/// Puts an ``AltServiceTransport`` between a client and its engine.
struct AltServiceLayer: TransportLayer {
    /// `nil`: only commands have caches.
    let cache: AltServiceCache?

    // Beneath retries, so that each attempt may find another place, and above HSTS.
    var position: TransportLayerPosition { .alternatives }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        // A user's transport whose ids may be any numbers would have to be renumbered for all requests.
        guard cache != nil || base.hasShortIDs else { return base }
        return AltServiceTransport(base, cache, stopwatch: client.stopwatch, connection: client.connection)
    }
}
