import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Hedges through the transports of a client, on a manual clock. A stub holds every attempt.
@Suite struct HedgingTransportTests {
    private static let hedge = HedgePolicy(
        delay: .fixed(.milliseconds(100)), maxExtra: 2, budget: .init(ratio: 1, floorPerSecond: 5))

    private func fixture(_ hedge: HedgePolicy = hedge, budget: RetryBudget.Policy? = nil) -> ResilientFixture {
        ResilientFixture(Resilience(retry: RetryPolicy(), budget: budget, hedge: hedge))
    }

    /// Lets the delay pass, and returns when the stub has `count` attempts.
    private func hedge(_ fixture: ResilientFixture, attempts count: Int) async throws {
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("attempt \(count) was sent") { fixture.stub.open.count == count }
        try await waitUntil("it was announced") { fixture.transport.parts.counts.hedges > 0 }
    }

    private func streamed() throws -> RequestDescription {
        var description = try ResilientFixture.description()
        description.delivery = .streamed
        return description
    }

    @Test func anAnswerInTimeHasNoHedge() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try fixture.answer(200)
        #expect(receiver.events.all == ["200"] && fixture.isEmpty())
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .seconds(1))
        let (second, _) = try fixture.submit()
        try fixture.answer(404)
        #expect(second.events.all == ["404"] && fixture.stub.submitted.count == 2)
        #expect(fixture.transport.parts.counts.hedges == 0)
    }

    @Test func theFasterAnswerWins() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        let (first, second) = (fixture.stub.open[0], fixture.stub.open[1])
        fixture.stub.complete(second, with: .response(Response(statusCode: 200)))
        #expect(receiver.events.all == ["retrying 1 hedge 0.0 seconds", "200"])
        #expect(fixture.stub.cancelled.contains(first) && fixture.isEmpty())
        let counts = fixture.transport.parts.counts
        #expect(counts.hedges == 1 && counts.hedgesWon == 1 && counts.losers == 1 && counts.attempts == 2)
    }

    @Test func theFirstAttemptMayWin() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        try fixture.answer(200)
        #expect(receiver.results.all.count == 1 && receiver.events.all.last == "200" && fixture.isEmpty())
        let counts = fixture.transport.parts.counts
        #expect(counts.hedges == 1 && counts.hedgesWon == 0 && counts.losers == 1)
    }

    /// After a failure the next hedge leaves at once; the last failure is that of the call.
    @Test func failuresAreHedgedAtOnce() throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try fixture.answer(503)
        #expect(fixture.stub.submitted.count == 2)
        fixture.stub.complete(try #require(fixture.stub.open.first), with: .failure(.connectionLost))
        #expect(fixture.stub.submitted.count == 3)
        try fixture.answer(502)
        #expect(receiver.events.all == ["retrying 1 hedge 0.0 seconds", "retrying 2 hedge 0.0 seconds", "502"])
        #expect(fixture.isEmpty())
    }

    @Test func aFailureThatRepeatsIsFinal() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        fixture.stub.complete(fixture.stub.open[0], with: .failure(.invalidURL))
        #expect(receiver.error == .invalidURL && receiver.results.all.count == 1 && fixture.isEmpty())
    }

    @Test func onlyRepeatableRequestsAreHedged() throws {
        let fixture = fixture()
        _ = try fixture.submit(ResilientFixture.description(.post))
        var written = try ResilientFixture.description(.put)
        written.body = .stream(length: nil)
        _ = try fixture.submit(written)
        var exempt = try ResilientFixture.description()
        exempt.resilience = .off
        _ = try fixture.submit(exempt)
        var other = try ResilientFixture.description()
        other.resilience = RequestResilience(hedge: .never)
        _ = try fixture.submit(other)
        #expect(fixture.outer.count == 0 && fixture.transport.count == 4)
        let key = HTTPField.Name("Idempotency-Key")
        var keyed = try ResilientFixture.description(.post)
        try keyed.headers.set(key, to: "a")
        _ = try fixture.submit(keyed)
        #expect(fixture.outer.count == 1)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    /// A command may be hedged although the client's requests are not.
    @Test func aCommandHasAPolicyOfItsOwn() async throws {
        let fixture = ResilientFixture(Resilience())
        _ = try fixture.submit()
        var description = try ResilientFixture.description()
        description.resilience = RequestResilience(hedge: Self.hedge, name: "own")
        let (receiver, _) = try fixture.submit(description)
        try await hedge(fixture, attempts: 3)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(receiver.results.all.count == 1 && fixture.isEmpty())
        #expect(fixture.transport.parts.budgets?.budget(for: "own").counts.withdrawals == 1)
    }

    // MARK: Budgets

    @Test func bothBudgetsBound() async throws {
        // The hedges' own budget has one token, the retry budget none.
        let own = HedgePolicy(delay: .fixed(.milliseconds(100)), budget: .init(ratio: 0, floorPerSecond: 0.1))
        let fixture = fixture(own, budget: .init(ratio: 0, floorPerSecond: 0))
        let (receiver, _) = try fixture.submit()
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the budget refused") { fixture.transport.parts.counts.hedgesRefused == 1 }
        #expect(fixture.stub.submitted.count == 1)
        try fixture.answer(503)
        #expect(receiver.events.all == ["503"] && fixture.isEmpty())
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.deposits == 1 && budget.counts.withdrawals == 0 && budget.counts.refusals == 1)
    }

    /// A hedged request deposits once, and each hedge withdraws once.
    @Test func hedgesDepositOnce() async throws {
        let fixture = fixture(budget: RetryBudget.Policy())
        _ = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        let counts = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80").counts
        #expect(counts.deposits == 1 && counts.withdrawals == 1 && fixture.isEmpty())
    }

    /// A hedge that a breaker refuses leaves the first attempt as it is, and its token goes back.
    @Test func aRefusedHedgeChangesNothing() async throws {
        let fixture = ResilientFixture(
            Resilience(retry: RetryPolicy(), hedge: Self.hedge, breaker: BreakerPolicy()))
        let (receiver, _) = try fixture.submit()
        fixture.transport.parts.breakers?.breaker(for: "http://a:80").force(.open)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the breaker refused") { fixture.transport.parts.counts.refusedByBreaker == 1 }
        try await waitUntil("the token is back") {
            fixture.transport.parts.budgets?.budget(for: "http://a:80").counts.withdrawals == 0
        }
        try fixture.answer(200)
        #expect(receiver.events.all.last == "200" && fixture.isEmpty())
    }

    // MARK: Percentiles

    /// Without samples requests are retried, and with samples hedged.
    @Test func theDelayFollowsTheLatencies() async throws {
        let fixture = fixture(
            HedgePolicy(
                delay: .percentile(0.9, initial: nil), minimumSamples: 10,
                budget: .init(ratio: 1, floorPerSecond: 1)))
        for _ in 0..<10 {
            let (receiver, _) = try fixture.submit()
            fixture.clock.advance(by: .milliseconds(20))
            try fixture.answer(200)
            #expect(receiver.events.all == ["200"])
        }
        let (receiver, _) = try fixture.submit()
        #expect(fixture.outer.count == 1)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(30))
        try await waitUntil("the hedge was sent") { fixture.stub.open.count == 2 }
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(receiver.results.all.count == 1 && fixture.isEmpty())
    }

    // MARK: Streams

    @Test func theFirstHeadOfAStreamWins() async throws {
        let fixture = fixture()
        let (receiver, id) = try fixture.submit(streamed())
        fixture.outer.grant(id, bytes: 7)
        try await hedge(fixture, attempts: 2)
        let (first, second) = (fixture.stub.open[0], fixture.stub.open[1])
        fixture.stub.send(.head(Response(statusCode: 200)), to: second)
        #expect(fixture.stub.cancelled == [first])
        fixture.outer.grant(id, bytes: 5)
        #expect(fixture.stub.granted(to: second) == 12)
        // What the loser still reports is dropped.
        fixture.stub.send(.chunk(Response(statusCode: 200, body: [1])), to: first)
        fixture.stub.send(.chunk(Response(statusCode: 200, body: [1, 2])), to: second)
        fixture.stub.complete(second, with: .failure(.connectionLost))
        #expect(
            receiver.events.all == ["retrying 1 hedge 0.0 seconds", "head 200", "chunk 2", "the connection was lost"]
                || receiver.events.all.dropLast() == ["retrying 1 hedge 0.0 seconds", "head 200", "chunk 2"])
        #expect(receiver.error == .connectionLost && fixture.isEmpty())
    }

    /// The head of a bad response is followed by a hedge, and dropped.
    @Test func aBadHeadIsHedged() throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit(streamed())
        let first = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 503)), to: first)
        #expect(fixture.stub.submitted.count == 2 && fixture.stub.cancelled == [first])
        let second = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 200)), to: second)
        fixture.stub.complete(second, with: .response(Response(statusCode: 200)))
        #expect(receiver.events.all == ["retrying 1 hedge 0.0 seconds", "head 200", "200"] && fixture.isEmpty())
    }

    /// Without another attempt a bad response belongs to the caller, body and all.
    @Test func theLastBadHeadIsDelivered() throws {
        let fixture = fixture(HedgePolicy(delay: .fixed(.seconds(1)), budget: .init(ratio: 0, floorPerSecond: 0)))
        let (receiver, _) = try fixture.submit(streamed())
        let first = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 503)), to: first)
        #expect(receiver.events.all == ["head 503"])
        fixture.stub.complete(first, with: .response(Response(statusCode: 503)))
        #expect(receiver.events.all == ["head 503", "503"] && fixture.isEmpty())
    }

    // MARK: Orders of the caller

    @Test func aCancelledCallEndsOnce() async throws {
        let fixture = fixture()
        let (receiver, id) = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        fixture.outer.cancel(id)
        #expect(receiver.error == .cancelled && receiver.results.all.count == 1 && fixture.isEmpty())
        fixture.outer.cancel(id)
        #expect(receiver.results.all.count == 1)
    }

    @Test func aPausedCallPausesItsAttempts() async throws {
        let fixture = fixture()
        let (_, id) = try fixture.submit()
        fixture.outer.pause(id)
        try await hedge(fixture, attempts: 2)
        try await waitUntil("both are paused") { fixture.stub.open.allSatisfy { fixture.stub.isPaused($0) } }
        fixture.outer.resume(id)
        #expect(!fixture.stub.open.contains { fixture.stub.isPaused($0) })
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    @Test func aShutdownEndsTheCall() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        await withCheckedContinuation { done in fixture.outer.shutdown { done.resume() } }
        #expect(receiver.results.all.count == 1 && fixture.isEmpty())
        #expect(throws: ErrandError.shutDown) { try fixture.submit() }
    }

    /// `Retry-After` moves the next hedge; a shutdown ends the wait for it.
    @Test func aShutdownEndsTheWaitForAHedge() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try fixture.answer(503, [.retryAfter: "2"])
        #expect(fixture.stub.submitted.count == 1 && receiver.results.all.isEmpty)
        await withCheckedContinuation { done in fixture.outer.shutdown { done.resume() } }
        #expect(receiver.error == .cancelled && fixture.isEmpty())
    }

    /// The timer of all hedges has no deadline of the request that started it.
    @Test func aDeadlineIsThatOfOneRequest() async throws {
        let fixture = fixture()
        _ = try Deadline.limit(to: .after(.milliseconds(1))) {
            try fixture.submit(ResilientFixture.description(url: "http://b/"))
        }
        let soon = ContinuousClock.now + .milliseconds(2)
        let (receiver, _) = try fixture.submit()
        try await waitUntil("the deadline of the first has passed") { ContinuousClock.now > soon }
        try await waitUntil("the second is hedged") {
            fixture.clock.advance(by: .milliseconds(100))
            return fixture.stub.submitted.count { $0.url == "http://a/" } == 2
        }
        #expect(fixture.stub.submitted.last { $0.url == "http://a/" }?.settings.timeouts.total == nil)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(receiver.events.all.last == "200" && fixture.isEmpty())
    }

    /// A hedge that waits for a limit and is refused then gives its tokens back.
    @Test func aLateRefusalGivesTheTokensBack() async throws {
        let fixture = ResilientFixture(
            Resilience(
                retry: RetryPolicy(), hedge: Self.hedge,
                concurrency: .init(limit: 1, queueCapacity: 4, longestWait: .milliseconds(50))))
        let (receiver, _) = try fixture.submit()
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the hedge waits") {
            fixture.transport.parts.concurrency?.waiting(of: "http://a:80") == 1
        }
        #expect(budget.counts.withdrawals == 1)
        try await waitUntil("the hedge is refused") {
            fixture.clock.advance(by: .milliseconds(50))
            return fixture.transport.parts.counts.refusedByLimit == 1 && budget.counts.withdrawals == 0
        }
        try fixture.answer(200)
        #expect(receiver.events.all.last == "200" && fixture.isEmpty())
    }

    @Test func noHedgeLeavesAtTheDeadline() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit(ResilientFixture.description(total: .milliseconds(150)))
        try await hedge(fixture, attempts: 2)
        #expect(fixture.stub.submitted[1].settings.timeouts.total == .milliseconds(50))
        fixture.clock.advance(by: .milliseconds(50))
        fixture.stub.completeAll { _ in .failure(.timeoutTotal) }
        #expect(receiver.error == .timeoutTotal && fixture.stub.submitted.count == 2 && fixture.isEmpty())
    }
}
