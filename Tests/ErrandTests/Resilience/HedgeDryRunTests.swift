import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Hedges that are only counted, through the transports of a client, on a manual clock. A stub holds every attempt.
@Suite struct HedgeDryRunTests {
    private static let key = "http://a:80"

    private static func hedge(extra: Int = 1, tokens: Double = 50) -> HedgePolicy {
        // The floor is averaged over ten seconds.
        HedgePolicy(
            delay: .fixed(.milliseconds(100)), maxExtra: extra, budget: .init(ratio: 0, floorPerSecond: tokens / 10),
            isDryRun: true)
    }

    private static func observed(_ method: HTTPRequest.Method = .get) throws -> RequestDescription {
        var description = try ResilientFixture.description(method)
        description.reports = .events
        return description
    }

    private static func fixture(
        _ hedge: HedgePolicy = hedge(), retry: RetryPolicy? = RetryPolicy(),
        budget: RetryBudget.Policy? = RetryBudget.Policy()
    ) -> ResilientFixture {
        ResilientFixture(Resilience(retry: retry, budget: budget, hedge: hedge))
    }

    private static func pass(_ fixture: ResilientFixture) async {
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
    }

    private static let counted = ResilienceDecision.notHedged(reason: "dryRun")
    private static let refused = ResilienceDecision.notHedged(reason: "budgetExhausted")

    @Test func aLateAnswerIsCounted() async throws {
        let fixture = Self.fixture()
        let (receiver, id) = try fixture.submit(Self.observed())
        await Self.pass(fixture)
        try await waitUntil("the hedge is counted") { receiver.decisions.all == [Self.counted] }
        #expect(fixture.stub.submitted.count == 1 && fixture.outer.count == 0)
        // The transfer is one of the transport beneath.
        let attempt = try #require(fixture.stub.open.first)
        fixture.outer.pause(id)
        #expect(fixture.stub.isPaused(attempt))
        fixture.outer.resume(id)
        try fixture.answer(200)
        #expect(receiver.events.all == ["200"] && receiver.resends.all.isEmpty && fixture.isEmpty())
        let counts = fixture.transport.parts.counts
        #expect(counts.wouldHedge == 1 && counts.wouldRefuseHedge == 0 && counts.hedges == 0 && counts.losers == 0)
        #expect(counts.attempts == 1 && counts.transfers == 1 && counts.hedgesRefused == 0)
        let budget = try #require(fixture.transport.parts.budgets).budget(for: Self.key)
        #expect(budget.counts.deposits == 1 && budget.counts.withdrawals == 0)
        let tracker = fixture.transport.parts.hedgeTracker(for: Self.key, Self.hedge())
        #expect(tracker.budget.counts.withdrawals == 1)
        // Latencies are measured as with hedges.
        #expect(tracker.percentile(0.5) != nil)
    }

    @Test func anAnswerInTimeIsNot() async throws {
        let fixture = Self.fixture()
        let (receiver, _) = try fixture.submit(Self.observed())
        try fixture.answer(200)
        await Self.pass(fixture)
        let (second, _) = try fixture.submit(Self.observed())
        try fixture.answer(404)
        #expect(receiver.decisions.all.isEmpty && second.decisions.all.isEmpty && fixture.isEmpty())
        #expect(fixture.transport.parts.counts.wouldHedge == 0)
    }

    @Test func everyDelayIsCounted() async throws {
        let fixture = Self.fixture(Self.hedge(extra: 2))
        let (receiver, _) = try fixture.submit(Self.observed())
        for count in 1...2 {
            await Self.pass(fixture)
            try await waitUntil("hedge \(count) is counted") { receiver.decisions.all.count == count }
        }
        fixture.clock.advance(by: .seconds(5))
        try fixture.answer(200)
        #expect(receiver.decisions.all == [Self.counted, Self.counted] && fixture.isEmpty())
    }

    /// The request is retried, and the hedge that the failure would have caused is counted before.
    @Test func aFailureIsRetried() async throws {
        let fixture = Self.fixture()
        let (receiver, _) = try fixture.submit(Self.observed())
        try fixture.answer(503)
        #expect(receiver.decisions.all == [Self.counted] && receiver.events.all.last?.hasPrefix("retrying 1") == true)
        try await fixture.pass(.seconds(1), attempts: 2)
        // The retry stands for the only hedge.
        try fixture.answer(503)
        try await fixture.pass(.seconds(1), attempts: 3)
        try fixture.answer(200)
        #expect(receiver.results.all.count == 1 && receiver.events.all.last == "200" && fixture.isEmpty())
        let counts = fixture.transport.parts.counts
        #expect(counts.wouldHedge == 1 && counts.retries == ["status503": 2] && counts.hedges == 0)
        let budget = try #require(fixture.transport.parts.budgets).budget(for: Self.key)
        #expect(budget.counts.withdrawals == 2)
    }

    /// Without retries the end of the attempt says that a hedge would have followed.
    @Test func aFailureWithoutRetries() throws {
        let fixture = Self.fixture(retry: nil)
        let (receiver, _) = try fixture.submit(Self.observed())
        try fixture.answer(503)
        #expect(receiver.decisions.all == [Self.counted] && receiver.events.all == ["503"] && fixture.isEmpty())
        let (fatal, _) = try fixture.submit(Self.observed())
        fixture.stub.complete(try #require(fixture.stub.open.first), with: .failure(.invalidURL))
        #expect(fatal.decisions.all.isEmpty && fatal.error == .invalidURL)
        let (waiting, _) = try fixture.submit(Self.observed())
        try fixture.answer(503, [.retryAfter: "1"])
        #expect(waiting.decisions.all.isEmpty && fixture.transport.parts.counts.wouldHedge == 1)
    }

    @Test func aBudgetWouldRefuse() async throws {
        // The hedges' own budget has one token.
        let own = Self.fixture(Self.hedge(tokens: 1))
        for expected in [Self.counted, Self.refused] {
            let (receiver, _) = try own.submit(Self.observed())
            await Self.pass(own)
            try await waitUntil("it is decided") { receiver.decisions.all == [expected] }
            try own.answer(200)
        }
        let counts = own.transport.parts.counts
        #expect(counts.wouldHedge == 1 && counts.wouldRefuseHedge == 1 && counts.hedgesRefused == 0 && own.isEmpty())
        // The retry budget has none. It is asked, and keeps its counts.
        let shared = Self.fixture(budget: .init(ratio: 0, floorPerSecond: 0))
        let (receiver, _) = try shared.submit(Self.observed())
        await Self.pass(shared)
        try await waitUntil("it is decided") { receiver.decisions.all == [Self.refused] }
        try shared.answer(200)
        let budget = try #require(shared.transport.parts.budgets).budget(for: Self.key)
        #expect(budget.counts.refusals == 0 && budget.counts.withdrawals == 0 && shared.isEmpty())
        let tracker = shared.transport.parts.hedgeTracker(for: Self.key, Self.hedge())
        #expect(tracker.budget.counts.withdrawals == 0)
    }

    @Test func streams() async throws {
        let fixture = Self.fixture(retry: nil)
        var description = try Self.observed()
        description.delivery = .streamed
        let (receiver, id) = try fixture.submit(description)
        let attempt = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 200)), to: attempt)
        // The head is the answer: what comes later is not late.
        await Self.pass(fixture)
        fixture.outer.grant(id, bytes: 7)
        #expect(fixture.stub.granted(to: attempt) == 7)
        try fixture.answer(200)
        #expect(receiver.decisions.all.isEmpty && receiver.events.all == ["head 200", "200"])
        // A bad head would have been hedged, unless the server asks to wait.
        for (fields, expected) in [([:], [Self.counted]), ([.retryAfter: "1"], [])]
            as [(HTTPFields, [ResilienceDecision])]
        {
            let (bad, _) = try fixture.submit(description)
            let refused = try #require(fixture.stub.open.first)
            fixture.stub.send(.head(Response(statusCode: 503, headers: fields)), to: refused)
            try fixture.answer(503)
            #expect(bad.decisions.all == expected && bad.events.all == ["head 503", "503"] && fixture.isEmpty())
        }
    }

    /// A request that waits for a limit is not late. One that is refused, or cancelled, is not hedged any more.
    @Test func waitsForLimitsAreNotCounted() async throws {
        let limit = ConcurrencyLimit.Settings(limit: 1, queueCapacity: 1)
        let fixture = ResilientFixture(Resilience(hedge: Self.hedge(), concurrency: limit))
        let (_, first) = try fixture.submit()
        await Self.pass(fixture)
        try await waitUntil("the first is late") { fixture.transport.parts.counts.wouldHedge == 1 }
        let (waiting, second) = try fixture.submit(Self.observed())
        try await waitUntil("the second waits") { fixture.transport.parts.concurrency?.waiting(of: Self.key) == 1 }
        fixture.clock.advance(by: .seconds(1))
        fixture.outer.cancel(first)
        try await waitUntil("the second is sent") { fixture.stub.submitted.count == 2 }
        #expect(fixture.transport.parts.counts.wouldHedge == 1)
        fixture.outer.cancel(second)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
        fixture.clock.advance(by: .seconds(1))
        #expect(waiting.decisions.all == [.waiting(for: .concurrency, name: Self.key)])
        #expect(fixture.transport.parts.counts.wouldHedge == 1)
    }

    /// The decision about a refused submission reaches its receiver.
    @Test(arguments: [true, false])
    func aRefusedSubmission(isInline: Bool) async throws {
        let breaker = BreakerPolicy(window: .count(4), minimumCalls: 1)
        let fixture = ResilientFixture(Resilience(hedge: Self.hedge(), breaker: breaker))
        _ = try fixture.submit()
        try fixture.answer(500)
        let receiver = CallReceiver(callbacks: isInline ? .inline() : .serial())
        #expect(throws: ErrandError.circuitOpen) {
            try fixture.outer.submit(Self.observed(), for: receiver)
        }
        try await waitUntil("the decision has come") { !receiver.decisions.all.isEmpty }
        #expect(receiver.decisions.all == [.refused(by: .breaker, name: Self.key)] && receiver.events.all.isEmpty)
        #expect(fixture.isEmpty())
    }

    /// Requests that would not be hedged are not counted, and a shutdown ends the others.
    @Test func othersAndAShutdown() async throws {
        let fixture = Self.fixture()
        let (post, _) = try fixture.submit(Self.observed(.post))
        try fixture.answer(503)
        #expect(post.decisions.all == [.notRetried(reason: "notIdempotent")] && post.events.all == ["503"])
        let (receiver, _) = try fixture.submit(Self.observed())
        await fixture.clock.sleepers(1)
        await withCheckedContinuation { done in fixture.outer.shutdown { done.resume() } }
        fixture.clock.advance(by: .seconds(1))
        #expect(receiver.events.all == ["cancelled"] && receiver.decisions.all.isEmpty && fixture.isEmpty())
        #expect(fixture.transport.parts.counts.wouldHedge == 0)
    }
}
