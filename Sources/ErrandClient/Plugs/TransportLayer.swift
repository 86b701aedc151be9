/// Stands between a client and its engine: every transfer of the client goes through the transport that the layer makes,
/// also those of caches, groups, downloads and shared transfers. The module `ErrandResilience` has some.
package protocol TransportLayer: Sendable {
    /// Where the layer stands among the layers of a client.
    var position: TransportLayerPosition { get }

    /// The time until the deadline of the present task, for the requests that the task starts; `nil`: there is none.
    func timeLeftOfTask() -> Duration?

    /// Makes a client's transport over the one beneath. Called once, when the client is made.
    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport
}

extension TransportLayer {
    /// None.
    package func timeLeftOfTask() -> Duration? { nil }
}

/// What a layer knows of its client.
package struct TransportLayerContext: Sendable {
    /// The client's clock.
    package let stopwatch: Stopwatch
    /// The connection options of transfers without options of their own.
    package let connection: ConnectionOptions
}

/// The order of the layers, from the engine outwards.
package enum TransportLayerPosition: Int, Comparable, Sendable {
    /// Changes the URL of what the engine sends.
    case security
    /// Sends an attempt to an alternative service of its origin.
    case alternatives
    /// Chooses the server of an attempt.
    case endpoints
    /// Deadlines, retries, hedges, breakers and limits.
    case resilience

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// A transport that passes its transfers to another one.
package protocol StackedTransport: Transport {
    /// The transport beneath.
    var base: any Transport { get }
}

extension Client {
    /// The outermost layer's transport of this type; `nil`: there is none.
    package func layer<Layer: StackedTransport>(_: Layer.Type) -> Layer? {
        var present = transport
        while true {
            if let found = present as? Layer { return found }
            guard let next = present as? any StackedTransport else { return nil }
            present = next.base
        }
    }
}
