import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

private struct GetCached: Command {
    var path: String { "cached" }
    var cache: CachePolicy { .timed(.seconds(86_400)) }
    typealias Response = String
}

private struct GetPrioritised: Command {
    var path: String { "prioritised" }
    var priority: Priority
    typealias Response = String
}

/// What Errand records beyond the conventions.
@Suite(.timeLimit(.minutes(20))) struct RequestMetricsTests {
    private let stub = StubTransport { _ in .response(status: 200, body: "text") }

    @Test func theCachesPartIsCounted() async throws {
        let measured = MeasuredClient(stub)
        for _ in 0..<3 { _ = try await measured.client.run(GetCached()) }
        let label = "errand.cache.requests"
        #expect(measured.backend.counterTotal(label: label, dimensions: [("errand.cache.result", "hit")]) == 2)
        #expect(measured.backend.counterTotal(label: label, dimensions: [("errand.cache.result", "uri-miss")]) == 1)
        // An answer of the cache is no attempt.
        #expect(try measured.recorder("http.client.request.duration").values.count == 1)
        #expect(try measured.recorder("errand.request.attempts").values.sorted() == [0, 0, 1])
        await measured.client.shutdown()
    }

    /// The children are measured, and the group is not.
    @Test func groupsAreNoRequests() async throws {
        let measured = MeasuredClient(stub)
        _ = try await measured.client.run(Batch((0..<4).map { GetUser(id: $0) }, maxConcurrent: 1))
        #expect(try measured.recorder("errand.request.duration").values.count == 4)
        #expect(try measured.recorder("errand.request.attempts").values == [1, 1, 1, 1])
        await measured.client.shutdown()
    }

    @Test func theClientsResilienceIsCollected() async throws {
        let stub = StubTransport {
            $0.url.contains("bad") ? .response(status: 503) : .response(status: 200, body: "text")
        }
        let measured = MeasuredClient(stub) {
            // The clock stands still: the breaker stays open, and the budget gets no tokens.
            $0.clock = ManualClock()
            $0.resilience = Resilience(
                retry: RetryPolicy(backoff: .none), breaker: BreakerPolicy(window: .count(6), minimumCalls: 6))
        }
        for _ in 0..<2 { _ = await measured.client.result(of: RawCommand(url: "http://bad/")) }
        _ = await measured.client.result(of: RawCommand(url: "http://bad/"))
        _ = try await measured.client.run(GetText())
        for _ in 0..<2 { measured.metrics.collect() }
        #expect(
            measured.backend.counterTotal(label: "errand.retries", dimensions: [("errand.retry.reason", "status503")])
                == 4)
        #expect(
            measured.backend.counterTotal(label: "errand.refusals", dimensions: [("errand.refusal.by", "breaker")]) > 0)
        #expect(measured.meter("errand.breakers", [("errand.breaker.state", "open")]) == 1)
        #expect(measured.meter("errand.breakers", [("errand.breaker.state", "closed")]) == 1)
        let bad = ("errand.breaker.name", "http://bad:80")
        #expect(measured.meter("errand.breaker.state", [bad, ("errand.breaker.state", "open")]) == 1)
        #expect(measured.meter("errand.breaker.state", [bad, ("errand.breaker.state", "closed")]) == 0)
        let budget = try #require(measured.meter("errand.retry.budget", [("errand.budget.name", "http://bad:80")]))
        #expect((0..<10).contains(budget))
        await measured.client.shutdown()
    }

    @Test func theEngineIsCollected() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let backend = TestMetrics()
        let metrics = ClientMetrics(factory: backend)
        var configuration = Client.Configuration(baseURL: server.url("/"))
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        configuration.connection.idleConnectionSeconds = 3600
        configuration.loops = 1
        configuration.metrics = metrics
        let began = ContinuousClock.now
        let client = Client(configuration: configuration)
        for _ in 0..<3 { _ = try await client.run(RawCommand(url: "a")) }
        try await waitUntil("the connection is idle") { client.engineStatistics?.connectionsIdle == 1 }
        for _ in 0..<2 { metrics.collect() }
        // The core forgets the longest turn after 15 seconds at the earliest.
        let isRecent = ContinuousClock.now - began < .seconds(15)
        #expect(backend.counterTotal(label: "errand.engine.connections.opened") == 1)
        #expect(backend.counterTotal(label: "errand.engine.turns") > 0)
        #expect(backend.counterTotal(label: "errand.engine.lags") > 0)
        // TestMetrics has whole seconds only, and this took less.
        #expect(backend.counters(label: "errand.engine.turn.time").count == 1)
        #expect(backend.counters(label: "errand.engine.lag.time").count == 1)
        let longestTurn = try #require(backend.meters(label: "errand.engine.turn.longest").first?.lastValue)
        #expect((0..<60).contains(longestTurn) && (longestTurn > 0 || !isRecent))
        let longestLag = try #require(backend.meters(label: "errand.engine.lag.longest").first?.lastValue)
        #expect((0..<60).contains(longestLag))
        #expect(backend.meters(label: "errand.engine.in_flight").first?.lastValue == 0)
        let idle = [("http.connection.state", "idle")]
        #expect(backend.meters(label: "errand.engine.connections", dimensions: idle).first?.lastValue == 1)
        #expect(
            backend.counterTotal(label: "errand.attempts", dimensions: [("errand.connection.reused", "true")]) == 2)
        #expect(
            backend.counterTotal(label: "errand.attempts", dimensions: [("errand.connection.reused", "false")]) == 1)
        let version = backend.recorders(
            label: "http.client.request.duration", dimensions: [("network.protocol.version", "1.1")])
        #expect(version.flatMap(\.values).count == 3)
        await client.shutdown()
        metrics.collect()
        #expect(backend.meters(label: "errand.engine.connections").isEmpty)
        #expect(backend.meters(label: "errand.engine.turn.longest").isEmpty)
    }

    @Test func waitingAttemptsAreCollectedByPriority() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        let backend = TestMetrics()
        let metrics = ClientMetrics(factory: backend)
        var configuration = Client.Configuration(baseURL: server.url("/"))
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        configuration.loops = 1
        configuration.inFlightLimit = 1
        configuration.metrics = metrics
        let client = Client(configuration: configuration)
        client.start(RawCommand(url: "first"))
        try await waitUntil("a transfer is in flight") { client.engineStatistics?.inFlight == 1 }
        for priority in [Priority.low, .low, .normal] { client.start(GetPrioritised(priority: priority)) }
        try await waitUntil("three transfers wait") { client.engineStatistics?.queued == 3 }
        metrics.collect()
        func queued(_ priority: String) -> Double? {
            backend.meters(label: "errand.engine.queued", dimensions: [("errand.request.priority", priority)]).first?
                .lastValue
        }
        #expect(queued("low") == 2 && queued("normal") == 1 && queued("high") == 0)
        let running = backend.meters(
            label: "errand.engine.in_flight", dimensions: [("errand.request.priority", "normal")])
        #expect(running.map(\.lastValue) == [1])
        await client.shutdown(.cancel)
        metrics.collect()
        #expect(backend.meters(label: "errand.engine.queued").isEmpty)
    }

    @Test func collectingGoesOnUntilItIsCancelled() async throws {
        let clock = ManualClock()
        let backend = TestMetrics()
        let metrics = ClientMetrics(.init(interval: .seconds(5)), factory: backend, clock: clock)
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.metrics = metrics
        let client = Client(configuration: configuration, transport: stub)
        let collecting = Task { await metrics.run() }
        func count() throws -> Int { try #require(backend.meters(label: "errand.engine.in_flight").first).values.count }
        await clock.sleepers(1)
        #expect(try count() == 1)
        clock.advance(by: .seconds(5))
        await clock.sleepers(1)
        #expect(try count() == 2)
        collecting.cancel()
        await collecting.value
        // What has happened since.
        #expect(try count() == 3)
        await client.shutdown()
    }

    /// The metrics do not keep the client. A service that returns would end its group.
    @Test func collectingGoesOnWithoutTheClient() async throws {
        let clock = ManualClock()
        let metrics = ClientMetrics(factory: TestMetrics(), clock: clock)
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.metrics = metrics
        var client: Client? = Client(configuration: configuration, transport: stub)
        let collecting = Task { await metrics.run() }
        await clock.sleepers(1)
        weak let gone = client
        #expect(gone != nil)
        client = nil
        #expect(gone == nil)
        clock.advance(by: .seconds(10))
        await clock.sleepers(1)
        collecting.cancel()
        await collecting.value
    }

    /// Of a configuration that several clients are made with.
    @Test func aConfigurationHasOneObject() {
        var configuration = Client.Configuration()
        #expect(configuration.metrics == nil)
        let metrics = ClientMetrics(factory: TestMetrics())
        configuration.metrics = metrics
        configuration.metrics = metrics
        #expect(configuration.metrics === metrics)
        configuration.metrics = nil
        #expect(configuration.metrics == nil)
    }

    @Test func theAdvisedBuckets() {
        #expect(ClientMetrics.durationBuckets.count == 14)
        #expect(ClientMetrics.durationBuckets == ClientMetrics.durationBuckets.sorted())
    }
}
