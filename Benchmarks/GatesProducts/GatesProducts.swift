import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTracing
import InMemoryTracing
import Tracing

/// The ``Load`` from closures, of a client that metrics or spans are made of, each with a backend that does nothing and
/// with one that keeps what it gets. A program of its own: that of `Gates` has none of this.
@main
enum GatesProducts {
    private enum Mode: String, CaseIterable {
        /// The products are linked, but not used.
        case unused
        case metricsNoOp = "metrics-noop"
        case metrics
        case tracingNoOp = "tracing-noop"
        case tracing
    }

    static func main() {
        Load.main("errand-gates-products", Mode.self) { mode, configuration in
            switch mode {
            case .unused: break
            case .metricsNoOp: configuration.metrics = ClientMetrics(factory: NOOPMetricsHandler.instance)
            case .metrics: configuration.metrics = ClientMetrics(factory: CheapMetrics())
            case .tracingNoOp: configuration.tracing = ClientTracing(tracer: NoOpTracer())
            case .tracing:
                configuration.tracing = ClientTracing(tracer: InMemoryTracer(recordInjections: false))
            }
            return .closures
        }
    }
}
