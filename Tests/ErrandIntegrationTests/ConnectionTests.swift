import Errand
import ErrandTesting
import Foundation
import Testing

/// The client's connection options, and what commands add to them.
@Suite struct ConnectionTests {
    private static let wrongPin = String(repeating: "A", count: 43) + "="

    /// Pins and authorities of the client hold for a command that asks for something else.
    @Test func aCommandKeepsTheClientsTLS() async throws {
        let nginx = try Nginx.shared.get()
        let pin = try String(contentsOfFile: nginx.certificate("valid.pin"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let client = try Nginx.client { configuration in
            configuration.connection.tls = .init(caFile: nginx.certificateAuthorityPath, pinnedKeys: [pin])
        }
        let url = nginx.url("/12b", port: .tls)
        let gzip = Get(path: url, connection: ConnectionOptions(encodings: .gzip))
        let unpinned = Get(path: url, connection: ConnectionOptions(tls: .init(pinnedKeys: [])))
        try await Client.with(client) { client async throws -> Void in
            #expect(try await client.run(gzip).statusCode == 200)
            client.reconfigure { $0.connection.tls.pinnedKeys = [Self.wrongPin] }
            await #expect(throws: ErrandError.tlsPinMismatch) { try await client.run(gzip) }
            #expect(try await client.run(unpinned).statusCode == 200)
            client.reconfigure { $0.connection.tls = .init(pinnedKeys: [pin]) }
            await #expect(throws: ErrandError.tlsUntrusted) { try await client.run(gzip) }
        }
    }

    @Test func clearTextToAPinnedHostIsRefused() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        var configuration = Client.Configuration.patient(baseURL: server.url("/"))
        configuration.tlsPolicies["127.0.0.1"] = .init(pinnedKeys: [Self.wrongPin])
        try await Client.with(Client(configuration: configuration)) { client async throws -> Void in
            guard case .failure(let error) = await client.result(of: Get(path: "x")) else {
                return #expect(Bool(false), "it was sent in clear text")
            }
            #expect(error == .unsupportedScheme && error.isRefusal)
            #expect(server.counts.connections == 0)
            client.reconfigure { $0.tlsPolicies["127.0.0.1"]?.requiresTLS = false }
            #expect(try await client.run(Get(path: "x")).statusCode == 200)
        }
    }

    /// An engine that was made with options that cannot be used is repaired by others, or by the file they name.
    @Test func wrongOptionsOfTheClientAreRepaired() async throws {
        let nginx = try Nginx.shared.get()
        let path = FileManager.default.temporaryDirectory.path + "/errand-ca-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let authority = nginx.certificateAuthorityPath
        let get = Get(path: nginx.url("/12b", port: .tls))
        for repair in [
            { (client: Client) in client.reconfigure { $0.connection.tls.caFile = .value(authority) } },
            { _ in try FileManager.default.copyItem(atPath: authority, toPath: path) },
        ] {
            let client = try Nginx.client { configuration in
                configuration.connection.tls.caFile = .value(path)
                configuration.cookies = .memory
            }
            try await Client.with(client) { client async throws -> Void in
                guard case .failure(let error) = await client.result(of: get) else {
                    return #expect(Bool(false), "sent without the authorities")
                }
                #expect(error == .fileUnreadable && error.isRefusal && error.message.contains(path), "\(error)")
                // What has usable options of its own is not concerned.
                let own = Get(path: get.path, connection: ConnectionOptions(tls: .init(caFile: authority)))
                #expect(try await client.run(own).statusCode == 200)
                #expect(try client.cookies?.all().count == 0)
                try repair(client)
                #expect(try await client.run(get).statusCode == 200)
            }
        }
    }

    @Test func aMissingSocketIsNamed() async throws {
        let path = "/nowhere/errand.sock"
        try await Client.with(Client(configuration: .patient())) { client in
            let get = Get(path: "http://h/", connection: ConnectionOptions(unixSocketPath: path))
            guard case .failure(let error) = await client.result(of: get) else { return #expect(Bool(false)) }
            #expect(error == .connectFailed && error.message.contains(path), "\(error)")
        }
    }
}
