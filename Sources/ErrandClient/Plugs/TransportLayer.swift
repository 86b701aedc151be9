/// A layer between a client and its engine. Every transfer of the client goes through the transport that the layer makes,
/// including those of caches, groups, downloads and shared transfers. The module `ErrandResilience` has some layers. An
/// accessory of a client's configuration may be a layer too, such as `HARAccessory`; its position puts it in order with
/// the others.
package protocol TransportLayer: Sendable {
    /// The position of the layer among the layers of a client.
    var position: TransportLayerPosition { get }

    /// Returns the time until the deadline of the present task, for the requests that the task starts. `nil`: the layer
    /// knows no deadlines.
    var timeLeftOfTask: (@Sendable () -> Duration?)? { get }

    /// Whether the layer may send a transfer more than once, by the client's own settings.
    var sendsAgain: Bool { get }

    /// Layers that a client with this one gets too. Each is left out if the client has a layer of its type already.
    var companions: [any TransportLayer] { get }

    /// A run of a request begins, on the present thread, where the task-locals of its caller are visible. Returns what
    /// the attempts of the run share; `nil`: nothing.
    func runBegins(_ description: RequestDescription, _ start: RunStart) -> AttemptScope?

    /// Makes a client's transport over the one beneath. Called once, when the client is made.
    func makeTransport(over base: any Transport, of client: TransportLayerContext) -> any Transport

    /// The client was made.
    func clientMade(_ client: Client)
}

extension TransportLayer {
    /// None.
    package var timeLeftOfTask: (@Sendable () -> Duration?)? { nil }
    /// No.
    package var sendsAgain: Bool { false }
    /// None.
    package var companions: [any TransportLayer] { [] }
    /// Nothing.
    package func runBegins(_ description: RequestDescription, _ start: RunStart) -> AttemptScope? { nil }
    /// No effect.
    package func clientMade(_ client: Client) {}
}

/// The parts of its client that a layer gets.
package struct TransportLayerContext: Sendable {
    /// The client's clock.
    package let stopwatch: Stopwatch
    /// The connection options of transfers without options of their own.
    package let connection: ConnectionOptions
}

/// The order of the layers, from the engine outwards.
package enum TransportLayerPosition: Int, Comparable, Sendable {
    /// Signs what the engine sends.
    case signing
    /// Sees each attempt, and changes only its header fields, before it is signed.
    case wire
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
