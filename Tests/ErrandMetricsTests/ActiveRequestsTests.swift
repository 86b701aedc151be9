import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// Whatever becomes of attempts, each is active once and no longer.
@Suite(.timeLimit(.minutes(20))) struct ActiveRequestsTests {
    /// Retries, hedges, refusals, stops and a shutdown, all at the same time.
    @Test func nothingIsActiveAfterwards() async throws {
        let stub = StubTransport { description in
            switch String(description.url.split(separator: "/").last ?? "") {
            case "bad": .response(status: 503)
            case "late": .failure(.timeoutIdle)
            case "full": .refuse(.queueFull)
            case "never": .hold
            default: .response(status: 200, body: "text")
            }
        }
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(1)), maxExtra: 1, budget: .init(ratio: 1, floorPerSecond: 1000))
        let measured = MeasuredClient(stub) {
            $0.resilience = Resilience(retry: RetryPolicy(backoff: .none), budget: nil, hedge: hedge)
        }
        let client = measured.client
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for number in 0..<30 {
                        let host = "host\((task + number) % 3)"
                        for path in ["text", "bad", "late", "full"] {
                            _ = await client.result(of: RawCommand(url: "http://\(host)/\(path)"))
                        }
                        let request = client.start(RawCommand(url: "http://\(host)/never"))
                        await Task.yield()
                        // Some are left for the shutdown.
                        if number % 4 > 0 { request.stop() }
                    }
                }
            }
        }
        await client.shutdown(.cancel)
        let active = measured.backend.meters(label: "http.client.active_requests")
        #expect(active.count == 3)
        try await waitUntil("no attempt is active") { active.allSatisfy { $0.lastValue == 0 } }
        let attempts = measured.backend.recorders(label: "http.client.request.duration").map(\.values.count)
        #expect(attempts.reduce(0, +) >= stub.submitted.count)
    }

    /// The caller has not got that head.
    @Test func aHeadThatIsRetriedDoesNotEndTheRequest() async throws {
        let stub = StubTransport()
        let measured = MeasuredClient(stub) {
            $0.clock = ManualClock()
            $0.resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .seconds(60))), budget: nil)
        }
        let client = measured.client
        let streaming = Task { _ = try await client.stream(GetText()) }
        try await waitUntil("the transfer is open") { !stub.open.isEmpty }
        stub.send(.head(Response(statusCode: 503)), to: stub.open[0])
        try await waitUntil("the attempt has ended") { stub.open.isEmpty }
        await allowTime(for: "the wait for the retry is not counted", .milliseconds(200))
        #expect(stub.submitted.count == 1)
        await client.shutdown(.cancel)
        _ = await streaming.result
        try await waitUntil("the request has ended") {
            !measured.backend.recorders(label: "errand.request.duration").isEmpty
        }
        let time = try #require(try measured.recorder("errand.request.duration").values.first)
        #expect(time >= 0.2)
    }
}
