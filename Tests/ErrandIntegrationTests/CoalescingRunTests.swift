import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient

private struct GetSlow: Command {
    var path = "slow"
    var options: CommandOptions = .coalesced
    typealias Response = String
}

@Suite(.timeLimit(.minutes(5))) struct CoalescingRunTests {
    /// A thundering herd is one request on the wire, whoever waits and however he waits.
    @Test func aHerdIsOneRequest() async throws {
        let server = try ScriptedServer()
        try server.on("/slow", [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl"), .stall, .send("ow")])
        var configuration = Client.Configuration.patient(baseURL: server.url())
        configuration.loops = 2
        try await Client.with(Client(configuration: configuration)) { client in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 { group.addTask { try await client.run(GetSlow()) } }
                let stopped = client.start(GetSlow())
                try await waitUntil("201 requests to have joined") { client.coalescing.memberCount >= 201 }
                stopped.stop()
                #expect(await server.hasSeen(.init(requests: 1)))
                server.release()
                for try await text in group { #expect(text == "slow") }
            }
        }
        #expect(server.counts.requests == 1)
    }

    /// The last one to leave ends the transfer on the wire.
    @Test func theLastOneClosesTheConnection() async throws {
        let server = try ScriptedServer()
        try server.on("/slow", [.stall])
        try await Client.with(Client(configuration: .patient(baseURL: server.url()))) { client in
            let requests = (0..<10).map { _ in client.start(GetSlow()) }
            #expect(await server.hasSeen(.init(requests: 1)))
            for request in requests { request.stop() }
            #expect(await server.hasSeen(.init(closed: 1)))
        }
        #expect(server.counts.requests == 1)
    }
}
