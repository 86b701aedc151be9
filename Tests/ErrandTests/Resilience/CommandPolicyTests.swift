import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Breakers and limits that commands choose: the client's, their own, or none.
@Suite struct CommandPolicyTests {
    private struct Get: Command {
        var path: String { "a" }
        var resilience: RequestResilience?
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    private static let origin = "http://a:80"
    /// Opens after one failure.
    private static let strict = BreakerPolicy(
        window: .count(4), minimumCalls: 1, openTime: .seconds(60), jitter: 0)
    /// Opens after four failures.
    private static let lenient = BreakerPolicy(
        window: .count(4), minimumCalls: 4, openTime: .seconds(60), jitter: 0)

    /// The table of policies keeps the breakers that an operator has set.
    @Test func anOverriddenBreakerKeepsItsPolicy() {
        let parts = ResilienceParts(Resilience(), clock: ManualClock())
        let forced = parts.circuitBreakers(with: Self.strict).breaker(for: "a")
        forced.force(.open)
        for calls in 2...200 { _ = parts.circuitBreakers(with: BreakerPolicy(minimumCalls: calls)).breaker(for: "a") }
        #expect(parts.circuitBreakers(with: Self.strict).breaker(for: "a") === forced)
        forced.release()
        for calls in 2...200 { _ = parts.circuitBreakers(with: BreakerPolicy(minimumCalls: calls)).breaker(for: "a") }
        #expect(parts.circuitBreakers(with: Self.strict).breaker(for: "a") !== forced)
    }

    private static func description(
        _ resilience: RequestResilience, url: String = "http://a/"
    ) throws -> RequestDescription {
        var description = try ResilientFixture.description(url: url)
        description.resilience = resilience
        return description
    }

    /// One transfer that is answered.
    private static func run(
        _ fixture: ResilientFixture, _ resilience: RequestResilience, url: String = "http://a/", _ status: Int
    ) throws {
        let (receiver, _) = try fixture.submit(description(resilience, url: url))
        try fixture.answer(status)
        #expect(receiver.answers == ["\(status)"])
    }

    private static func expectOpen(
        _ fixture: ResilientFixture, _ resilience: RequestResilience, url: String = "http://a/",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let asked = try description(resilience, url: url)
        #expect(throws: ErrandError.circuitOpen, sourceLocation: sourceLocation) { try fixture.submit(asked) }
    }

    // MARK: Breakers

    @Test func anOwnBreakerOpensEarlier() throws {
        let fixture = ResilientFixture(Resilience(breaker: Self.lenient))
        let own = RequestResilience(breaker: Self.strict)
        try Self.run(fixture, own, 500)
        let error = #expect(throws: ErrandError.circuitOpen) { try fixture.submit(Self.description(own)) }
        #expect(error?.isRefusal == true && error?.retryAfter == .seconds(60))
        // The client's breaker has not seen the failure, and the own one does not see those of the client's.
        let parts = fixture.transport.parts
        #expect(parts.circuitBreakers(with: Self.strict).breaker(for: Self.origin).state == .open)
        #expect(parts.breakers?.breaker(for: Self.origin).tally.calls == 0)
        for _ in 0..<4 {
            _ = try fixture.submit()
            try fixture.answer(500)
        }
        #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        fixture.clock.advance(by: .seconds(60))
        try Self.run(fixture, own, 200)
        #expect(parts.counts.refusedByBreaker == 2 && fixture.isEmpty())
        #expect(parts.allBreakers.count == 2 && parts.allBreakers.allSatisfy { $0.name == Self.origin })
    }

    /// Also where the client has no breaker.
    @Test func aBreakerOfTheCommandAlone() throws {
        let fixture = ResilientFixture(Resilience(budget: nil))
        let own = RequestResilience(breaker: Self.strict)
        try Self.run(fixture, own, 500)
        try Self.expectOpen(fixture, own)
        try Self.expectOpen(fixture, own, url: "http://a/other?x=1")
        // Another origin has a breaker of its own.
        try Self.run(fixture, own, url: "http://b/", 200)
        _ = try fixture.submit()
        try fixture.answer(200)
        #expect(fixture.transport.parts.breakers == nil && fixture.isEmpty())
    }

    @Test func namesAndPoliciesShareABreaker() throws {
        let fixture = ResilientFixture(Resilience())
        let one = RequestResilience(retry: .never, breaker: Self.strict, name: "one")
        try Self.run(fixture, one, 500)
        // The same name and an equal policy, to another origin.
        let equal = BreakerPolicy(window: .count(4), minimumCalls: 1, openTime: .seconds(60), jitter: 0)
        try Self.expectOpen(fixture, RequestResilience(breaker: equal, name: "one"), url: "http://b/")
        // The same name and another policy; another name; no name.
        try Self.run(fixture, RequestResilience(breaker: Self.lenient, name: "one"), 200)
        try Self.run(fixture, RequestResilience(breaker: Self.strict, name: "other"), 200)
        try Self.run(fixture, RequestResilience(breaker: Self.strict), 200)
        try Self.expectOpen(fixture, one)
        #expect(fixture.isEmpty())
    }

    /// A policy that equals the client's is the client's part.
    @Test func theClientsPolicyIsTheClientsPart() throws {
        let limit = ConcurrencyLimit.Settings(limit: 3)
        let rate = RateLimit.Settings(rate: .init(100, per: .seconds(1)), burst: 100)
        let fixture = ResilientFixture(Resilience(breaker: Self.strict, concurrency: limit, rate: rate))
        let parts = fixture.transport.parts
        #expect(parts.circuitBreakers(with: Self.strict) === parts.breakers)
        #expect(parts.concurrencyLimit(with: limit) === parts.concurrency)
        #expect(parts.rateLimit(with: rate) === parts.rate)
        try Self.run(fixture, RequestResilience(breaker: Self.strict), 500)
        #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        #expect(parts.allBreakers.count == 1 && fixture.isEmpty())
    }

    /// A retry asks the breaker of the command.
    @Test func retriesAskTheOwnBreaker() async throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy()))
        let (receiver, _) = try fixture.submit(Self.description(RequestResilience(breaker: Self.strict)))
        try fixture.answer(503)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the call ended") { !receiver.results.all.isEmpty }
        #expect(receiver.answers == ["503"] && fixture.stub.submitted.count == 1)
        #expect(fixture.transport.parts.counts.refusedByBreaker == 1)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    /// So does a hedge. The first attempt decides then.
    @Test func hedgesAskTheOwnBreaker() async throws {
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(100)), budget: RetryBudget.Policy(ratio: 1, floorPerSecond: 5))
        let fixture = ResilientFixture(Resilience(hedge: hedge))
        let (receiver, _) = try fixture.submit(Self.description(RequestResilience(breaker: Self.strict)))
        let parts = fixture.transport.parts
        parts.circuitBreakers(with: Self.strict).breaker(for: Self.origin).force(.open)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the breaker refused") { parts.counts.refusedByBreaker == 1 }
        try fixture.answer(200)
        try await waitUntil("the call ended") { !receiver.results.all.isEmpty }
        #expect(receiver.answers == ["200"] && fixture.stub.submitted.count == 1)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    @Test func transitionsOfOwnBreakersAreTold() throws {
        let told = Notes<String>()
        let parts = ResilienceParts(Resilience(), clock: ManualClock()) { breaker, transition in
            told.add("\(breaker.name) \(transition.to)")
        }
        let fixture = ResilientFixture(Resilience(), parts: parts)
        try Self.run(fixture, RequestResilience(breaker: Self.strict, name: "own"), 500)
        #expect(told.all == ["own open"])
    }

    // MARK: Limits

    @Test func aRateOfOneCommand() async throws {
        let fixture = ResilientFixture(Resilience())
        let rate = RateLimit.Settings(rate: .init(1, per: .seconds(1)))
        let own = RequestResilience(rate: rate)
        try Self.run(fixture, own, 200)
        let (waiting, _) = try fixture.submit(Self.description(own))
        await fixture.clock.sleepers(1)
        // Others do not wait.
        _ = try fixture.submit()
        #expect(fixture.stub.submitted.count == 2)
        try fixture.answer(200)
        try await fixture.pass(.seconds(1), attempts: 3)
        try fixture.answer(200)
        #expect(waiting.events.all == ["200"] && fixture.isEmpty())
        #expect(fixture.transport.parts.rateLimit(with: rate).counts.delayed == 1)
    }

    /// The limit of a command learns what the server asks for; a command without one does not obey.
    @Test func theServerPausesOneCommand() async throws {
        let fixture = ResilientFixture(Resilience(rate: .init(rate: nil)))
        let own = RequestResilience(rate: .init(rate: .init(100, per: .seconds(1)), burst: 100))
        _ = try fixture.submit(Self.description(own))
        try fixture.answer(429, [.retryAfter: "7"])
        // The client's requests go on.
        _ = try fixture.submit()
        try fixture.answer(429, [.retryAfter: "7"])
        try Self.run(fixture, RequestResilience(rate: .unlimited), 200)
        let (waiting, id) = try fixture.submit(Self.description(own))
        #expect(fixture.stub.submitted.count == 3)
        await fixture.clock.sleepers(1)
        fixture.transport.cancel(id)
        #expect(waiting.events.all == ["cancelled"])
    }

    /// A bulkhead of one command.
    @Test func aLimitOfOneCommand() async throws {
        let fixture = ResilientFixture(Resilience())
        let settings = ConcurrencyLimit.Settings(limit: 1, queueCapacity: 1)
        let own = RequestResilience(concurrency: settings, name: "own")
        let limit = fixture.transport.parts.concurrencyLimit(with: settings)
        let (first, _) = try fixture.submit(Self.description(own))
        let (second, _) = try fixture.submit(Self.description(own, url: "http://b/"))
        try await waitUntil("the second waits") { limit.waiting(of: "own") == 1 }
        let (third, _) = try fixture.submit(Self.description(own))
        try await waitUntil("the third is refused") { !third.results.all.isEmpty }
        #expect(third.error == .limitExceeded && third.error?.isRefusal == true)
        // Requests without the limit, and those of another name, do not wait.
        _ = try fixture.submit()
        _ = try fixture.submit(Self.description(RequestResilience(concurrency: settings, name: "other")))
        #expect(fixture.stub.submitted.count == 3 && limit.inFlight(of: "own") == 1)
        for _ in 0..<3 { try fixture.answer(200) }
        try await waitUntil("the second is sent") { fixture.stub.open.count == 1 }
        try fixture.answer(200)
        #expect(first.events.all == ["200"] && second.events.all == ["200"])
        try await waitUntil("nothing is left") { fixture.isEmpty() && limit.inFlight(of: "own") == 0 }
        #expect(fixture.transport.parts.counts.refusedByLimit == 1)
    }

    /// The limit is made with the first use of its policy. What it measures of attempts that have waited is measured all
    /// the same.
    @Test func anAdaptiveLimitOfOneCommand() async throws {
        let fixture = ResilientFixture(Resilience())
        let adaptive = AdaptiveLimit.Settings(
            .aimd(.init(timeout: .seconds(1))), initial: 10, bounds: 1...20, window: .milliseconds(100),
            minimumSamples: 1)
        let settings = ConcurrencyLimit.Settings(adaptive: adaptive)
        let own = RequestResilience(concurrency: settings, rate: .init(rate: .init(1, per: .seconds(1))))
        fixture.clock.advance(by: .seconds(3600))
        let (_, first) = try fixture.submit(Self.description(own))
        for _ in 0..<2 { _ = try fixture.submit(Self.description(own)) }
        await fixture.clock.sleepers(2)
        // It did not wait, so its end is to be no sample.
        fixture.outer.cancel(first)
        for attempts in 2...3 {
            fixture.clock.advance(by: .seconds(1))
            try await waitUntil("attempt \(attempts) was sent") { fixture.stub.submitted.count == attempts }
        }
        try await waitUntil("both are open") { fixture.stub.open.count == 2 }
        fixture.clock.advance(by: .seconds(2))
        try fixture.answer(200)
        fixture.clock.advance(by: .milliseconds(100))
        try fixture.answer(200)
        // The mean is above the timeout.
        #expect(fixture.transport.parts.concurrencyLimit(with: settings).limit(of: Self.origin) == 9)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    // MARK: Off

    @Test func theBreakerAloneIsOff() throws {
        let fixture = ResilientFixture(Resilience(breaker: Self.strict, concurrency: .init(limit: 1)))
        _ = try fixture.submit()
        try fixture.answer(500)
        #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        let limit = try #require(fixture.transport.parts.concurrency)
        _ = try fixture.submit(Self.description(RequestResilience(breaker: .never)))
        #expect(fixture.stub.submitted.count == 2 && limit.inFlight(of: Self.origin) == 1)
        try fixture.answer(500)
        #expect(fixture.isEmpty() && fixture.transport.parts.allBreakers.count == 1)
    }

    @Test func theLimitsAloneAreOff() throws {
        let settings = Resilience(
            breaker: Self.strict, concurrency: .init(limit: 1), rate: .init(rate: .init(1, per: .seconds(1))))
        let fixture = ResilientFixture(settings)
        _ = try fixture.submit()
        let free = RequestResilience(concurrency: .unlimited, rate: .unlimited)
        for _ in 0..<3 { _ = try fixture.submit(Self.description(free)) }
        #expect(fixture.stub.submitted.count == 4)
        #expect(fixture.transport.parts.concurrency?.inFlight(of: Self.origin) == 1)
        // The breaker still counts: it opens with the second answer.
        for status in [200, 500, 200, 200] { try fixture.answer(status) }
        try Self.expectOpen(fixture, free)
        #expect(fixture.isEmpty())
    }

    /// The policies by which a part is off do nothing in a client either.
    @Test func policiesThatDoNothing() throws {
        let fixture = ResilientFixture(
            Resilience(breaker: .never, concurrency: .unlimited, rate: .unlimited))
        for _ in 0..<50 {
            _ = try fixture.submit()
            try fixture.answer(503, [.retryAfter: "9"])
        }
        #expect(fixture.transport.parts.breakers?.breaker(for: Self.origin).state == .closed)
        #expect(fixture.transport.parts.breakers?.breaker(for: Self.origin).tally.calls == 50)
        #expect(fixture.isEmpty())
    }

    // MARK: The table

    /// A policy for each request fills no memory.
    @Test func theTableIsBounded() throws {
        let fixture = ResilientFixture(Resilience()) { _ in .response(status: 200) }
        let parts = fixture.transport.parts
        let kept = BreakerPolicy(window: .count(1000), minimumCalls: 1000)
        for number in 1...300 {
            let own = RequestResilience(
                breaker: BreakerPolicy(minimumCalls: number), concurrency: .init(limit: number),
                rate: .init(rate: nil, burst: number))
            _ = try fixture.submit(Self.description(own))
            _ = try fixture.submit(Self.description(RequestResilience(breaker: kept)))
        }
        #expect(parts.allBreakers.count <= PolicyTable<BreakerPolicy, CircuitBreakers>.capacity)
        #expect(parts.circuitBreakers(with: kept).breaker(for: Self.origin).tally.calls == 300)
        #expect(fixture.isEmpty())
    }

    @Test func theTableKeepsWhatIsUsed() {
        var table = PolicyTable<Int, Int>()
        for number in 0..<1000 {
            let (used, new) = (table.part(of: -1) { number }, table.part(of: number) { number })
            #expect(used == 0 && new == number && table.count <= PolicyTable<Int, Int>.capacity)
        }
        let (last, old) = (table.part(of: 999) { 0 }, table.part(of: 1) { 7 })
        #expect(last == 999 && old == 7 && table.parts.count == table.count)
    }

    // MARK: In a client

    @Test func commandsOfAClient() async throws {
        let stub = StubTransport { _ in .response(status: 500) }
        var configuration = Client.Configuration(baseURL: "http://a/")
        configuration.clock = ManualClock()
        configuration.resilience = Resilience(breaker: Self.lenient)
        let client = Client(configuration: configuration, transport: stub)
        let own = RequestResilience(breaker: Self.strict, name: "own")
        #expect(try await client.run(Get(resilience: own)).statusCode == 500)
        await #expect(throws: ErrandError.circuitOpen) { try await client.run(Get(resilience: own)) }
        #expect(try await client.run(Get()).statusCode == 500)
        // Overrides come before the command.
        var overrides = RequestOverrides()
        overrides.resilience = RequestResilience(breaker: .never)
        #expect(try await client.run(Get(resilience: own), overrides: overrides).statusCode == 500)
        #expect(client.resilience?.circuitBreakers(with: Self.strict).breaker(for: "own").state == .open)
        #expect(stub.submitted.count == 3)
        await client.shutdown(.cancel)
    }
}
