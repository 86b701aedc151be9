import CoreMetrics

/// Stands in for that of swift-prometheus, which the package does not depend on: the guide's code is compiled with it.
final class PrometheusCollectorRegistry: Sendable {
    func emit(into buffer: inout [UInt8]) {}
}

/// Stands in for that of swift-prometheus.
struct PrometheusMetricsFactory: MetricsFactory {
    let registry: PrometheusCollectorRegistry
    var valueHistogramBuckets: [String: [Double]] = [:]

    init(registry: PrometheusCollectorRegistry) {
        self.registry = registry
    }

    private var nothing: NOOPMetricsHandler { NOOPMetricsHandler.instance }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { nothing }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { nothing }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler { nothing }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { nothing }

    func destroyCounter(_ handler: any CounterHandler) {}

    func destroyMeter(_ handler: any MeterHandler) {}

    func destroyRecorder(_ handler: any RecorderHandler) {}

    func destroyTimer(_ handler: any TimerHandler) {}
}
