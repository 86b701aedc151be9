import AsyncHTTPClient
import Configuration
import CoreMetrics
import Foundation
import GatewayParts
import Logging
import NIOCore
import PrometheusText
import ServiceLifecycle
import UnixSignals

/// The same gateway on AsyncHTTPClient, for the table of README.md: the same server, no retries, no breaker, no cache.
@main
enum GatewayAHC {
    static func main() async {
        var logger = Logger(label: "gateway-ahc")
        logger.logLevel = .notice
        do {
            try await run(logger)
        } catch {
            logger.critical("the gateway has failed", metadata: ["reason": "\(error)"])
            exit(1)
        }
    }

    private static func run(_ logger: Logger) async throws {
        let reader = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "gateway")
        let metrics = PrometheusMetrics(buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
        MetricsSystem.bootstrap(metrics)
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(1), read: .seconds(30))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
        configuration.httpVersion = .http1Only
        let client = HTTPClient(configuration: configuration)
        let origin = try reader.requiredString(forKey: "upstream.baseURL")
        let server = try GatewayServer(reader, to: AHCUpstream(client: client, origin: origin), logger: logger) {
            metrics.text
        }
        do {
            try await ServiceGroup(
                services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
            ).run()
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
