import Dispatch
import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
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
        #expect(receiver.resends.all == ["hedge"])
        #expect(fixture.stub.cancelled.contains(first) && fixture.isEmpty())
        let counts = fixture.transport.parts.counts
        #expect(counts.hedges == 1 && counts.hedgesWon == 1 && counts.losers == 1 && counts.attempts == 2)
    }

    /// A hedge that was accepted and then refused was not sent.
    @Test func aHedgeThatIsRefusedLater() async throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        try await hedge(fixture, attempts: 2)
        fixture.stub.complete(fixture.stub.open[1], with: .failure(ErrandError.addressRefused.refused))
        try fixture.answer(200)
        #expect(receiver.resends.all == ["hedge", "not hedge"] && receiver.events.all.last == "200")
        #expect(fixture.transport.parts.counts.hedges == 0 && fixture.isEmpty())
    }

    /// The error of a submission that blocks, on a thread of its own; `nil`: it was accepted.
    private func submissionError(_ fixture: ResilientFixture, _ receiver: CallReceiver) async throws -> ErrandError? {
        let description = try ResilientFixture.description()
        return await withCheckedContinuation { done in
            DispatchQueue.global().async {
                do throws(ErrandError) {
                    _ = try fixture.outer.submit(description, for: receiver)
                    done.resume(returning: nil)
                } catch {
                    done.resume(returning: error)
                }
            }
        }
    }

    /// The transport beneath takes its time to refuse the first attempt, and a hedge is sent meanwhile.
    @Test func aRefusedSubmissionHasNoEvents() async throws {
        let beneath = Mutex<(ManualClock, ResilienceParts)?>(nil)
        let submissions = Atomic<Int>(0)
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(), hedge: Self.hedge)) { _ in
            guard submissions.add(1, ordering: .relaxed).newValue == 1, let (clock, parts) = beneath.withLock({ $0 })
            else { return .hold }
            clock.advance(by: .seconds(1))
            try? blockUntil("the hedge is sent") { parts.counts.hedges > 0 }
            return .refuse(.queueFull)
        }
        beneath.withLock { $0 = (fixture.clock, fixture.transport.parts) }
        let receiver = CallReceiver(callbacks: .inline())
        #expect(try await submissionError(fixture, receiver) == .queueFull)
        #expect(submissions.load(ordering: .relaxed) == 2 && receiver.events.all.isEmpty)
        #expect(fixture.isEmpty())
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

    @Test func onlyRequestsThatMayOverlapAreHedged() throws {
        let fixture = fixture()
        for method in [HTTPRequest.Method.post, .put, .delete] {
            _ = try fixture.submit(ResilientFixture.description(method))
        }
        let key = HTTPField.Name("Idempotency-Key")
        var keyed = try ResilientFixture.description(.post)
        try keyed.headers.set(key, to: "a")
        _ = try fixture.submit(keyed)
        var written = try ResilientFixture.description()
        written.body = .stream(length: nil)
        _ = try fixture.submit(written)
        var exempt = try ResilientFixture.description()
        exempt.resilience = .off
        _ = try fixture.submit(exempt)
        var other = try ResilientFixture.description()
        other.resilience = RequestResilience(hedge: .never)
        _ = try fixture.submit(other)
        #expect(fixture.outer.count == 0 && fixture.transport.count == 7)
        // The methods that the program has chosen.
        var chosen = try ResilientFixture.description(.post)
        chosen.resilience = RequestResilience(retry: RetryPolicy(methods: .only([.post])))
        _ = try fixture.submit(chosen)
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
        try await waitUntil("its id is known") { fixture.transport.parts.counts.hedges == 1 }
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
        // One hedge each: a further one would become due while the test looks whether anything is left.
        let fixture = fixture(
            HedgePolicy(
                delay: .fixed(.milliseconds(100)), maxExtra: 1, budget: .init(ratio: 1, floorPerSecond: 5)))
        // The deadline is on the real clock, and far away: a busy machine may be late by minutes.
        _ = try Deadline.limit(to: .after(.seconds(3_600))) {
            try fixture.submit(ResilientFixture.description(url: "http://b/"))
        }
        let (receiver, _) = try fixture.submit()
        try await waitUntil("the second is hedged") {
            fixture.clock.advance(by: .milliseconds(100))
            return fixture.stub.submitted.count { $0.url == "http://a/" } == 2
        }
        #expect(fixture.stub.submitted.last { $0.url == "http://a/" }?.settings.timeouts.total == nil)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("nothing is left") { fixture.isEmpty() }
        #expect(receiver.events.all.last == "200")
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

    /// The transport beneath takes longer than the delay to refuse the first attempt. The hedge that was sent meanwhile is
    /// cancelled: nobody waits for its answer.
    @Test func aRefusalAfterTheHedgeCancelsIt() async throws {
        let clocks = Notes<ManualClock>()
        let asked = Notes<String>()
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(100)), maxExtra: 1, budget: .init(ratio: 1, floorPerSecond: 5))
        let settings = Resilience(retry: RetryPolicy(), budget: nil, hedge: hedge)
        let fixture = ResilientFixture(settings) { description in
            asked.add(description.url)
            guard asked.all.count == 1 else { return .hold }
            try? blockUntil("the hedge is sent") {
                clocks.all.first?.advance(by: .milliseconds(100))
                return asked.all.count == 2
            }
            return .refuse(.queueFull)
        }
        clocks.add(fixture.clock)
        let receiver = CallReceiver(callbacks: .inline())
        #expect(try await submissionError(fixture, receiver) == .queueFull)
        try await waitUntil("the hedge is cancelled") { fixture.stub.cancelled.count == 1 && fixture.isEmpty() }
        #expect(receiver.results.all.isEmpty)
    }

    /// A hedge that still waits for a limit when the first attempt answers was not sent: it costs no token.
    @Test func aHedgeThatWasNotSentCostsNothing() async throws {
        let fixture = ResilientFixture(
            Resilience(retry: RetryPolicy(), hedge: Self.hedge, concurrency: .init(limit: 1, queueCapacity: 4)))
        let (receiver, _) = try fixture.submit()
        let parts = fixture.transport.parts
        let budget = try #require(parts.budgets).budget(for: "http://a:80")
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the hedge waits") { parts.concurrency?.waiting(of: "http://a:80") == 1 }
        #expect(budget.counts.withdrawals == 1)
        try fixture.answer(200)
        try await waitUntil("the tokens are back") {
            budget.counts.withdrawals == 0
                && parts.hedgeTracker(for: "http://a:80", Self.hedge).budget.counts.withdrawals == 0
        }
        #expect(receiver.events.all.last == "200" && parts.counts.hedges == 0 && parts.counts.attempts == 1)
        #expect(receiver.resends.all.isEmpty)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    /// A hedge whose response is as bad as the others has not won.
    @Test func aFailedHedgeHasNotWon() throws {
        let fixture = fixture()
        let (receiver, _) = try fixture.submit()
        // Each failure sends the next hedge at once.
        for _ in 0..<3 { try fixture.answer(503) }
        let counts = fixture.transport.parts.counts
        #expect(receiver.events.all.last == "503" && counts.hedges == 2 && counts.hedgesWon == 0, "\(counts)")
        #expect(fixture.isEmpty())
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

    // MARK: Limits

    /// A call that waits for a limit is not hedged. The delay begins when its first attempt is sent.
    @Test func aCallThatWaitsForALimitIsNotHedged() async throws {
        let fixture = ResilientFixture(
            Resilience(retry: RetryPolicy(), hedge: Self.hedge, concurrency: .init(limit: 2)))
        let parts = fixture.transport.parts
        let concurrency = try #require(parts.concurrency)
        let budget = try #require(parts.budgets).budget(for: "http://a:80")
        // Two requests that are not hedged have the places.
        for _ in 0..<2 { _ = try fixture.submit(ResilientFixture.description(.post)) }
        let (receiver, _) = try fixture.submit()
        try await waitUntil("the call waits") { concurrency.waiting(of: "http://a:80") == 1 }
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .seconds(1))
        await allowTime(for: "a hedge")
        #expect(concurrency.waiting(of: "http://a:80") == 1 && parts.counts.hedges == 0)
        #expect(budget.counts.withdrawals == 0)
        try fixture.answer(200)
        try await waitUntil("the call is sent") { fixture.stub.submitted.count == 3 }
        try fixture.answer(200)
        fixture.clock.advance(by: .milliseconds(99))
        await allowTime(for: "an early hedge")
        #expect(fixture.stub.submitted.count == 3)
        try await waitUntil("the hedge was sent") {
            fixture.clock.advance(by: .milliseconds(1))
            return fixture.stub.open.count == 2
        }
        try await waitUntil("it was announced") { parts.counts.hedges == 1 }
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("nothing is left") { fixture.isEmpty() }
        #expect(receiver.events.all == ["retrying 1 hedge 0.0 seconds", "200"])
    }

    /// The wait for a limit is no latency, neither of transfers that are measured nor of those that could be hedged.
    @Test func aWaitForALimitIsNoLatency() async throws {
        let hedge = HedgePolicy(
            delay: .percentile(0.9, initial: nil), minimumSamples: 2, budget: .init(ratio: 0, floorPerSecond: 0))
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(), hedge: hedge, concurrency: .init(limit: 1)))
        let concurrency = try #require(fixture.transport.parts.concurrency)
        for isHedged in [false, true] {
            for _ in 0..<2 { _ = try fixture.submit() }
            #expect(fixture.outer.count == (isHedged ? 2 : 0))
            try await waitUntil("the second waits") { concurrency.waiting(of: "http://a:80") == 1 }
            for _ in 0..<2 {
                try await waitUntil("an attempt was sent") { !fixture.stub.open.isEmpty }
                fixture.clock.advance(by: .milliseconds(20))
                try fixture.answer(200)
            }
            try await waitUntil("nothing is left") { fixture.isEmpty() }
        }
        let tracker = fixture.transport.parts.hedgeTracker(for: "http://a:80", hedge)
        let longest = try #require(tracker.percentile(1))
        #expect(longest >= .milliseconds(20) && longest <= .milliseconds(22))
    }
}
