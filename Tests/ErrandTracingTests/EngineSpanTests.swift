import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Testing
import Tracing

/// Spans of the engine, over loopback.
@Suite(.timeLimit(.minutes(20))) struct EngineSpanTests {
    private func client(_ server: ScriptedServer, _ tracer: InMemoryTracer) -> Client {
        var configuration = Client.Configuration(
            baseURL: server.url("/"), timeouts: Timeouts(connect: .seconds(240)), loops: 1)
        configuration.connection.idleConnectionSeconds = 3600
        configuration.tracing = ClientTracing(tracer: tracer)
        return Client(configuration: configuration)
    }

    @Test func theEngineKnowsThePeerAndThePhases() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let tracer = InMemoryTracer()
        let client = client(server, tracer)
        for _ in 0..<2 { _ = try await client.run(RawCommand(url: "a")) }
        let spans = tracer.finishedSpans
        #expect(spans.count == 2)
        for span in spans {
            #expect(span.text("network.peer.address") == "127.0.0.1")
            #expect(span.number("network.peer.port") == Int64(server.port))
            #expect(span.text("network.protocol.version") == "1.1" && span.number("server.port") == Int64(server.port))
            let times = span.events.map(\.nanosecondsSinceEpoch)
            #expect(times == times.sorted())
            #expect(
                times.allSatisfy {
                    (span.startInstant.nanosecondsSinceEpoch...span.endInstant.nanosecondsSinceEpoch).contains($0)
                })
        }
        // The second connection is the first one.
        #expect(spans.map { $0.events.contains { $0.name == "errand.connected" } } == [true, false])
        #expect(spans.allSatisfy { $0.events.contains { $0.name == "errand.first_byte" } })
        await client.shutdown()
    }

    @Test func aStreamHasItsVersion() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let tracer = InMemoryTracer()
        let client = client(server, tracer)
        let response = try await client.stream(RawCommand(url: "a"))
        #expect(tracer.finishedSpans.first?.text("network.protocol.version") == "1.1")
        #expect(tracer.activeSpans.isEmpty)
        for try await _ in response.body {}
        await client.shutdown()
        #expect(tracer.finishedSpans.count == 1)
    }

    @Test func aConnectionThatFails() async throws {
        let tracer = InMemoryTracer()
        var configuration = Client.Configuration(baseURL: "http://127.0.0.1:1/")
        configuration.tracing = ClientTracing(tracer: tracer)
        let client = Client(configuration: configuration)
        _ = await client.result(of: RawCommand(url: "a"))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.text("error.type") == "connectFailed" && span.isError)
        #expect(span.attributes.get("http.response.status_code") == nil)
        await client.shutdown()
    }
}
