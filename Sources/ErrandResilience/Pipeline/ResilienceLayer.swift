/// Puts a ``HedgingTransport`` and a ``ResilientTransport`` between a client and its engine.
struct ResilienceLayer: TransportLayer {
    /// `nil`: the layer has no effect.
    let settings: Resilience?
    /// Shared with other clients; `nil`: the client makes its own.
    let parts: ResilienceParts?

    var position: TransportLayerPosition { .resilience }

    func timeLeftOfTask() -> Duration? { settings == nil ? nil : Deadline.current?.remaining() }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        guard let settings else { return base }
        return HedgingTransport(ResilientTransport(base, settings, parts: parts, stopwatch: client.stopwatch))
    }
}
