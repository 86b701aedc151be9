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

    /// URLs of requests have international names percent-encoded.
    @Test(arguments: ["https://bücher.example", "https://B%C3%BCCHER.example/x", "https://xn--bcher-kva.example"])
    func internationalNames(base: String) async throws {
        let service = try ServiceEndpoints(of: base, .list([try Endpoint("http://one")]))
        #expect(service.origin == "https://xn--bcher-kva.example:443")
        let fixture = ResilientFixture(Resilience(), endpoints: [service])
        let hosts = ["bücher.example", "b%C3%BCcher.example", "user@xn--bcher-kva.example:443"]
        for host in hosts { _ = try fixture.submit(Self.description("https://\(host)/p")) }
        _ = try fixture.submit(Self.description("https://other.example/p"))
        #expect(
            fixture.stub.submitted.map(\.url) == [
                "http://one:80/p", "http://one:80/p", "http://user@one:80/p", "https://other.example/p",
            ])
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
        let client = Client.stubbed(StubTransport()) { $0.endpoints = [service] }
        #expect(client.endpoints(of: "https://BÜCHER.example/x") != nil)
        await client.shutdown()
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
        #expect(fixture.stub.submitted[0].settings.connection == fixture.stub.submitted[2].settings.connection)
        #expect(throws: ErrandError.invalidURL) { try Endpoint(address: "a.test") }
    }

    /// With a deadline each attempt has settings of its own. The options of an address are made once all the same.
    @Test func deadlinesShareTheOptionsOfAnAddress() throws {
        let list = try ["10.0.0.1", "10.0.0.2"].map { address throws(ErrandError) in try Endpoint(address: address) }
        let service = try ServiceEndpoints(of: "https://a/", .list(list), policy: EndpointPolicy(.roundRobin))
        let fixture = ResilientFixture(Resilience(), endpoints: [service])
        let group = try #require(fixture.endpoints?.groups["https://a:443"])
        for step in 1...600 {
            _ = try fixture.submit(ResilientFixture.description(url: "https://a/", total: .seconds(step)))
            try fixture.answer(200)
        }
        #expect(group.boundCount == 2)
        // The members of the settings are those of each attempt.
        let settings = fixture.stub.submitted.map(\.settings)
        #expect(settings.compactMap(\.timeouts.total) == (1...600).map { Timeout.seconds($0) })
        #expect(settings.first?.connection == settings.dropFirst(2).first?.connection)
        // Options of a command have an entry of their own.
        var description = try Self.description()
        description.settings = description.settings.with(
            connection: ConnectionOptions(httpVersion: .http1), requiresTLS: true)
        _ = try fixture.submit(description)
        try fixture.answer(200)
        let last = try #require(fixture.stub.submitted.last?.settings)
        #expect(last.connection?.httpVersion == .http1 && last.requiresTLS)
        #expect(last.connection?.resolveOverrides == ["a:443:10.0.0.1"])
        #expect(group.boundCount == 3 && fixture.isEmpty())
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
        try await waitUntil("its id is known") { fixture.transport.parts.counts.hedges == 1 }
        #expect(Set(fixture.stub.submitted.map(\.url)).count == 2)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    // MARK: Losers of hedges

    /// A request whose first attempt is 100 ms old, when its hedge was sent; and the endpoints.
    private static func hedged(
        _ policy: EndpointPolicy
    ) async throws -> (fixture: ResilientFixture, set: EndpointSet, id: TransferID) {
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(100)), budget: .init(ratio: 1, floorPerSecond: 5))
        let fixture = ResilientFixture(
            Resilience(hedge: hedge), endpoints: try endpoints(["http://one", "http://two"], policy))
        let (_, id) = try fixture.submit(description())
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the hedge was sent") { fixture.stub.open.count == 2 }
        try await waitUntil("its id is known") { fixture.transport.parts.counts.hedges == 1 }
        let set = try #require(fixture.endpoints?.groups["https://a:443"]?.set)
        return (fixture, set, id)
    }

    /// The hedges win, and the endpoint that never answers is not the faster one for that.
    @Test func aStalledEndpointIsAvoided() async throws {
        let (fixture, set, _) = try await Self.hedged(EndpointPolicy())
        let stalled = try #require(fixture.stub.submitted.first?.url)
        fixture.clock.advance(by: .milliseconds(50))
        fixture.stub.complete(fixture.stub.open[1], with: .response(Response(statusCode: 200)))
        #expect(set.counts.lost == 1 && fixture.isEmpty())
        // The latencies are 150 ms, the loser's age, and 50 ms. Without the age 30 ms would be assumed.
        for _ in 0..<3 {
            _ = try fixture.submit(Self.description())
            let url = try #require(fixture.stub.submitted.last?.url)
            #expect(url != stalled)
            fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        }
        #expect(fixture.isEmpty())
    }

    @Test func aStalledEndpointIsEjected() async throws {
        let outliers = EndpointPolicy.Outliers(consecutiveFailures: 1, stallTime: .milliseconds(150))
        let (fixture, set, _) = try await Self.hedged(
            EndpointPolicy(.roundRobin, outliers: outliers, panicThreshold: 0))
        fixture.clock.advance(by: .milliseconds(50))
        fixture.stub.complete(fixture.stub.open[1], with: .response(Response(statusCode: 200)))
        #expect(set.statuses.map(\.health) == [.ejected, .healthy] && fixture.isEmpty())
    }

    /// A hedge that loses when it has just been sent is no failure, whatever the stall time is.
    @Test func aYoungLoserIsNoFailure() async throws {
        let outliers = EndpointPolicy.Outliers(consecutiveFailures: 1, stallTime: .zero)
        let (fixture, set, _) = try await Self.hedged(
            EndpointPolicy(.roundRobin, outliers: outliers, panicThreshold: 0))
        fixture.clock.advance(by: .milliseconds(50))
        fixture.stub.complete(fixture.stub.open[0], with: .response(Response(statusCode: 200)))
        #expect(set.statuses.map(\.health) == [.healthy, .healthy] && set.counts.lost == 1 && fixture.isEmpty())
    }

    /// The caller's cancellation says nothing of the endpoints, however old the attempts are.
    @Test func aCancelledCallHasNoLosers() async throws {
        let outliers = EndpointPolicy.Outliers(consecutiveFailures: 1, stallTime: .zero)
        let (fixture, set, id) = try await Self.hedged(
            EndpointPolicy(.roundRobin, outliers: outliers, panicThreshold: 0))
        fixture.clock.advance(by: .seconds(5))
        fixture.outer.cancel(id)
        try await waitUntil("both attempts ended") { fixture.isEmpty() }
        #expect(set.statuses.map(\.health) == [.healthy, .healthy] && set.counts.lost == 0)
    }

    /// The callers give up an endpoint that never answers. The endpoint is not the faster one for that.
    @Test(arguments: [ErrandError.timeoutTotal, .cancelled])
    func callersThatGiveUp(error: ErrandError) throws {
        let fixture = ResilientFixture(
            Resilience(), endpoints: try Self.endpoints(["http://one", "http://two"], EndpointPolicy()))
        let transport = try #require(fixture.endpoints)
        let set = try #require(transport.groups["https://a:443"]?.set)
        var description = try Self.description()
        description.settings = try description.settings.with(total: .seconds(1), isCutShort: true)
        for _ in 0..<10 {
            let id = try transport.submit(description, for: CallReceiver(callbacks: .inline()))
            let isStalled = fixture.stub.submitted.last?.url.hasPrefix("http://two") == true
            fixture.clock.advance(by: isStalled ? .seconds(1) : .milliseconds(50))
            fixture.stub.complete(
                id, with: isStalled ? .failure(error) : .response(Response(statusCode: 200)))
        }
        #expect(fixture.stub.submitted.count { $0.url.hasPrefix("http://two") } <= 1)
        #expect(set.statuses.map(\.health) == [.healthy, .healthy])
        #expect(set.counts.lost == 0 && set.counts.picks == 10 && fixture.isEmpty())
    }

    // MARK: Health

    /// Of two endpoints that refuse at once, the one without `Retry-After` gets the next request.
    @Test(arguments: [429, 503])
    func aFastRefusalAttractsNoRequests(status: Int) throws {
        let fixture = ResilientFixture(
            Resilience(), endpoints: try Self.endpoints(["http://one", "http://two"], EndpointPolicy(outliers: nil)))
        let fields: [HTTPFields] = [[.retryAfter: "20"], [:]]
        var urls: [String] = []
        for headers in fields {
            _ = try fixture.submit(Self.description())
            urls.append(try #require(fixture.stub.submitted.last?.url))
            fixture.clock.advance(by: .milliseconds(1))
            try fixture.answer(status, headers)
        }
        #expect(Set(urls).count == 2)
        _ = try fixture.submit(Self.description())
        #expect(fixture.stub.submitted.last?.url == urls[1])
        try fixture.answer(200)
        #expect(fixture.isEmpty())
    }

    /// The head of a stream votes; the stream is load until its end.
    @Test func openStreamsAreLoad() throws {
        let policy = EndpointPolicy(
            .ringHash(.init(loadBound: 1)), outliers: .init(consecutiveFailures: 1), panicThreshold: 0)
        let fixture = ResilientFixture(
            Resilience(), endpoints: try Self.endpoints(["http://one", "http://two"], policy))
        let set = try #require(fixture.endpoints?.groups["https://a:443"]?.set)
        var description = try Self.description()
        description.delivery = .streamed
        // All have one key. With a bound of 1 each endpoint gets its half.
        for _ in 0..<4 {
            _ = try fixture.submit(description)
            fixture.stub.send(.head(Response(statusCode: 200)), to: try #require(fixture.stub.open.last))
        }
        #expect(set.statuses.map(\.pending) == [2, 2])
        // A stream that breaks says nothing of its endpoint.
        fixture.stub.completeAll { _ in .failure(.connectionLost) }
        #expect(set.statuses.map(\.health) == [.healthy, .healthy] && fixture.isEmpty())
        _ = try fixture.submit(description)
        let last = try #require(fixture.stub.open.last)
        fixture.stub.send(.head(Response(statusCode: 500)), to: last)
        #expect(set.counts.ejections == 1 && set.statuses.map(\.pending).reduce(0, +) == 1)
        fixture.stub.complete(last, with: .response(Response(statusCode: 500)))
        #expect(set.counts.ejections == 1 && fixture.isEmpty())
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
        try await waitUntil("the look-up has failed") { group.set.counts.failedRefreshes == 1 }
        fixture.clock.advance(by: .seconds(10))
        try await waitUntil("the source is asked again after its time") {
            _ = group.isReady()
            return group.set.statuses.first?.endpoint.url == "http://two:80"
        }
        _ = try fixture.submit(Self.description())
        #expect(fixture.stub.submitted.last?.url == "http://two:80/path?q=1")
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    /// The closure goes on although its task is cancelled, and returns when a newer list is there.
    @Test func aClosureThatHangs() async throws {
        let gate = Gate()
        let (calls, cancellations, returns) = (Notes<Int>(), Notes<Int>(), Notes<Int>())
        let source = EndpointSource.closure(every: .seconds(10), timeout: .seconds(5)) {
            calls.add(1)
            if calls.all.count > 1 { return [try Endpoint("http://two")] }
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                cancellations.add(1)
            }
            returns.add(1)
            return [try Endpoint("http://late")]
        }
        let fixture = ResilientFixture(
            Resilience(), endpoints: [try ServiceEndpoints(of: "https://a/", source)])
        let group = try #require(fixture.endpoints?.groups["https://a:443"])
        _ = try fixture.submit(Self.description())
        await gate.arrivals(1)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .seconds(5))
        try await waitUntil("the look-up has failed") { group.set.counts.failedRefreshes == 1 }
        try await waitUntil("its task is cancelled") { cancellations.all.count == 1 }
        #expect(!group.isReady() && calls.all.count == 1)
        // The source is asked again after its time.
        fixture.clock.advance(by: .seconds(10))
        try await waitUntil("the next list has come") { group.isReady() }
        #expect(group.set.statuses.map(\.endpoint.url) == ["http://two:80"])
        await gate.open()
        try await waitUntil("the first call has returned") { returns.all.count == 1 }
        await allowTime(for: "the late list replaces the newer one")
        #expect(group.set.statuses.map(\.endpoint.url) == ["http://two:80"])
        #expect(calls.all.count == 2 && group.set.counts.failedRefreshes == 1)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    /// A source that is dead is seen by the user of a client.
    @Test func refreshesAreCounted() async throws {
        let isDead = Mutex(false)
        let clock = ManualClock()
        let source = EndpointSource.closure(every: .seconds(10)) {
            if isDead.withLock({ $0 }) { throw ErrandError.resolveFailed }
            return [try Endpoint("http://one")]
        }
        var configuration = Client.Configuration()
        configuration.clock = clock
        configuration.endpoints = [try ServiceEndpoints(of: "https://a/", source)]
        let client = Client(
            configuration: configuration, transport: StubTransport { _ in .response(status: 200, body: "x") })
        let group = try #require(client.layer(EndpointTransport.self)?.groups["https://a:443"])
        let set = try #require(client.endpoints(of: "https://a"))
        #expect(set.counts.refreshes == 0 && set.counts.failedRefreshes == 0)
        #expect(try await client.run(RawCommand(url: "https://a/x")).statusCode == 200)
        try await waitUntil("the source has answered") { group.isReady() }
        #expect(set.counts.refreshes == 1 && set.counts.failedRefreshes == 0)
        isDead.withLock { $0 = true }
        clock.advance(by: .seconds(10))
        #expect(try await client.run(RawCommand(url: "https://a/x")).statusCode == 200)
        try await waitUntil("the source has failed") { set.counts.failedRefreshes == 1 }
        #expect(set.counts.refreshes == 1 && set.statuses.map(\.endpoint.url) == ["http://one:80"])
    }

    /// The addresses of the name change while requests run: new ones are used, those that have left are not, and those
    /// that stay keep their state.
    @Test func theAnswerOfDNSChanges() async throws {
        let answer = Mutex<Result<[String], ErrandError>>(.success(["10.0.0.1", "10.0.0.2"]))
        let asked = Notes<String>()
        let source = EndpointSource.dns(every: .seconds(30)) { host, port in
            asked.add("\(host):\(port)")
            return try answer.withLock { $0 }.get()
        }
        let service = try ServiceEndpoints(of: "https://a/", source, policy: EndpointPolicy(.roundRobin))
        let fixture = ResilientFixture(Resilience(), endpoints: [service])
        let group = try #require(fixture.endpoints?.groups["https://a:443"])

        /// Sends a request, and returns the address of its connection; `nil`: that of the URL.
        func send() throws -> String? {
            _ = try fixture.submit(Self.description())
            let last = try #require(fixture.stub.submitted.last)
            #expect(last.url == "https://a/path?q=1")
            return last.settings.connection?.resolveOverrides?.last
        }
        func addresses() -> [String] { group.set.statuses.map(\.endpoint.url) }

        #expect(try send() == nil)
        try await waitUntil("the name was looked up") { group.isReady() }
        #expect(try [send(), send()] == ["a:443:10.0.0.1", "a:443:10.0.0.2"])

        // A failed look-up leaves the last addresses.
        answer.withLock { $0 = .failure(.resolveFailed) }
        fixture.clock.advance(by: .seconds(30))
        try await waitUntil("the look-up has failed") { group.isReady() && group.set.counts.failedRefreshes == 1 }
        #expect(addresses() == ["10.0.0.1", "10.0.0.2"])
        #expect(try [send(), send()] == ["a:443:10.0.0.1", "a:443:10.0.0.2"])

        answer.withLock { $0 = .success(["10.0.0.2", "10.0.0.3"]) }
        fixture.clock.advance(by: .seconds(30))
        try await waitUntil("the name has other addresses") {
            group.isReady() && addresses() == ["10.0.0.2", "10.0.0.3"]
        }
        #expect(group.set.statuses.map(\.pending) == [2, 0])
        #expect(try Set([send(), send()]) == ["a:443:10.0.0.2", "a:443:10.0.0.3"])
        #expect(asked.all == ["a:443", "a:443", "a:443"])

        // Requests of addresses that have left end as others do.
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
