import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Endpoints beneath retries and hedges. A stub stands for the engine.
@Suite struct EndpointTransportTests {
    private static func endpoints(
        _ urls: [String], _ policy: EndpointPolicy = EndpointPolicy(.roundRobin)
    ) throws -> [ServiceEndpoints] {
        [
            try ServiceEndpoints(
                of: "https://a/", .list(urls.map { url throws(ErrandError) in try Endpoint(url) }), policy: policy)
        ]
    }

    private static func description(_ url: String = "https://a/path?q=1") throws -> RequestDescription {
        try ResilientFixture.description(url: url)
    }

    @Test func requestsGoToTheirEndpoint() throws {
        let fixture = ResilientFixture(Resilience(), endpoints: try Self.endpoints(["https://one:8443", "http://two"]))
        for _ in 0..<2 { _ = try fixture.submit(Self.description()) }
        _ = try fixture.submit(Self.description("https://b/x"))
        _ = try fixture.submit(Self.description("https://user@a:443/x"))
        #expect(
            fixture.stub.submitted.map(\.url) == [
                "https://one:8443/path?q=1", "http://two:80/path?q=1", "https://b/x", "https://user@one:8443/x",
            ])
        let set = try #require(fixture.endpoints?.groups["https://a:443"]?.set)
        #expect(set.statuses.map(\.pending) == [2, 1])
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(set.statuses.map(\.pending) == [0, 0] && fixture.isEmpty())
    }

    /// Connections go to the address, and the URL stays.
    @Test func addressesLeaveTheURL() throws {
        let list = try ["10.0.0.1", "FD00::1"].map { address throws(ErrandError) in try Endpoint(address: address) }
        let service = try ServiceEndpoints(of: "https://a/", .list(list), policy: EndpointPolicy(.roundRobin))
        let fixture = ResilientFixture(Resilience(), endpoints: [service])
        var description = try Self.description()
        description.settings = description.settings.with(
            resolving: "a:443:127.0.0.1", of: "a:443:", clientDefault: ConnectionOptions())
        for _ in 0..<3 { _ = try fixture.submit(description) }
        #expect(fixture.stub.submitted.map(\.url) == Array(repeating: "https://a/path?q=1", count: 3))
        let overrides = fixture.stub.submitted.map { $0.settings.connection?.resolveOverrides }
        #expect(overrides == [["a:443:10.0.0.1"], ["a:443:[fd00::1]"], ["a:443:10.0.0.1"]])
        // The settings of an address are made once.
        #expect(fixture.stub.submitted[0].settings === fixture.stub.submitted[2].settings)
        #expect(throws: ErrandError.invalidURL) { try Endpoint(address: "a.test") }
    }

    @Test func retriesGoElsewhere() async throws {
        let fixture = ResilientFixture(
            Resilience(retry: RetryPolicy()),
            endpoints: try Self.endpoints(["http://one", "http://two", "http://three"]))
        let (receiver, _) = try fixture.submit(Self.description())
        for attempt in 2...3 {
            try fixture.answer(503)
            try await fixture.pass(.milliseconds(200), attempts: attempt)
        }
        try fixture.answer(200)
        #expect(Set(fixture.stub.submitted.map(\.url)).count == 3)
        #expect(receiver.events.all.last == "200" && fixture.isEmpty())
    }

    @Test func hedgesGoElsewhere() async throws {
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(10)), budget: .init(ratio: 1, floorPerSecond: 1))
        let fixture = ResilientFixture(
            Resilience(hedge: hedge), endpoints: try Self.endpoints(["http://one", "http://two"]))
        _ = try fixture.submit(Self.description())
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(10))
        try await waitUntil("the hedge was sent") { fixture.stub.open.count == 2 }
        #expect(Set(fixture.stub.submitted.map(\.url)).count == 2)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    @Test func failuresEject() throws {
        let policy = EndpointPolicy(.roundRobin, outliers: .init(consecutiveFailures: 2), panicThreshold: 0)
        let fixture = ResilientFixture(
            Resilience(), endpoints: try Self.endpoints(["http://one", "http://two"], policy))
        let set = try #require(fixture.endpoints?.groups["https://a:443"]?.set)
        for _ in 0..<8 {
            _ = try fixture.submit(Self.description())
            let isBad = fixture.stub.submitted.last?.url.hasPrefix("http://one") == true
            try fixture.answer(isBad ? 500 : 200)
        }
        #expect(set.statuses.map(\.health) == [.ejected, .healthy])
        // A cancelled request and a refused one say nothing.
        let (_, id) = try fixture.submit(Self.description())
        fixture.outer.cancel(id)
        #expect(set.statuses.map(\.health) == [.ejected, .healthy] && fixture.isEmpty())
    }

    /// A lack of descriptors is no failure of the endpoint.
    @Test func localFailuresDoNotEject() throws {
        let policy = EndpointPolicy(.roundRobin, outliers: .init(consecutiveFailures: 1), panicThreshold: 0)
        let fixture = ResilientFixture(
            Resilience(), endpoints: try Self.endpoints(["http://one", "http://two"], policy))
        let set = try #require(fixture.endpoints?.groups["https://a:443"]?.set)
        for _ in 0..<4 {
            _ = try fixture.submit(Self.description())
            fixture.stub.completeAll { _ in .failure(.outOfDescriptors) }
        }
        #expect(set.statuses.allSatisfy { $0.health == .healthy } && fixture.isEmpty())
    }

    @Test func anEmptyListRefuses() throws {
        let service = try ServiceEndpoints(of: "https://a/", .list([]))
        let fixture = ResilientFixture(Resilience(), endpoints: [service])
        let error = #expect(throws: ErrandError.noEndpoint) { try fixture.submit(Self.description()) }
        #expect(error?.isRefusal == true)
        #expect(error?.message == "no endpoint of https://a:443 may be used: noEndpoints")
        #expect(throws: ErrandError.invalidURL) { try ServiceEndpoints(of: "/path", .list([])) }
    }

    @Test func tlsIsNotLost() throws {
        let fixture = ResilientFixture(Resilience(), endpoints: try Self.endpoints(["http://one"]))
        var description = try Self.description()
        description.settings = try TransferSettings(
            timeouts: Timeouts().resolved, limits: Limits(), priority: .normal, connection: nil, requiresTLS: true)
        #expect(throws: ErrandError.unsupportedScheme) { try fixture.submit(description) }
        #expect(fixture.isEmpty())
    }

    // MARK: Lists that change

    @Test func aClosureGivesTheList() async throws {
        let lists = Mutex<[Result<[Endpoint], ErrandError>]>([
            .success([try Endpoint("http://one")]), .failure(.resolveFailed), .success([try Endpoint("http://two")]),
        ])
        let service = try ServiceEndpoints(
            of: "https://a/", .closure(every: .seconds(10)) { try lists.withLock { $0.removeFirst() }.get() })
        let fixture = ResilientFixture(Resilience(), endpoints: [service])
        let group = try #require(fixture.endpoints?.groups["https://a:443"])
        // Requests do not wait for the first list.
        _ = try fixture.submit(Self.description())
        #expect(fixture.stub.submitted.last?.url == "https://a/path?q=1")
        try await waitUntil("the list has come") { group.set.statuses.count == 1 }
        try await waitUntil("the source may be asked again") { group.isReady() && lists.withLock { $0.count } == 2 }
        _ = try fixture.submit(Self.description())
        #expect(fixture.stub.submitted.last?.url == "http://one:80/path?q=1")
        fixture.clock.advance(by: .seconds(10))
        _ = try fixture.submit(Self.description())
        // A failed look-up leaves the last list.
        try await waitUntil("the look-up has failed") { group.failedRefreshes == 1 }
        try await waitUntil("the source is asked again after its time") {
            fixture.clock.advance(by: .seconds(10))
            _ = group.isReady()
            return group.set.statuses.first?.endpoint.url == "http://two:80"
        }
        _ = try fixture.submit(Self.description())
        #expect(fixture.stub.submitted.last?.url == "http://two:80/path?q=1")
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    @Test func aHostIsLookedUp() async throws {
        let found = try await HostAddresses.look(up: "localhost", port: 80)
        #expect(found.contains("127.0.0.1") || found.contains("::1"))
        #expect(try await HostAddresses.look(up: "[::1]", port: 80) == ["::1"])
        await #expect(throws: ErrandError.resolveFailed) { try await HostAddresses.look(up: "a.invalid", port: 80) }
    }
}
