import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// The code of the guide "Tests without a network"; GuideTests compares it line by line.
@Suite struct TestsWithoutANetworkSnippets {
    private typealias GetUser = GettingStartedSnippets.GetUser

    private let path = NSTemporaryDirectory() + "errand-snippet-\(UUID().uuidString).har"

    @Test func routed() async throws {
        let router = StubRouter()
        router.on(.get, "/users/{id}") { request in
            .json(#"{"name": "Ada \#(request.parameters["id"] ?? "")"}"#)
        }
        router.on(.delete, "/users/*", answering: .status(403))
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
        let user = try await client.run(GetUser(id: 1))
        #expect(user.name == "Ada 1")
        try router.history.expect(.get, "/users/1")
        try router.history.expect(.delete, "/users/{id}", times: 0)
    }

    @Test func answered() async throws {
        let clock = ManualClock()
        let router = StubRouter(clock: clock)
        router.on(.get, "/slow", answering: .text("late").after(.seconds(2)))
        router.on(.get, "/broken", answering: .json(#"{"name": "#).broken(by: .receiveFailed))
        router.on(.get, "/silent", answering: .stalled)
        router.on(.post, "/users") { request in
            let name = try request.json()["name"]?.string
            return name == nil ? .status(422) : .status(201).with([.location: "/users/1"])
        }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
        let request = client.start(RawCommand(url: "http://test/slow"))
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        #expect(try await request.finalResponse().body.count == 4)
    }

    @Test func recorded() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"name\": \"Ada\"}")])
        let configuration = Client.Configuration(baseURL: server.url("/"))
        _ = try await Cassette.use(path, mode: .once, configuration: configuration) { client in
            try await client.run(GetUser(id: 1))
        }
        try await replayed(configuration)
        try await matched(configuration)
        try await compared(configuration)
        #expect(server.requests.count == 1)
    }

    private func replayed(_ configuration: Client.Configuration) async throws {
        let user = try await Cassette.use(path, configuration: configuration) { client in
            try await client.run(GetUser(id: 1))
        }
        #expect(user.name == "Ada")
    }

    private func matched(_ configuration: Client.Configuration) async throws {
        let matching = RequestMatching(url: .target, query: .ignoring(["timestamp"]), fields: [.accept])
        let cassette = try Cassette(path, mode: .none, matching: matching, allowsRepeats: true)
        let transport = CassetteTransport(cassette, configuration: configuration)
        let client = Client(configuration: configuration, transport: transport)
        _ = try await client.run(GetUser(id: 1))
        #expect(cassette.unused.isEmpty)
        await client.shutdown()
        await transport.stop()
        try cassette.save()
    }

    private func compared(_ configuration: Client.Configuration) async throws {
        let comparison: Cassette.Comparison = { recorded, sent in
            let (one, other) = (recorded.headers[.acceptLanguage] ?? "", sent.headers[.acceptLanguage] ?? "")
            guard one.prefix(2) != other.prefix(2) else { return [] }
            return [RequestDifference(.other("language"), recorded: one, sent: other)]
        }
        let cassette = try Cassette(path, mode: .none, comparison: comparison)
        let transport = CassetteTransport(cassette, configuration: configuration)
        let client = Client(configuration: configuration, transport: transport)
        _ = try await client.run(GetUser(id: 1))
        await client.shutdown()
        await transport.stop()
    }

    @Test func chaotic() async throws {
        let router = StubRouter()
        router.on(.get, "/users/{id}", answering: .json(#"{"name": "Ada"}"#))
        let plan = ChaosPlan(
            latency: .exponential(mean: .milliseconds(5)), errorShare: 0.2, statusShare: 0.1, statuses: [503])
        let chaos = ChaosTransport(over: router, plan, seed: 7)
        var configuration = Client.Configuration(baseURL: "http://test/")
        let retry = RetryPolicy(maxAttempts: 20, backoff: .none)
        configuration.resilience = Resilience(retry: retry, budget: nil)
        let client = Client(configuration: configuration, transport: chaos)
        for id in 1...50 {
            #expect(try await client.run(GetUser(id: id)).name == "Ada")
        }
        #expect(chaos.decisions.count > 50)
    }

    @Test func kept() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let router = StubRouter().on(nil, "/**", answering: .json(#"{"name": "Ada"}"#))
        let traffic = HARAccessory(file: path)
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.accessories.append(traffic)
        let client = Client(configuration: configuration, transport: router)
        _ = try await client.run(GetUser(id: 1))
        await client.shutdown()
        try traffic.finish()
        for entry in try HAR(contentsOf: path).entries {
            print(entry.request.method, entry.request.url, entry.response?.status ?? 0, entry.time)
        }
    }
}
