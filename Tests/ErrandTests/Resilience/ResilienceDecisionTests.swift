import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// What accessories hear of the decisions about attempts, and what is counted.
@Suite struct ResilienceDecisionTests {
    private static func observed(
        _ method: HTTPRequest.Method = .get, url: String = "http://a/", total: Duration? = nil
    ) throws -> RequestDescription {
        var description = try ResilientFixture.description(method, url: url, total: total)
        description.reports = .events
        return description
    }

    /// The decisions of a submission, whether or not it is refused.
    private static func decisions(_ fixture: ResilientFixture, _ description: RequestDescription) -> CallReceiver {
        let receiver = CallReceiver(callbacks: .inline())
        _ = try? fixture.outer.submit(description, for: receiver)
        return receiver
    }

    @Test func aBreakerRefuses() throws {
        let fixture = ResilientFixture(Resilience(breaker: BreakerPolicy(window: .count(4), minimumCalls: 1)))
        _ = try fixture.submit()
        try fixture.answer(500)
        let receiver = Self.decisions(fixture, try Self.observed())
        #expect(receiver.decisions.all == [.refused(by: .breaker, name: "http://a:80")])
        #expect(receiver.decisions.all.map(\.label) == ["refused.breaker"] && receiver.events.all.isEmpty)
        // Nobody observes the other one.
        let other = Self.decisions(fixture, try ResilientFixture.description())
        #expect(other.decisions.all.isEmpty && fixture.transport.parts.counts.refusedByBreaker == 2)
    }

    @Test func limitsHaveRequestsWait() async throws {
        let fixture = ResilientFixture(Resilience(concurrency: .init(limit: 1, queueCapacity: 1)))
        let name = "http://a:80"
        let (_, id) = try fixture.submit()
        let waiting = Self.decisions(fixture, try Self.observed())
        let limit = try #require(fixture.transport.parts.concurrency)
        try await waitUntil("a request waits") { limit.waiting(of: name) == 1 }
        let refused = Self.decisions(fixture, try Self.observed())
        try await waitUntil("the other is refused") { !refused.results.all.isEmpty }
        #expect(waiting.decisions.all == [.waiting(for: .concurrency, name: name)])
        #expect(
            refused.decisions.all == [
                .waiting(for: .concurrency, name: name), .refused(by: .concurrency, name: name),
            ])
        #expect(fixture.transport.parts.counts.waitsForConcurrency == 2)
        fixture.transport.cancel(id)
        try await waitUntil("the waiting one is sent") { fixture.stub.submitted.count == 2 }
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    /// A hedged request is refused by its first attempt. The event comes once, whatever the queue of the callbacks is.
    @Test(arguments: [true, false])
    func aBreakerRefusesAHedgedRequest(isInline: Bool) async throws {
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(100)), budget: .init(ratio: 0, floorPerSecond: 0))
        for limit in [nil, ConcurrencyLimit.Settings()] {
            let fixture = ResilientFixture(Resilience(hedge: hedge, breaker: BreakerPolicy(), concurrency: limit))
            try #require(fixture.transport.parts.breakers).breaker(for: "http://a:80").force(.open)
            let queue: CallbackQueue = isInline ? .inline() : .serial()
            let receiver = CallReceiver(callbacks: queue)
            let asked = try Self.observed()
            #expect(throws: ErrandError.circuitOpen) { try fixture.outer.submit(asked, for: receiver) }
            await withCheckedContinuation { done in queue.async { done.resume() } }
            #expect(receiver.decisions.all == [.refused(by: .breaker, name: "http://a:80")])
            #expect(receiver.events.all.isEmpty && fixture.isEmpty())
        }
    }

    /// In a dry run nobody waits, so nothing says that somebody does.
    @Test func aDryRunHasNobodyWait() throws {
        let fixture = ResilientFixture(Resilience(concurrency: .init(limit: 1, queueCapacity: 1, isDryRun: true)))
        for _ in 0..<3 {
            let receiver = Self.decisions(fixture, try Self.observed())
            #expect(receiver.decisions.all.isEmpty)
        }
        #expect(fixture.stub.submitted.count == 3 && fixture.transport.parts.counts.waitsForConcurrency == 0)
        let counts = try #require(fixture.transport.parts.concurrency).counts
        #expect(counts.wouldWait == 1 && counts.wouldRefuse == 1 && counts.granted == 3)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    @Test func aRateHasRequestsWait() async throws {
        let fixture = ResilientFixture(Resilience(rate: RateLimit.Settings(rate: .init(1, per: .seconds(1)))))
        _ = try fixture.submit()
        try fixture.answer(200)
        let waiting = Self.decisions(fixture, try Self.observed())
        let refused = Self.decisions(fixture, try Self.observed(total: .seconds(1)))
        #expect(waiting.decisions.all == [.waiting(for: .rate, name: "http://a:80")])
        #expect(refused.decisions.all == [.refused(by: .rate, name: "http://a:80")])
        #expect(fixture.transport.parts.counts.waitsForRate == 1)
        try await fixture.pass(.seconds(1), attempts: 2)
        try fixture.answer(200)
        #expect(fixture.isEmpty())
    }

    /// A failure that the policy retries, and the reason why no retry follows.
    @Test(
        arguments: [
            (.get, nil, 0, .budgetExhausted), (.get, .milliseconds(50), 1, .deadlineTooClose),
            (.post, nil, 1, .notIdempotent),
        ] as [(HTTPRequest.Method, Duration?, Double, RetryStop)])
    func noRetryFollows(method: HTTPRequest.Method, total: Duration?, floor: Double, stop: RetryStop) throws {
        let budget = RetryBudget.Policy(ratio: 0, floorPerSecond: floor)
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(), budget: budget))
        let receiver = Self.decisions(fixture, try Self.observed(method, total: total))
        try fixture.answer(503)
        #expect(receiver.decisions.all == [.notRetried(reason: stop.rawValue)] && receiver.answers == ["503"])
        #expect(fixture.transport.parts.counts.notRetried == [stop: 1] && fixture.isEmpty())
    }

    /// Answers that nobody would retry are no decision against a retry.
    @Test func otherEndsAreNotReported() throws {
        for (retry, status) in [(RetryPolicy(), 200), (RetryPolicy(), 404), (RetryPolicy.never, 503)] {
            let fixture = ResilientFixture(Resilience(retry: retry))
            let receiver = Self.decisions(fixture, try Self.observed())
            try fixture.answer(status)
            #expect(receiver.decisions.all.isEmpty && fixture.transport.parts.counts.notRetried.isEmpty)
        }
    }

    @Test func aHedgeWithoutABudget() async throws {
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(100)), budget: .init(ratio: 0, floorPerSecond: 0))
        let fixture = ResilientFixture(Resilience(hedge: hedge))
        let receiver = Self.decisions(fixture, try Self.observed())
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the budget has refused") { !receiver.decisions.all.isEmpty }
        #expect(receiver.decisions.all == [.notHedged(reason: "budgetExhausted")])
        try fixture.answer(200)
        #expect(receiver.events.all == ["200"] && fixture.isEmpty())
    }

    // MARK: Places

    @Test func endpointsAreTold() async throws {
        let list = try [Endpoint("http://one"), Endpoint("http://two")]
        let service = try ServiceEndpoints(of: "http://a/", .list(list), policy: EndpointPolicy(.roundRobin))
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy()), endpoints: [service])
        let receiver = Self.decisions(fixture, try Self.observed())
        try fixture.answer(503)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        try fixture.answer(200)
        #expect(receiver.decisions.all == [.endpoint("http://one:80"), .endpoint("http://two:80")])
        let empty = ResilientFixture(
            Resilience(), endpoints: [try ServiceEndpoints(of: "http://a/", .list([]))])
        let refused = Self.decisions(empty, try Self.observed())
        #expect(refused.decisions.all == [.refused(by: .endpoints, name: "http://a:80")])
    }

    /// Also in a client without resilience, and once with it.
    @Test func endpointsRefuse() throws {
        let none = [try ServiceEndpoints(of: "http://a/", .list([]))]
        let asked = try Self.observed()
        let alone = EndpointTransport(
            StubTransport(delivery: .immediate) { _ in .hold }, none, stopwatch: Stopwatch(ManualClock()))
        let receiver = CallReceiver(callbacks: .inline())
        #expect(throws: ErrandError.noEndpoint) { try alone.submit(asked, for: receiver) }
        #expect(receiver.decisions.all == [.refused(by: .endpoints, name: "http://a:80")])
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(100)), budget: .init(ratio: 0, floorPerSecond: 0))
        for settings in [Resilience(retry: RetryPolicy()), Resilience(hedge: hedge)] {
            let fixture = ResilientFixture(settings, endpoints: none)
            let refused = Self.decisions(fixture, asked)
            #expect(refused.decisions.all == [.refused(by: .endpoints, name: "http://a:80")])
        }
    }

    @Test func alternativesAreToldAndCounted() throws {
        let clock = ManualClock()
        let cache = AltServiceCache(clock: clock)
        cache.learn(["h2=\"alt.test:444\""], from: "https://a:443", overFaultlessTLS: true)
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let transport = AltServiceTransport(
            stub, cache, stopwatch: Stopwatch(clock), connection: ConnectionOptions(httpVersion: .http2OverTLS))
        let receiver = CallReceiver(callbacks: .inline())
        _ = try transport.submit(Self.observed(url: "https://a/"), for: receiver)
        #expect(receiver.decisions.all == [.alternative("alt.test:444")])
        stub.complete(try #require(stub.open.first), with: .failure(.connectFailed))
        #expect(receiver.decisions.all.last == .leftAlternative("alt.test:444"))
        #expect(cache.counts == AltServiceCache.Counts(chosen: 1, left: 1))
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(receiver.events.all == ["200"])
    }

    /// The description of the request had the http URL.
    @Test func aLateUpgradeIsTold() throws {
        let store = HSTSStore(preloads: [.init("a")])
        let stub = StubTransport(delivery: .immediate) { _ in .response(status: 200) }
        let transport = HSTSTransport(stub, store, connection: ConnectionOptions())
        let receiver = CallReceiver(callbacks: .inline())
        _ = try transport.submit(Self.observed(), for: receiver)
        #expect(receiver.decisions.all == [.upgraded(to: "https://a/")] && store.counts.upgrades == 1)
    }

    /// The URL of a command and that of a redirect count once each. Comparisons of origins do not count.
    @Test func upgradesAreCounted() async throws {
        let store = HSTSStore(preloads: [.init("test")])
        let stub = StubTransport { description in
            description.url.hasSuffix("next")
                ? .response(status: 200) : .response(status: 302, headers: [.location: "http://test/next"])
        }
        let client = Client.stubbed(stub) { $0.hsts = store }
        _ = try await client.run(GetRaw())
        #expect(stub.submitted.map(\.url) == ["https://test/raw", "https://test/next"] && store.counts.upgrades == 2)
        await client.shutdown()
    }
}
