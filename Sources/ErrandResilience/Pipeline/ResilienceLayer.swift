/// Puts a ``HedgingTransport`` and a ``ResilientTransport`` between a client and its engine.
///
/// A class, because each request asks the layer for the time that is left.
final class ResilienceLayer: TransportLayer {
    /// `nil`: the layer has no effect.
    let settings: Resilience?
    /// Shared with other clients; `nil`: the client makes its own.
    let parts: ResilienceParts?
    /// For the parts that the client makes.
    let onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    let sendsAgain: Bool
    private let isOff: Bool

    init(
        settings: Resilience?, parts: ResilienceParts?,
        onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    ) {
        self.settings = settings
        self.parts = parts
        self.onBreakerTransition = onBreakerTransition
        sendsAgain = settings?.retry != nil || settings?.hedge != nil
        isOff = settings == nil
    }

    var position: TransportLayerPosition { .resilience }

    var timeLeftOfTask: (@Sendable () -> Duration?)? {
        guard !isOff else { return nil }
        return { @Sendable in Deadline.current?.remaining() }
    }

    /// Commands may have these parts, whatever the client has.
    var companions: [any TransportLayer] {
        isOff ? [] : [HSTSLayer(store: nil), AltServiceLayer(cache: nil), EndpointLayer(endpoints: [])]
    }

    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport {
        guard let settings else { return base }
        Deadline.passOn()
        let parts =
            self.parts
            ?? ResilienceParts(settings, clock: client.stopwatch.clock, onBreakerTransition: onBreakerTransition)
        return HedgingTransport(ResilientTransport(base, settings, parts: parts, stopwatch: client.stopwatch))
    }
}
