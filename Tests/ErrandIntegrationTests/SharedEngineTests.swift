import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandClient

/// Clients on one engine, which the last of them stops.
@Suite(.timeLimit(.minutes(20))) struct SharedEngineTests {
    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private let server: ScriptedServer
    private let engine = SharedEngine()

    init() throws {
        server = try ScriptedServer()
        try server.on(nil, [Self.ok])
        try server.on("/stall", [.stall])
    }

    private func client(_ change: (inout Client.Configuration) -> Void = { _ in }) -> Client {
        var configuration = Client.Configuration.patient(baseURL: server.url("/"))
        configuration.sharedEngine = engine
        change(&configuration)
        return Client(configuration: configuration)
    }

    @Test func connectionsAreShared() async throws {
        let (one, other) = (client { $0.loops = 1 }, client())
        #expect(try await !one.run(Get(path: "a")).metrics.isConnectionReused)
        #expect(try await other.run(Get(path: "b")).metrics.isConnectionReused)
        #expect(server.counts.connections == 1 && engine.clientCount == 2)
        // Options of one client are not those of the other, whoever has started the engine.
        let special = client { $0.connection.localInterface = "127.0.0.1" }
        #expect(try await !special.run(Get(path: "c")).metrics.isConnectionReused)
        #expect(try await one.run(Get(path: "d")).metrics.isConnectionReused)
        #expect(server.counts.connections == 2)
        for client in [one, other, special] { await client.shutdown() }
        #expect(engine.clientCount == 0)
    }

    @Test func theOptionsOfTheFirstClientAreItsOwn() async throws {
        let first = client {
            $0.loops = 1
            $0.connection.proxy = .url(server.url("/"))
        }
        let second = client()
        #expect(try await second.run(Get(path: "direct")).statusCode == 200)
        #expect(server.requests.map(\.target) == ["/direct"])
        await second.shutdown()
        #expect(try await first.run(Get(path: server.url("/proxied"))).statusCode == 200)
        #expect(server.requests.last?.target == server.url("/proxied"))
        await first.shutdown()
    }

    /// As beneath a cassette that records.
    @Test func anEngineBeneathATransportIsOfItsOwn() async throws {
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.sharedEngine = engine
        configuration.connection.proxy = .url(server.url("/"))
        let transport = configuration.makeEngine()
        let client = Client(configuration: configuration, transport: transport)
        #expect(try await client.run(Get(path: "proxied")).statusCode == 200)
        #expect(server.requests.map(\.target) == [server.url("/proxied")] && engine.clientCount == 0)
        await client.shutdown()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            transport.shutdown { continuation.resume() }
        }
    }

    /// A request with the options of the engine, and not those of its client, has the engine's identity in the cache.
    @Test func responsesOfInsecureRequestsAreKeptApart() async throws {
        let client = client {
            $0.loops = 1
            $0.connection.idleConnectionSeconds = nil
            $0.connection.tls.insecureAcceptAnyCertificate = true
            $0.settings.cache = .timed(.seconds(600))
        }
        for _ in 1...2 { _ = try await client.run(Get(path: "a")) }
        #expect(server.counts.requests == 1)
        let verifying = ConnectionOptions(tls: .init(insecureAcceptAnyCertificate: false))
        for _ in 1...2 { _ = try await client.run(Get(path: "a", connection: verifying)) }
        #expect(server.counts.requests == 2)
        await client.shutdown()
    }

    @Test func aShutdownEndsTheClientsOwnRequestsAlone() async throws {
        let (leaving, staying) = (client { $0.loops = 1 }, client())
        let own = leaving.start(Get(path: "stall"))
        let other = staying.start(Get(path: "stall"))
        #expect(await server.hasSeen(.init(requests: 2)))
        await leaving.shutdown(.cancel)
        #expect(own.error == .shutDown && other.state == .running && engine.clientCount == 1)
        #expect(try await staying.run(Get(path: "a")).statusCode == 200)
        await staying.shutdown(.cancel)
        #expect(other.error == .shutDown && engine.clientCount == 0)
    }

    @Test func theNameIsFreeAgain() async throws {
        let name = "free again \(server.port)"
        do {
            let first = SharedEngine.named(name)
            #expect(first === SharedEngine.named(name) && first !== SharedEngine.named(name + "!"))
            #expect(first.name == name && engine.name == nil)
        }
        for round in 1...3 {
            let client = client { $0.sharedEngine = .named(name) }
            #expect(try await client.run(Get(path: "a")).metrics.isConnectionReused == false)
            #expect(SharedEngine.named(name).clientCount == 1 && server.counts.connections == round)
            await client.shutdown()
            #expect(SharedEngine.named(name).clientCount == 0)
        }
    }

    /// The last client stops the engine while the next one comes: nobody gets an engine that is about to stop.
    @Test func clientsComeWhileOthersGo() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask { () async throws -> Int in
                    for round in 0..<25 {
                        let client = client { $0.loops = 1 }
                        let status = try await client.run(Get(path: "a")).statusCode
                        #expect(status == 200, "\(number), \(round)")
                        // Some are only released.
                        if (number + round) % 3 != 0 { await client.shutdown(.cancel) }
                    }
                    return 25
                }
            }
            var count = 0
            for try await rounds in group { count += rounds }
            #expect(count == 200)
        }
        try await waitUntil("all clients are released") { engine.clientCount == 0 }
    }

    @Test func aReleasedClientGivesItsShareBack() async throws {
        do {
            let client = client { $0.loops = 1 }
            #expect(try await client.run(Get(path: "a")).statusCode == 200)
        }
        try await waitUntil("the client is released") { engine.clientCount == 0 }
    }

    /// A client that was shut down, and is still held, does not keep the engine running.
    @Test func theReleaseOfTheLastClientStopsTheEngine() async throws {
        let former = client { $0.loops = 1 }
        do {
            let last = client()
            #expect(try await last.run(Get(path: "a")).statusCode == 200)
            await former.shutdown()
            #expect(former.engineStatistics != nil && server.counts.closed == 0)
            withExtendedLifetime(last) {}
        }
        try await waitUntil("the engine has ended") { former.engineStatistics == nil && server.counts.closed == 1 }
        #expect(engine.clientCount == 0)
    }

    @Test func settingsThatDoNotAgree() async throws {
        let first = client {
            $0.loops = 1
            $0.inFlightLimit = 10
            $0.addressGuard = AddressGuard(refusesSpecialRanges: false)
        }
        func refusal(_ change: (inout Client.Configuration) -> Void) async -> String? {
            let client = client {
                $0.addressGuard = AddressGuard(refusesSpecialRanges: false)
                change(&$0)
            }
            let result = await client.result(of: Get(path: "a"))
            await client.shutdown()
            guard case .failure(let error) = result else { return nil }
            return error == .invalidOption && error.isRefusal ? error.message : "another error: \(error)"
        }
        #expect(await refusal { _ in } == nil)
        #expect(await refusal { $0.loops = 1 } == nil)
        let begin = "the shared engine: "
        #expect(await refusal { $0.loops = 2 } == begin + "'loops' is 1, and a client asks for 2")
        #expect(
            await refusal { $0.queueCapacity = 5 } == begin
                + "'queueCapacity' is the default, and a client asks for 5")
        #expect(
            await refusal { $0.maxConcurrentStreams = 5 } == begin
                + "'maxConcurrentStreams' is the default, and a client asks for 5")
        #expect(
            await refusal { $0.cookies = .memory } == begin + "'cookies' is off, and a client asks for memory")
        for other in [nil, AddressGuard()] {
            #expect(
                await refusal { $0.addressGuard = other } == begin + "'addressGuard' is not that of a client")
        }
        #expect(engine.clientCount == 1)
        await first.shutdown()
    }

    @Test func theCountsAreThoseOfAllClients() async throws {
        let guarded: (inout Client.Configuration) -> Void = {
            $0.loops = 1
            $0.addressGuard = AddressGuard()
        }
        let (one, other) = (client(guarded), client(guarded))
        await #expect(throws: ErrandError.addressRefused) { try await one.run(Get(path: "a")) }
        #expect(other.addressGuardCounts?.refused == 1 && other.engineStatistics?.submitted == 1)
        for client in [one, other] { await client.shutdown() }
    }

    @Test func theJarIsShared() async throws {
        let (one, other) = (client { $0.cookies = .memory }, client { $0.cookies = .memory })
        try #require(one.cookies).set(Cookie(name: "a", value: "1", domain: "127.0.0.1"))
        #expect(try #require(other.cookies).all().map(\.name) == ["a"])
        for client in [one, other] { await client.shutdown() }
    }

    /// The next client comes at once, while the engine of the one before stops in the background. Only the clients hold
    /// the engine with a name.
    @Test(arguments: [false, true]) func theJarIsHandedOn(isNamed: Bool) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func next() -> Client {
            client {
                $0.loops = 1
                $0.cookies = .file(path)
                if isNamed { $0.sharedEngine = .named("jar \(server.port)") }
            }
        }
        for round in 0..<20 {
            let holder = next()
            let cookies = try #require(holder.cookies)
            #expect(try cookies.all().count == round)
            try cookies.set(Cookie(name: "c\(round)", value: "1", domain: "127.0.0.1"))
            // Released here.
            withExtendedLifetime(holder) {}
        }
        let last = next()
        #expect(try #require(last.cookies).all().count == 20)
        await last.shutdown()
        let reader = next()
        #expect(try #require(reader.cookies).all().count == 20)
        await reader.shutdown()
    }

    @Test func anEngineThatCannotStart() async throws {
        let client = client { $0.loops = 65 }
        await #expect(throws: ErrandError.invalidLimit) { try await client.run(Get(path: "a")) }
        // The first client is still there.
        #expect(engine.clientCount == 0)
        let next = self.client { $0.loops = 1 }
        #expect(try await next.run(Get(path: "a")).statusCode == 200)
        await next.shutdown()
        await client.shutdown()
    }

    /// Not shut down: it is everybody's.
    @Test func theClientOfSmallPrograms() async throws {
        let get = Get(path: server.url("/a"), timeouts: Timeouts(connect: .seconds(240)))
        #expect(try await Client.shared.run(get).statusCode == 200)
    }
}
