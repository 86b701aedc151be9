/// Puts an ``HSTSTransport`` between a client and its engine.
struct HSTSLayer: TransportLayer {
    /// `nil`: only commands have stores.
    let store: HSTSStore?

    // Each attempt of a retried transfer passes.
    var position: TransportLayerPosition { .security }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        HSTSTransport(base, store, connection: client.connection)
    }
}

extension HSTSStore: URLUpgrade {}
