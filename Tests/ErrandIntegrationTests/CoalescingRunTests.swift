import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import ErrandClient

private struct GetSlow: Command {
    var path = "slow"
    var options: CommandOptions = .coalesced
    typealias Response = String
}

private struct GetRaw: Command {
    var path = "slow"
    var options: CommandOptions { .coalesced }
    typealias Response = Errand.Response
}

@Suite(.timeLimit(.minutes(20))) struct CoalescingRunTests {
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

    /// Behind a cache each request has a response of its own over the memory of the transfer. `Data` writes in place where
    /// it has the only reference to its buffer.
    @Test func behindACacheDataIsApart() async throws {
        let text = String(repeating: "0123456789", count: 100)
        let server = try ScriptedServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nCache-Control: no-store\r\n\r\n"
        try server.on("/slow", [.stall, .send(head + text)])
        var configuration = Client.Configuration.patient(baseURL: server.url())
        configuration.cache = ResponseCache(MemoryCacheStore())
        configuration.settings.cache = .http
        try await Client.with(Client(configuration: configuration)) { client in
            async let first = client.run(GetRaw()).body.data
            async let second = client.run(GetRaw()).body
            try await waitUntil("both to have joined") { client.coalescing.memberCount >= 2 }
            #expect(await server.hasSeen(.init(requests: 1)))
            server.release()
            var data = try await first
            let body = try await second
            let place = data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            #expect(place == body.withBytes { UInt(bitPattern: $0.baseAddress) })
            try await waitUntil("the client has let go of the requests") { client.requests.isEmpty }
            data[0] = 90
            #expect(body.bytes == Array(text.utf8))
            #expect(body.data == Data(text.utf8))
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
