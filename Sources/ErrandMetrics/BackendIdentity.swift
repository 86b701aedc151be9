import CoreMetrics

/// Tells whether two factories record for the same backend. A factory that is an object is its own identity. A factory
/// that is a value, such as that of swift-prometheus, is identified by a handler that every ``ClientMetrics`` asks for:
/// a backend has one handler for each metric and label set, and this metric has no labels. Factories that make a new
/// handler each time, or drop this metric, are a backend of their own for each ``ClientMetrics``. A value: any thread.
struct BackendIdentity: Hashable, Sendable {
    /// The object that has the identifier. It is kept, so that no other object gets its identifier.
    private enum Holder: Sendable {
        case factory(any MetricsFactory)
        case handler(any RecorderHandler)
        case own(Token)
    }

    private final class Token: Sendable {}

    private let holder: Holder
    private let id: ObjectIdentifier

    init(_ factory: any MetricsFactory) {
        if type(of: factory) is AnyClass {
            holder = .factory(factory)
            id = ObjectIdentifier(factory as AnyObject)
        } else {
            let handler = factory.makeRecorder(label: MetricName.timeInQueue, dimensions: [], aggregate: true)
            // A factory may drop this metric. The handler that does nothing belongs to all such factories.
            if handler is NOOPMetricsHandler {
                let token = Token()
                (holder, id) = (.own(token), ObjectIdentifier(token))
            } else {
                (holder, id) = (.handler(handler), ObjectIdentifier(handler))
            }
        }
    }

    static func == (one: Self, other: Self) -> Bool { one.id == other.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
