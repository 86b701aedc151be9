import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// Clients of one process, and calls of `collect()` at the same time.
@Suite(.timeLimit(.minutes(20))) struct SeveralClientsTests {
    private static let retrying = Resilience(retry: RetryPolicy(backoff: .none), budget: nil)
    private let stub = StubTransport { _ in .response(status: 503) }

    /// Otherwise the meters would have the values of the client that was collected last.
    @Test func clientsHaveSeriesOfTheirOwn() async throws {
        let backend = TestMetrics()
        let (one, two) = ([("errand.client.name", "one")], [("errand.client.name", "two")])
        let first = MeasuredClient(stub, ClientMetrics.Options(clientName: "one"), backend: backend) {
            $0.resilience = Resilience(
                retry: RetryPolicy(backoff: .none), budget: nil,
                breaker: BreakerPolicy(window: .count(3), minimumCalls: 3))
        }
        let second = MeasuredClient(stub, ClientMetrics.Options(clientName: "two"), backend: backend) {
            $0.resilience = .standard
        }
        _ = await first.client.result(of: GetText())
        first.metrics.collect()
        second.metrics.collect()
        let open = ("errand.breaker.state", "open")
        #expect(first.meter("errand.breakers", one + [open]) == 1)
        #expect(first.meter("errand.breakers", two + [open]) == 0)
        #expect(backend.meters(label: "errand.engine.in_flight").count == 2 * Priority.allCases.count)
        await first.client.shutdown()
        await second.client.shutdown()
    }

    /// What shared parts have counted before is not that of a client that joins.
    @Test func aClientThatJoinsBeginsWithZero() async throws {
        let backend = TestMetrics()
        let parts = ResilienceParts(Self.retrying)
        func client(_ name: String) -> MeasuredClient {
            MeasuredClient(stub, ClientMetrics.Options(clientName: name), backend: backend) {
                $0.resilience = Self.retrying
                $0.resilienceParts = parts
            }
        }
        let first = client("one")
        _ = await first.client.result(of: GetText())
        let second = client("two")
        for metrics in [first.metrics, second.metrics] { metrics.collect() }
        #expect(first.total("errand.retries", [("errand.client.name", "one")]) == 2)
        #expect(first.total("errand.retries", [("errand.client.name", "two")]) == 0)
        _ = await second.client.result(of: GetText())
        second.metrics.collect()
        #expect(first.total("errand.retries", [("errand.client.name", "two")]) == 2)
        await first.client.shutdown()
        await second.client.shutdown()
    }

    /// No growth is counted twice.
    @Test func collectionsAtTheSameTime() async throws {
        let measured = MeasuredClient(stub) { $0.resilience = Self.retrying }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<200 { measured.metrics.collect() } }
            }
            for _ in 0..<50 {
                group.addTask { _ = await measured.client.result(of: GetText()) }
            }
        }
        measured.metrics.collect()
        #expect(measured.total("errand.retries") == 100)
        await measured.client.shutdown()
    }
}
