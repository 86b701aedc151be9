import Configuration
import CoreMetrics
import Errand
import ErrandConfiguration
import ErrandLifecycle
import ErrandMetrics
import ErrandTracing
import Foundation
import GatewayParts
import Logging
import PrometheusText
import ServiceLifecycle
import TraceFile
import Tracing
import UnixSignals

/// A gateway: Hummingbird receives the requests of callers, and Errand sends them upstream. README.md lists the
/// settings.
@main
enum Gateway {
    static func main() async {
        var logger = Logger(label: "gateway")
        logger.logLevel = .notice
        do {
            try await run(logger)
        } catch {
            logger.critical("the gateway has failed", metadata: ["reason": "\(error)"])
            exit(1)
        }
    }

    private static func run(_ logger: Logger) async throws {
        let all = ConfigReader(providers: [EnvironmentVariablesProvider(), InMemoryProvider(values: defaults)])
        let reader = all.scoped(to: "gateway")
        // Comes before any code that uses the metrics factory and the instrument.
        let metrics = PrometheusMetrics(buckets: ClientMetrics.durationBuckets)
        MetricsSystem.bootstrap(metrics)
        let tracer = try reader.string(forKey: "traceFile").map { try FileTracer(path: $0) }
        if let tracer { InstrumentationSystem.bootstrap(tracer) }
        let clientMetrics = reader.bool(forKey: "metrics", default: true) ? ClientMetrics() : nil

        var configuration = try clientConfiguration(reader.scoped(to: "upstream"), logger)
        configuration.metrics = clientMetrics
        if let tracer { configuration.tracing = ClientTracing(tracer: tracer) }
        let client = Client(configuration: configuration)
        let upstream = ErrandUpstream(
            client: client, origin: try Endpoint(reader.requiredString(forKey: "upstream.baseURL")).url,
            cachedPaths: reader.stringArray(forKey: "cachedPaths", default: []))
        let server = try GatewayServer(reader, to: upstream, isTraced: tracer != nil, logger: logger) {
            clientMetrics?.collect()
            return metrics.text
        }

        // The services are stopped from the last to the first: the server answers the requests that it has accepted,
        // then the client is drained, and then the metrics and spans of both are recorded.
        var services: [any Service] = [ClientService(client, drainTime: .seconds(10)), server]
        if let clientMetrics {
            services.insert(ClosureService { await cancelWhenGracefulShutdown { await clientMetrics.run() } }, at: 0)
        }
        if let tracer { services.insert(tracer, at: 0) }
        try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger).run()
        if let path = reader.string(forKey: "metricsFile") {
            try metrics.text.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    /// The settings that apply unless the environment overrides them, by the keys of docs/configuration.md.
    private static let defaults: [AbsoluteConfigKey: ConfigValue] = [
        "gateway.upstream.timeouts.connect": "1s",
        "gateway.upstream.timeouts.firstByte": "10s",
        "gateway.upstream.timeouts.idle": "30s",
        "gateway.upstream.engine.inFlightLimit": "2048",
        "gateway.upstream.engine.originInFlightLimit": "1024",
        "gateway.upstream.retry.enabled": "true",
        "gateway.upstream.retry.backoff.base": "25ms",
        "gateway.upstream.retry.backoff.cap": "250ms",
        "gateway.upstream.breaker.enabled": "true",
        "gateway.upstream.concurrency.enabled": "true",
        "gateway.upstream.concurrency.limit": "1024",
        "gateway.upstream.concurrency.queueCapacity": "1024",
        "gateway.upstream.concurrency.longestWait": "1s",
    ]

    private static func clientConfiguration(_ reader: ConfigReader, _ logger: Logger) throws -> Client.Configuration {
        var base = Client.Configuration(redirects: .doNotFollow)
        // Data between callers and servers is passed on unchanged.
        base.userAgent = nil
        base.connection.encodings = []
        base.cache = ResponseCache(isShared: true)
        var configuration = try Client.Configuration(reader: reader, over: base)
        let variables = ProcessInfo.processInfo.environment.keys
        for name in ConfigurationKey.unknown(amongVariables: variables, inScope: "gateway.upstream") {
            logger.warning("the variable is none of the settings", metadata: ["name": "\(name)"])
        }
        guard configuration.resilience?.breaker != nil else { return configuration }
        configuration.onBreakerTransition = { breaker, transition in
            Counter(label: "gateway.breaker.transitions", dimensions: [("to", transition.to.rawValue)]).increment()
            logger.warning(
                "the breaker is \(transition.to.rawValue)",
                metadata: ["name": "\(breaker.name)", "cause": "\(transition.cause.rawValue)"])
        }
        return configuration
    }
}
