import Errand
import ErrandTesting
import Foundation
import Testing

/// ``ConnectionOptions/unixSocketPath`` and ``ConnectionOptions/localInterface``.
@Suite struct RouteTests {
    private func get(_ url: String, by connection: ConnectionOptions) async throws -> Response {
        try await Client.with(Client(configuration: .patient())) { client in
            try await client.run(Get(path: url, connection: connection))
        }
    }

    private func withSocket(_ body: (String, ScriptedServer) async throws -> Void) async throws {
        let path = "/tmp/errand-\(UUID().uuidString).sock"
        try await body(path, ScriptedServer(unixSocketPath: path))
    }

    @Test func aUnixSocket() async throws {
        try await withSocket { path, server in
            try server.on("/file", [.echo])
            let response = try await get("http://nowhere.invalid/file", by: ConnectionOptions(unixSocketPath: path))
            #expect(response.statusCode == 200)
            #expect(server.requests.map { $0.values(of: "Host") } == [["nowhere.invalid"]])
        }
        await #expect(throws: ErrandError.connectFailed) {
            try await get("http://localhost/", by: ConnectionOptions(unixSocketPath: "/tmp/no-such.sock"))
        }
    }

    /// The socket stands for the network: a server behind it cannot lead a client past it.
    @Test func redirectsStayWithinTheSocket() async throws {
        let outside = try ScriptedServer()
        try outside.on(nil, [.echo])
        try await withSocket { path, server in
            try server.on(
                "/from",
                [.send("HTTP/1.1 302 Found\r\nLocation: \(outside.url("/to"))\r\nContent-Length: 0\r\n\r\n")])
            try server.on("/to", [.echo])
            let response = try await get("http://nowhere.invalid/from", by: ConnectionOptions(unixSocketPath: path))
            #expect(response.statusCode == 200)
            #expect(server.requests.map(\.target) == ["/from", "/to"])
            #expect(outside.requests.isEmpty)
        }
    }

    @Test func whereAConnectionBegins() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        for name in ["127.0.0.1", "127.0.0.2", "lo", .libraryDefault] as [Setting<String>] {
            var options = ConnectionOptions()
            options.localInterface = name
            let response = try await get(server.url("/"), by: options)
            #expect(response.statusCode == 200)
        }
        for name in ["localhost", "nowhere.invalid", "eth99", ""] {
            await #expect(throws: ErrandError.invalidOption) {
                try await get(server.url("/"), by: ConnectionOptions(localInterface: name))
            }
        }
        #expect(server.requests.count == 4)
    }
}
