import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// The series of breakers, budgets and limits.
@Suite(.timeLimit(.minutes(20))) struct ResilienceMetricsTests {
    private static let state = "errand.breaker.state"
    private let stub = StubTransport { _ in .response(status: 200, body: "text") }

    private func client(_ limit: Int = 1000) throws -> (measured: MeasuredClient, parts: ResilienceParts) {
        let measured = MeasuredClient(stub, ClientMetrics.Options(labelSetLimit: limit)) {
            $0.resilience = Resilience(breaker: BreakerPolicy())
        }
        return (measured, try #require(measured.client.resilience))
    }

    /// The names of the breakers with series, each with its state.
    private func breakers(_ measured: MeasuredClient) -> [String: String] {
        var found: [String: String] = [:]
        for meter in measured.backend.meters(label: Self.state) where meter.lastValue == 1 {
            let labels = Dictionary(meter.dimensions.map { ($0.0, $0.1) }, uniquingKeysWith: { $1 })
            found[labels["errand.breaker.name"] ?? ""] = labels["errand.breaker.state"]
        }
        return found
    }

    /// Of more hosts than there may be series, those whose breaker is not closed are shown.
    @Test func openBreakersAreShownFirst() async throws {
        let (measured, parts) = try client(1)
        for host in ["a", "b", "c"] { _ = try await measured.client.run(RawCommand(url: "http://\(host)/")) }
        measured.metrics.collect()
        #expect(breakers(measured) == ["http://a:80": "closed"])
        let breaker = try #require(parts.breakers?.breaker(for: "http://c:80"))
        breaker.force(.open)
        measured.metrics.collect()
        #expect(breakers(measured) == ["http://c:80": "forcedOpen"])
        // It stays when it is closed again.
        breaker.release()
        measured.metrics.collect()
        #expect(breakers(measured) == ["http://c:80": "closed"])
        #expect(measured.backend.meters(label: Self.state).count == BreakerState.allCases.count)
        #expect(measured.backend.meters(label: "errand.retry.budget").count == 1)
        #expect(measured.meter("errand.breakers", [(Self.state, "closed")]) == 3)
        await measured.client.shutdown()
    }

    /// A forgotten breaker would stay open in the backend for ever.
    @Test func forgottenBreakersHaveNoSeries() async throws {
        let (measured, parts) = try client(5000)
        let all = try #require(parts.breakers)
        _ = all.breaker(for: "first")
        measured.metrics.collect()
        #expect(breakers(measured).keys.contains("first"))
        for number in 0..<1024 { _ = all.breaker(for: "\(number)") }
        measured.metrics.collect()
        #expect(!breakers(measured).keys.contains("first"))
        #expect(measured.backend.meters(label: Self.state).count == all.all.count * BreakerState.allCases.count)
        await measured.client.shutdown()
    }

    /// Of the breakers of one name the worst state is shown.
    @Test func thePartsOfCommandsAreCollected() async throws {
        let (measured, parts) = try client()
        let name = "http://test:80"
        _ = parts.breakers?.breaker(for: name)
        parts.circuitBreakers(with: BreakerPolicy(minimumCalls: 7)).breaker(for: name).force(.open)
        _ = parts.circuitBreakers(with: BreakerPolicy(minimumCalls: 8)).breaker(for: name)
        for permits in [10, 20] {
            let limit = parts.rateLimit(with: RateLimit.Settings(rate: .init(permits, per: .seconds(1))))
            try await limit.wait(name)
        }
        for _ in 0..<2 { measured.metrics.collect() }
        #expect(breakers(measured) == [name: "forcedOpen"])
        #expect(measured.meter("errand.breakers", [(Self.state, "closed")]) == 2)
        #expect(measured.meter("errand.breakers", [(Self.state, "forcedOpen")]) == 1)
        let granted = [("errand.limit.kind", "rate"), ("errand.limit.result", "granted")]
        #expect(measured.total("errand.limit.requests", granted) == 2)
        await measured.client.shutdown()
    }

    /// What the alert rules ask for.
    @Test func stoppedRetriesAndTransitionsAreCounted() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let measured = MeasuredClient(stub) {
            $0.resilience = Resilience(
                retry: RetryPolicy(backoff: .none), budget: nil,
                breaker: BreakerPolicy(window: .count(3), minimumCalls: 3))
        }
        _ = await measured.client.result(of: GetText())
        for _ in 0..<2 { measured.metrics.collect() }
        #expect(measured.total("errand.retries.stopped", [("errand.retry.stop", "attemptsExhausted")]) == 1)
        #expect(measured.total("errand.breaker.transitions", [(Self.state, "open")]) == 1)
        #expect(measured.client.resilience?.counts.transitions == [.open: 1])
        await measured.client.shutdown()
    }
}
