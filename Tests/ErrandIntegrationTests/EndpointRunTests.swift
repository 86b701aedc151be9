import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// A client whose base URL stands for four nginx.
@Suite struct EndpointRunTests {
    private static let server = HTTPField.Name("X-Server")

    /// Sends requests from eight tasks. Returns how many each server has answered.
    private func load(_ client: Client, requests: Int) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var names: [String] = []
                    for _ in 0..<(requests / 8) {
                        let response = try await client.run(Get(path: "item"))
                        names.append(Self.server.flatMap { response.headers[$0] } ?? "")
                    }
                    return names
                }
            }
            return try await group.reduce(into: [:]) { shares, names in
                for name in names { shares[name, default: 0] += 1 }
            }
        }
    }

    /// One is slow, one dies, and it comes back: no request fails.
    @Test(.timeLimit(.minutes(20))) func slowDeadAndBack() async throws {
        let servers = try ["slow", "dying", "third", "fourth"].map {
            try RestartableNginx($0, bytesPerSecond: $0 == "slow" ? 1500 : nil)
        }
        for server in servers { try await server.start() }
        let base = "http://service.test"
        var configuration = Client.Configuration.patient(baseURL: base, loops: 1)
        let outliers = EndpointPolicy.Outliers(
            consecutiveFailures: 3, successRate: nil, baseEjection: .milliseconds(200),
            longestEjection: .milliseconds(400))
        configuration.endpoints = [
            try ServiceEndpoints(
                of: base, .list(servers.map { server throws(ErrandError) in try Endpoint(server.url) }),
                policy: EndpointPolicy(outliers: outliers))
        ]
        // The dead one is tried again after each short ejection, however long a busy machine takes for the requests.
        configuration.resilience = Resilience(
            retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))), budget: .unlimited)
        // An equal share would be 200. On a busy machine a fast server may be slow for a while.
        func isShared(_ shares: [String: Int]) -> Bool {
            shares["slow", default: 0] < 80 && shares["dying", default: 0] > 100
        }
        var first: [String: Int] = [:]
        for _ in 0..<3 where !isShared(first) {
            first = try await Client.with(Client(configuration: configuration)) { try await load($0, requests: 800) }
            #expect(first.values.reduce(0, +) == 800)
        }
        #expect(isShared(first), "\(first)")
        try await Client.with(Client(configuration: configuration)) { client in
            let set = try #require(client.endpoints(of: base))
            let before = try await load(client, requests: 200)
            #expect(before.values.reduce(0, +) == 200)

            servers[1].kill()
            let second = try await load(client, requests: 800)
            #expect(second["dying"] == nil && second.values.reduce(0, +) == 800, "\(second)")
            #expect(set.counts.ejections > 0 && set.statuses[1].health != .healthy)
            #expect(client.resilience?.counts.retries.isEmpty == false)

            try await servers[1].start()
            var third: [String: Int] = [:]
            // The probe needs a request after the ejection.
            for _ in 0..<200 where third["dying", default: 0] < 20 {
                third = try await load(client, requests: 80)
                await allowTime(for: "the ejection ends", .milliseconds(5))
            }
            #expect(third["dying", default: 0] >= 20, "\(third)")
            #expect(set.statuses[1].health == .healthy && set.counts.returns > 0)
            #expect(set.statuses.allSatisfy { $0.pending == 0 })
        }
    }

    /// The name of the URL is looked up, and all its addresses are used; `Host` stays.
    @Test(.timeLimit(.minutes(20))) func theAddressesOfAName() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let base = "http://localhost:\(server.port)"
        var configuration = Client.Configuration.patient(baseURL: base, loops: 1)
        configuration.endpoints = [try ServiceEndpoints(of: base, .dns(every: .seconds(3600), timeout: .seconds(3600)))]
        configuration.resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))))
        try await Client.with(Client(configuration: configuration)) { client in
            let set = try #require(client.endpoints(of: base))
            #expect(try await client.run(Get(path: "")).statusCode == 200)
            try await waitUntil("the name was looked up") { !set.statuses.isEmpty }
            #expect(set.statuses.contains { $0.endpoint.address == "127.0.0.1" })
            for _ in 0..<10 { #expect(try await client.run(Get(path: "")).statusCode == 200) }
            #expect(set.counts.picks > 0)
        }
        #expect(server.requests.allSatisfy { $0.head.contains("\r\nHost: localhost:\(server.port)\r\n") })
    }
}
