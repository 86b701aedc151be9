import CoreMetrics
import Errand
import ErrandMetrics
import ErrandTesting
import MetricsTestKit
import Testing

/// A factory that is a value, as that of swift-prometheus. Its backend has one handler for each metric and label set.
private struct ValueFactory: MetricsFactory {
    let base: TestMetrics
    /// Whether the factory drops all recorders, with the handler of swift-metrics that does nothing.
    var dropsRecorders = false

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        base.makeCounter(label: label, dimensions: dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        base.makeMeter(label: label, dimensions: dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if dropsRecorders { return NOOPMetricsHandler.instance }
        return base.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        base.makeTimer(label: label, dimensions: dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { base.destroyCounter(handler) }
    func destroyMeter(_ handler: any MeterHandler) { base.destroyMeter(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) {
        if !dropsRecorders { base.destroyRecorder(handler) }
    }
    func destroyTimer(_ handler: any TimerHandler) { base.destroyTimer(handler) }
}

/// The statistics of an engine that several clients share are recorded once. Otherwise sums over the clients would
/// count the same events several times.
@Suite(.timeLimit(.minutes(20))) struct MeasuredEngineTests {
    private struct Measured {
        let client: Client
        let metrics: ClientMetrics

        /// The turns of the engine's loops.
        var turns: Int64 { Int64(client.engineStatistics?.turns ?? 0) }

        /// Requests over one connection.
        func send(_ count: Int = 10) async throws {
            for _ in 0..<count { _ = try await client.run(RawCommand(url: "a")) }
        }
    }

    private static let nameLabel = "errand.client.name"
    private static let opened = "errand.engine.connections.opened"
    private static let turns = "errand.engine.turns"
    private static let meters = [
        "errand.engine.in_flight", "errand.engine.queued", "errand.engine.connections", "errand.engine.turn.longest",
        "errand.engine.lag.longest",
    ]

    private let server: ScriptedServer
    private let engine = SharedEngine()
    private let backend = TestMetrics()

    init() throws {
        server = try ScriptedServer()
        try server.on(nil, [.echo])
    }

    private func configuration(_ engine: SharedEngine?) -> Client.Configuration {
        var configuration = Client.Configuration(baseURL: server.url("/"))
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        configuration.connection.idleConnectionSeconds = 3600
        configuration.loops = 1
        configuration.sharedEngine = engine
        return configuration
    }

    /// `factory`: `nil`: that of the suite's backend. `ownEngine`: the client does not share the suite's engine.
    private func client(
        _ name: String, factory: (any MetricsFactory)? = nil, ownEngine: Bool = false
    ) -> Measured {
        let metrics = ClientMetrics(.init(clientName: name), factory: factory ?? backend)
        var configuration = configuration(ownEngine ? nil : engine)
        configuration.metrics = metrics
        return Measured(client: Client(configuration: configuration), metrics: metrics)
    }

    private func total(_ label: String, of name: String) -> Int64 {
        backend.counterTotal(label: label, dimensions: [(Self.nameLabel, name)])
    }

    /// The names of the clients that have meters of an engine.
    private func names(in backend: TestMetrics? = nil) -> Set<String> {
        let backend = backend ?? self.backend
        let all = Self.meters.map { label -> Set<String> in
            let dimensions = backend.meters(label: label).flatMap { $0.dimensions }
            return Set(dimensions.filter { $0.0 == Self.nameLabel }.map { $0.1 })
        }
        return all.reduce(into: []) { $0.formUnion($1) }
    }

    @Test func oneEngineIsRecordedOnce() async throws {
        let (one, two, three) = (client("one"), client("two"), client("three"))
        for measured in [one, two, three] { try await measured.send() }
        try await waitUntil("the connection is idle") { one.client.engineStatistics?.connectionsIdle == 1 }
        for _ in 0..<3 {
            for measured in [three, two, one] { measured.metrics.collect() }
        }
        #expect(total(Self.opened, of: "one") == 1 && backend.counterTotal(label: Self.opened) == 1)
        #expect(total(Self.turns, of: "one") > 0 && backend.counterTotal(label: Self.turns) <= one.turns)
        #expect(names() == ["one"])
        let idle = backend.meters(
            label: "errand.engine.connections", dimensions: [("http.connection.state", "idle")])
        #expect(idle.map(\.lastValue) == [1])
        // A counter without growth is there: a rate needs its zero when the client gets the series.
        #expect(backend.counters(label: Self.turns, dimensions: [(Self.nameLabel, "two")]).count == 1)
        for measured in [one, two, three] { await measured.client.shutdown() }
        for measured in [two, one, three] { measured.metrics.collect() }
        #expect(names().isEmpty)
    }

    /// A program may collect for one client only.
    @Test func anyClientRecordsTheEngine() async throws {
        let (one, two) = (client("one"), client("two"))
        try await one.send()
        two.metrics.collect()
        #expect(total(Self.opened, of: "one") == 1 && total(Self.opened, of: "two") == 0 && names() == ["one"])
        for measured in [one, two] { await measured.client.shutdown() }
    }

    /// Nobody collects for a client that has shut down.
    @Test func theNextClientTakesOver() async throws {
        let (one, two, three) = (client("one"), client("two"), client("three"))
        let begin = one.turns
        try await one.send()
        one.metrics.collect()
        let ofOne = total(Self.turns, of: "one")
        // The second client has ended too when the first one hands over.
        for measured in [two, one] { await measured.client.shutdown() }
        try await three.send()
        three.metrics.collect()
        #expect(names() == ["three"])
        // The growth up to this moment went to the first client's counter, which does not grow any more.
        let atTheEnd = total(Self.turns, of: "one")
        #expect(atTheEnd >= ofOne)
        try await three.send()
        let before = three.turns
        for measured in [one, three, two] { measured.metrics.collect() }
        #expect(total(Self.turns, of: "one") == atTheEnd && total(Self.turns, of: "three") > 0)
        #expect(total(Self.turns, of: "two") == 0)
        // Neither a gap nor growth that is counted twice.
        let sum = backend.counterTotal(label: Self.turns)
        #expect(sum >= before - begin && sum <= three.turns)
        #expect(backend.counterTotal(label: Self.opened) == 1 && names() == ["three"])
        await three.client.shutdown()
        three.metrics.collect()
        #expect(names().isEmpty)
    }

    /// The end of the former client hands its meters over, without a call of `collect()`.
    @Test func aReleasedClientHandsOver() async throws {
        func run() async throws -> Measured {
            let (one, two) = (client("one"), client("two"))
            try await one.send()
            one.metrics.collect()
            #expect(names() == ["one"])
            return two
        }
        let two = try await run()
        try await waitUntil("the other client takes over") { names() == ["two"] }
        two.metrics.collect()
        #expect(total(Self.opened, of: "one") == 1 && backend.counterTotal(label: Self.opened) == 1)
        #expect(backend.counterTotal(label: Self.turns) <= two.turns)
        await two.client.shutdown()
    }

    /// The meters of the former client are those of the next one.
    @Test func clientsWithEqualNames() async throws {
        let idle = [("http.connection.state", "idle")]
        let (one, two) = (client(""), client(""))
        try await one.send()
        try await waitUntil("the connection is idle") { two.client.engineStatistics?.connectionsIdle == 1 }
        for measured in [one, two] { measured.metrics.collect() }
        let meter = try #require(backend.meters(label: "errand.engine.connections", dimensions: idle).first)
        await one.client.shutdown()
        for measured in [one, two] { measured.metrics.collect() }
        #expect(backend.meters(label: "errand.engine.connections", dimensions: idle) == [meter])
        // Not set to 0 at the end of the former client.
        #expect(meter.values.count == 4 && meter.values.allSatisfy { $0 == 1 })
        #expect(backend.counterTotal(label: Self.opened) == 1)
        await two.client.shutdown()
        two.metrics.collect()
        #expect(names().isEmpty && meter.lastValue == 0)
    }

    /// What the engine did for clients without metrics, or while there was no client with metrics, is nobody's.
    @Test func countsBeforeTheFirstClient() async throws {
        let other = Client(configuration: configuration(engine))
        _ = try await other.run(RawCommand(url: "a"))
        let one = client("one")
        try await one.send()
        one.metrics.collect()
        #expect(backend.counterTotal(label: Self.opened) == 0 && total(Self.turns, of: "one") > 0)
        await one.client.shutdown()
        one.metrics.collect()
        let ended = backend.counterTotal(label: Self.turns)
        for _ in 0..<10 { _ = try await other.run(RawCommand(url: "a")) }
        one.metrics.collect()
        let begin = Int64(try #require(other.engineStatistics).turns)
        let two = client("two")
        two.metrics.collect()
        #expect(total(Self.turns, of: "one") == ended && total(Self.turns, of: "two") <= two.turns - begin)
        #expect(names() == ["two"])
        await two.client.shutdown()
        await other.shutdown()
    }

    @Test func eachFactoryGetsTheEngine() async throws {
        let other = TestMetrics()
        let (one, two) = (client("one"), client("two", factory: other))
        try await one.send()
        for measured in [one, two] { measured.metrics.collect() }
        #expect(names() == ["one"] && names(in: other) == ["two"])
        #expect(backend.counterTotal(label: Self.opened) == 1 && other.counterTotal(label: Self.opened) == 1)
        for measured in [one, two] { await measured.client.shutdown() }
    }

    @Test func factoriesThatAreValues() async throws {
        let (first, second, other) = (ValueFactory(base: backend), ValueFactory(base: backend), TestMetrics())
        let (one, two) = (client("one", factory: first), client("two", factory: second))
        let three = client("three", factory: ValueFactory(base: other))
        try await one.send()
        for measured in [one, two, three] { measured.metrics.collect() }
        #expect(backend.counterTotal(label: Self.opened) == 1 && names() == ["one"])
        #expect(other.counterTotal(label: Self.opened) == 1 && names(in: other) == ["three"])
        for measured in [one, two, three] { await measured.client.shutdown() }
    }

    /// The handler that does nothing is one object for all factories.
    @Test func factoriesThatDropTheMetricAreDifferentBackends() async throws {
        let other = TestMetrics()
        let one = client("one", factory: ValueFactory(base: backend, dropsRecorders: true))
        let two = client("two", factory: ValueFactory(base: other, dropsRecorders: true))
        try await one.send()
        for measured in [one, two] { measured.metrics.collect() }
        #expect(backend.counterTotal(label: Self.opened) == 1 && names() == ["one"])
        #expect(other.counterTotal(label: Self.opened) == 1 && names(in: other) == ["two"])
        for measured in [one, two] { await measured.client.shutdown() }
    }

    @Test func enginesAreRecordedSeparately() async throws {
        let (one, two) = (client("one", ownEngine: true), client("two", ownEngine: true))
        for measured in [one, two] {
            try await measured.send()
            measured.metrics.collect()
        }
        #expect(total(Self.opened, of: "one") == 1 && total(Self.opened, of: "two") == 1)
        #expect(names() == ["one", "two"])
        await one.client.shutdown()
        one.metrics.collect()
        #expect(names() == ["two"])
        await two.client.shutdown()
    }

    /// Clients come and go, in any order, while others collect.
    @Test func clientsComeAndGo() async throws {
        // Its engine statistics are there until the end.
        let holder = Client(configuration: configuration(engine))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for round in 0..<20 {
                        let measured = client("\(number)")
                        try await measured.send(2)
                        measured.metrics.collect()
                        // Some are only released, and some end after their last collection.
                        if (number + round) % 3 != 0 { await measured.client.shutdown(.cancel) }
                        if round % 2 == 0 { measured.metrics.collect() }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await waitUntil("no client is left") { names().isEmpty }
        let sum = backend.counterTotal(label: Self.turns)
        let turns = Int64(try #require(holder.engineStatistics).turns)
        #expect(sum > 0 && sum <= turns)
        await holder.shutdown()
    }
}
