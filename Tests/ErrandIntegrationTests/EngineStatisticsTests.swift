import Errand
import ErrandTesting
import Testing

private struct PrioritisedGet: Command {
    var path: String
    var priority: Priority
    typealias Response = String
}

/// What the engine counts, as a program sees it.
@Suite(.timeLimit(.minutes(20))) struct EngineStatisticsTests {
    @Test func requestsAndConnectionsAreCounted() async throws {
        let server = try ScriptedServer()
        try server.on("/a", [.echo])
        try server.on("/b", [.stall])
        let began = ContinuousClock.now
        let client = Client(configuration: .patient(baseURL: server.url(), loops: 1))
        let before = try #require(client.engineStatistics)
        #expect(before.submitted == 0 && before.connectionsOpened == 0 && before.loops == 1)
        for _ in 0..<3 { _ = try await client.run(Get(path: "a")) }
        try await waitUntil("the connection is idle") { client.engineStatistics?.connectionsIdle == 1 }
        let after = try #require(client.engineStatistics)
        // The core forgets the longest turn after 15 seconds at the earliest.
        let isRecent = ContinuousClock.now - began < .seconds(15)
        #expect(after.submitted == 3 && after.completed == 3 && after.inFlight == 0 && after.queued == 0)
        #expect(after.connectionsOpened == 1 && after.connectionsOpen == 1)
        #expect(after.turns > 0 && after.wakeUps > 0 && (1...after.turns).contains(after.deliveries))
        #expect((after.longestTurn > .zero || !isRecent) && after.turnTime >= after.longestTurn)
        #expect(after.lags > 0 && after.lagTime >= after.longestLag)
        client.start(Get(path: "b"))
        #expect(await server.hasSeen(.init(requests: 4)))
        try await waitUntil("a transfer is in flight") { client.engineStatistics?.inFlight == 1 }
        await client.shutdown(.cancel)
        #expect(client.engineStatistics == nil)
    }

    @Test func waitingRequestsAreCounted() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        var configuration = Client.Configuration.patient(baseURL: server.url(), loops: 1)
        configuration.inFlightLimit = 1
        let client = Client(configuration: configuration)
        for number in 0..<3 { client.start(Get(path: "\(number)")) }
        try await waitUntil("two requests wait") { client.engineStatistics?.queued == 2 }
        #expect(client.engineStatistics?.submitted == 3)
        await client.shutdown(.cancel)
    }

    @Test func waitingRequestsAreCountedByPriority() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        var configuration = Client.Configuration.patient(baseURL: server.url(), loops: 1)
        configuration.inFlightLimit = 1
        let client = Client(configuration: configuration)
        client.start(Get(path: "first"))
        #expect(await server.hasSeen(.init(requests: 1)))
        let waiting: [Priority] = [.low, .high, .low, .normal]
        for (number, priority) in waiting.enumerated() {
            client.start(PrioritisedGet(path: "\(number)", priority: priority))
        }
        try await waitUntil("four requests wait") { client.engineStatistics?.queued == 4 }
        let statistics = try #require(client.engineStatistics)
        let counts: [Priority: Int] = [.low: 2, .normal: 1, .high: 1]
        #expect(statistics.queuedByPriority == counts)
        let running: [Priority: Int] = [.low: 0, .normal: 1, .high: 0]
        #expect(statistics.inFlightByPriority == running)
        await client.shutdown(.cancel)
    }

    @Test func anotherTransportHasNone() async throws {
        let client = Client(transport: StubTransport())
        #expect(client.engineStatistics == nil)
        await client.shutdown()
    }
}
