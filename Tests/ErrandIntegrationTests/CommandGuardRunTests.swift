import Errand
import ErrandTesting
import Testing

/// The guard of a command in the place of its client's, by real connections.
@Suite(.timeLimit(.minutes(20))) struct CommandGuardRunTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private struct Ask: Command {
        var path: String
        var addressGuard: CommandPart<AddressGuard>?
        var resilience: RequestResilience? { addressGuard.map { RequestResilience(addressGuard: $0) } }
        typealias Response = Errand.Response
    }

    /// A guard that opens these ports of 127.0.0.1.
    private static func opening(_ ports: Int...) throws -> AddressGuard {
        var subject = AddressGuard()
        for port in ports {
            let port = try #require(UInt16(exactly: port))
            subject.rules.append(try .allow("127.0.0.1", ports: port...port))
        }
        return subject
    }

    private func with(_ subject: AddressGuard?, _ body: (Client) async throws -> Void) async throws {
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.addressGuard = subject
        try await Client.with(Client(configuration: configuration), body)
    }

    private func expectRefused(
        _ client: Client, _ ask: Ask, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: ErrandError.addressRefused, sourceLocation: sourceLocation) {
            try await client.run(ask)
        }
    }

    /// The kept connection of the other requests is not used.
    @Test func aStricterCommand() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        try await with(nil) { client async throws -> Void in
            let open = Ask(path: server.url())
            #expect(try await client.run(open).statusCode == 200)
            for _ in 0..<3 { await expectRefused(client, Ask(path: server.url(), addressGuard: .own(AddressGuard()))) }
            #expect(try await client.run(open).metrics.isConnectionReused)
            var overrides = RequestOverrides()
            overrides.resilience = RequestResilience(addressGuard: .own(AddressGuard()))
            await #expect(throws: ErrandError.addressRefused) { try await client.run(open, overrides: overrides) }
            // Without a guard of the client there is nothing to switch off.
            #expect(try await client.run(Ask(path: server.url(), addressGuard: .off)).metrics.isConnectionReused)
            #expect(client.addressGuardCounts == nil)
            let counts = try #require(client.addressGuardCounts(of: AddressGuard()))
            #expect(counts.refused == 4 && counts.byRule == ["loopback": 4])
            #expect(client.addressGuardCounts(of: AddressGuard(ports: [1...1])) == nil)
        }
        #expect(server.counts.connections == 1 && server.counts.requests == 3)
    }

    @Test func aLooserCommand() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        let opening = try Self.opening(server.port)
        try await with(AddressGuard()) { client async throws -> Void in
            await expectRefused(client, Ask(path: server.url()))
            let choices: [CommandPart<AddressGuard>] = [.off, .own(opening)]
            for choice in choices {
                let ask = Ask(path: server.url(), addressGuard: choice)
                #expect(try await !client.run(ask).metrics.isConnectionReused)
                #expect(try await client.run(ask).metrics.isConnectionReused)
                // These connections are no way around the client's guard.
                await expectRefused(client, Ask(path: server.url()))
            }
            #expect(client.addressGuardCounts?.refused == 3)
            #expect(client.addressGuardCounts(of: opening)?.refused == 0)
        }
        #expect(server.counts.connections == 2 && server.counts.requests == 4)
    }

    /// A guard that equals the client's is the client's, with its connections and its counts.
    @Test func anEqualGuard() async throws {
        let (server, other) = (try ScriptedServer(), try ScriptedServer())
        for server in [server, other] { try server.on(nil, [.send(Self.ok)]) }
        let subject = try Self.opening(server.port)
        try await with(subject) { client async throws -> Void in
            #expect(try await client.run(Ask(path: server.url())).statusCode == 200)
            let equal = CommandPart.own(try Self.opening(server.port))
            #expect(try await client.run(Ask(path: server.url(), addressGuard: equal)).metrics.isConnectionReused)
            await expectRefused(client, Ask(path: other.url(), addressGuard: equal))
            #expect(client.addressGuardCounts?.refused == 1 && client.addressGuardCounts(of: subject)?.refused == 1)
        }
        #expect(server.counts.connections == 1 && other.counts.connections == 0)
    }

    /// Redirects, streams and downloads of the command are under its guard too.
    @Test func everyTransferOfTheCommand() async throws {
        let (own, other) = (try ScriptedServer(), try ScriptedServer())
        let folder = try DownloadTests.Folder()
        try other.on(nil, [.send(Self.ok)])
        try own.on(
            nil, [.send("HTTP/1.1 302 There\r\nLocation: \(other.url())\r\nContent-Length: 0\r\n\r\n")])
        let subject = CommandPart.own(try Self.opening(own.port))
        try await with(nil) { client async throws -> Void in
            #expect(try await client.run(Ask(path: own.url())).statusCode == 200)
            await expectRefused(client, Ask(path: own.url(), addressGuard: subject))
            await #expect(throws: ErrandError.addressRefused) {
                _ = try await client.stream(Ask(path: other.url(), addressGuard: subject))
            }
            await #expect(throws: ErrandError.addressRefused) {
                _ = try await client.run(
                    Download(Ask(path: other.url(), addressGuard: subject), to: .directory(folder.path)))
            }
        }
        #expect(other.counts.requests == 1)
    }

    @Test func aDryRunOfTheCommand() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        let dry = AddressGuard(isDryRun: true)
        try await with(nil) { client async throws -> Void in
            #expect(try await client.run(Ask(path: server.url(), addressGuard: .own(dry))).statusCode == 200)
            #expect(client.addressGuardCounts(of: dry)?.wouldRefuse == 1)
            await expectRefused(client, Ask(path: server.url(), addressGuard: .own(AddressGuard())))
        }
        #expect(server.counts.connections == 1)
    }

    /// An address that a proxy is asked for is judged by the command's guard.
    @Test func behindAProxy() async throws {
        let proxy = try ScriptedServer()
        try proxy.on(nil, [.send(Self.ok)])
        let opening = try Self.opening(proxy.port)
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.connection.proxy = .url("http://127.0.0.1:\(proxy.port)")
        try await Client.with(Client(configuration: configuration)) { client async throws -> Void in
            let url = "http://10.0.0.1/"
            #expect(try await client.run(Ask(path: url)).statusCode == 200)
            await expectRefused(client, Ask(path: url, addressGuard: .own(opening)))
            #expect(
                try await client.run(Ask(path: "http://name.test/", addressGuard: .own(opening))).statusCode == 200)
        }
        #expect(proxy.counts.requests == 2)
    }

    /// Clients of one engine may have commands with guards, which is no conflict of their settings.
    @Test func aSharedEngine() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(Self.ok)])
        var configuration = Client.Configuration.patient(loops: 1)
        configuration.sharedEngine = SharedEngine()
        try await Client.with(Client(configuration: configuration)) { one async throws -> Void in
            try await Client.with(Client(configuration: configuration)) { other async throws -> Void in
                #expect(try await one.run(Ask(path: server.url())).statusCode == 200)
                await expectRefused(other, Ask(path: server.url(), addressGuard: .own(AddressGuard())))
                #expect(try await other.run(Ask(path: server.url())).metrics.isConnectionReused)
            }
        }
        #expect(server.counts.connections == 1)
    }
}
