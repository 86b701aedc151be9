import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import ErrandTracing
import MetricsTestKit
import Testing
import Tracing

/// The code of the guide "Seeing what the client does" that is about metrics; GuideTests compares it line by line.
@Suite struct MetricsSnippets {
    struct GetUser: Command {
        var id: Int
        var path: String { "users/\(id)" }
        var urlTemplate: String { "/users/{id}" }
        struct Response: Decodable, Sendable { var name: String }
    }

    private let stub = StubTransport { _ in .response(status: 200, body: #"{"name": "Ada"}"#) }

    /// Not asynchronous, so that `withMetricsFactory` is not either.
    private func client(_ backend: TestMetrics) -> (client: Client, metrics: ClientMetrics) {
        withMetricsFactory(backend) { () -> (client: Client, metrics: ClientMetrics) in
            var configuration = Client.Configuration(baseURL: "http://test/")
            let metrics = ClientMetrics()
            configuration.metrics = metrics
            return (Client(configuration: configuration, transport: stub), metrics)
        }
    }

    /// The factory is the one that is in force when the object is made.
    @Test func metrics() async throws {
        let backend = TestMetrics()
        let (client, metrics) = client(backend)
        let collecting = Task { await metrics.run() }
        #expect(try await client.run(GetUser(id: 1)).name == "Ada")
        collecting.cancel()
        await collecting.value
        #expect(backend.recorders(label: "http.client.request.duration").count == 1)
        #expect(backend.meters(label: "errand.engine.in_flight").first?.lastValue == 0)
        await client.shutdown()
    }

    /// Compiled only: a process has one metrics system.
    private func service(_ tracer: some Tracer) async {
        let registry = PrometheusCollectorRegistry()
        var factory = PrometheusMetricsFactory(registry: registry)
        factory.valueHistogramBuckets = ClientMetrics.histogramBuckets
        MetricsSystem.bootstrap(factory)
        InstrumentationSystem.bootstrap(tracer)

        let metrics = ClientMetrics()
        var configuration = Client.Configuration(baseURL: "https://api.test/")
        configuration.metrics = metrics
        configuration.tracing = ClientTracing()
        let client = Client(configuration: configuration)

        metrics.collect()
        var page: [UInt8] = []
        registry.emit(into: &page)
        #expect(page.isEmpty)
        await client.shutdown()
    }

    @Test func overrides() async throws {
        let backend = TestMetrics()
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.metrics = ClientMetrics(factory: backend)
        let client = Client(configuration: configuration, transport: stub)
        let id = 7
        var overrides = RequestOverrides()
        overrides.urlTemplate = "/users/{id}"
        let response = try await client.run(RawCommand(url: "users/\(id)"), overrides: overrides)
        #expect(response.statusCode == 200)
        let template = [("url.template", "/users/{id}")]
        #expect(backend.recorders(label: "http.client.request.duration", dimensions: template).count == 1)
        await client.shutdown()
    }

    @Test func statistics() async throws {
        let client = Client()
        #expect(client.engineStatistics?.loops ?? 0 > 0)
        if let statistics = client.engineStatistics {
            print("\(statistics.inFlight) in flight, \(statistics.queued) waiting")
            print("\(statistics.connectionsOpen) connections, \(statistics.connectionsIdle) of them idle")
            print("longest turn \(statistics.longestTurn), longest lag \(statistics.longestLag)")
        }
        await client.shutdown()
    }
}
