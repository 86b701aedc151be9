import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// ``Priority`` on the engine: who starts first where places are short.
@Suite struct PriorityTests {
    private struct Ask: Command {
        var path: String
        var priority = Priority.normal
        var connection: ConnectionOptions?
        var timeouts: Timeouts?
        typealias Response = Errand.Response
    }

    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    /// Two origins and two values of options; the low ones are asked for first.
    @Test(arguments: [1, 4])
    func highGoesFirst(loops: Int) async throws {
        let server = try ScriptedServer()
        try server.on("/hold", [.stall, Self.ok])
        try server.on(nil, [Self.ok])
        var configuration = Client.Configuration.patient(loops: loops)
        configuration.inFlightLimit = 1
        configuration.connection.resolveOverrides = ["other.test:\(server.port):127.0.0.1"]
        try await Client.with(Client(configuration: configuration)) { client in
            client.start(Ask(path: server.url("/hold")))
            #expect(await server.hasSeen(.init(requests: 1)))
            for priority in [Priority.low, .high] {
                let path = "/\(priority)"
                client.start(Ask(path: server.url(path), priority: priority))
                client.start(Ask(path: "http://other.test:\(server.port)\(path)", priority: priority))
                client.start(
                    Ask(
                        path: server.url(path), priority: priority,
                        connection: ConnectionOptions(localInterface: "127.0.0.1")))
            }
            // Each loop must have taken these before the place is given back. All requests of an origin with the same options
            // go to one loop, which takes them in the order of their start. So it has them once it has ended a later one.
            for (origin, options) in [
                ("127.0.0.1", nil), ("other.test", nil), ("127.0.0.1", ConnectionOptions(localInterface: "127.0.0.1")),
            ] as [(String, ConnectionOptions?)] {
                let last = Ask(
                    path: "http://\(origin):\(server.port)/last", connection: options,
                    timeouts: Timeouts(queue: .milliseconds(1)))
                await #expect(throws: ErrandError.timeoutQueue) { try await client.run(last) }
            }
            server.release()
            #expect(await server.hasSeen(.init(requests: 7)))
        }
        #expect(server.requests.map(\.target) == ["/hold"] + ["/high", "/high", "/high", "/low", "/low", "/low"])
    }
}
