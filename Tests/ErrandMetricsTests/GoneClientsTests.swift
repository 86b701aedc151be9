import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// The meters of a client that has shut down, or is gone. Otherwise they have their last values for ever.
@Suite(.timeLimit(.minutes(20))) struct GoneClientsTests {
    private static let meters = [
        "errand.engine.in_flight", "errand.engine.queued", "errand.engine.connections", "errand.breakers",
        "errand.breaker.state", "errand.retry.budget",
    ]
    private static let open = ("errand.breaker.state", "open")
    private let backend = TestMetrics()
    /// Answers 503 to the host `bad`.
    private let stub = StubTransport { .response(status: $0.url.contains("bad") ? 503 : 200, body: "text") }

    private func client(_ name: String = "") -> MeasuredClient {
        MeasuredClient(stub, ClientMetrics.Options(clientName: name), backend: backend) {
            $0.resilience = Resilience(
                retry: RetryPolicy(backoff: .none), breaker: BreakerPolicy(window: .count(3), minimumCalls: 3))
        }
    }

    private func count(_ label: String, _ dimensions: [(String, String)] = []) -> Int {
        backend.meters(label: label, dimensions: dimensions).count
    }

    @Test func aShutDownClientHasNone() async throws {
        let measured = client()
        _ = await measured.client.result(of: RawCommand(url: "http://bad/"))
        measured.metrics.collect()
        #expect(measured.meter("errand.breakers", [Self.open]) == 1)
        #expect(Self.meters.allSatisfy { count($0) > 0 })
        let kept = try #require(backend.meters(label: "errand.breakers", dimensions: [Self.open]).first)
        await measured.client.shutdown()
        for _ in 0..<2 { measured.metrics.collect() }
        #expect(Self.meters.allSatisfy { count($0) == 0 })
        // What a backend sends that does not destroy.
        #expect(kept.lastValue == 0)
        // Counters only rise.
        #expect(measured.total("errand.retries") == 2)
    }

    /// Nobody collects any more.
    @Test func releasedMetricsHaveNone() async throws {
        func run() async {
            let measured = client()
            _ = await measured.client.result(of: RawCommand(url: "http://bad/"))
            measured.metrics.collect()
            #expect(Self.meters.allSatisfy { count($0) > 0 })
            await measured.client.shutdown()
        }
        await run()
        try await waitUntil("the meters are destroyed") { Self.meters.allSatisfy { count($0) == 0 } }
    }

    /// The client that follows has the same name, as after a reload.
    @Test func metersOfTheNextClientStay() async throws {
        let former = client()
        _ = await former.client.result(of: RawCommand(url: "http://bad/"))
        former.metrics.collect()
        let next = client()
        _ = await next.client.result(of: RawCommand(url: "http://good/"))
        next.metrics.collect()
        await former.client.shutdown()
        former.metrics.collect()
        #expect(count("errand.breaker.state", [("errand.breaker.name", "http://bad:80")]) == 0)
        #expect(count("errand.breaker.state", [("errand.breaker.name", "http://good:80")]) > 0)
        #expect(count("errand.engine.in_flight") == Priority.allCases.count && count("errand.breakers") > 0)
        next.metrics.collect()
        #expect(next.meter("errand.breakers", [Self.open]) == 0)
        await next.client.shutdown()
        next.metrics.collect()
        #expect(Self.meters.allSatisfy { count($0) == 0 })
    }
}
