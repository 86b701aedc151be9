import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

/// What the wait for a limit means to the other parts, on a manual clock.
@Suite struct LimitWaitTests {
    private static let origin = "http://a:80"

    /// A healthy server has a closed breaker, however long the client lets requests wait for the rate.
    @Test func aWaitForTheRateIsNoSlowCall() async throws {
        let fixture = ResilientFixture(
            Resilience(
                breaker: BreakerPolicy(
                    window: .count(4), slowCallRate: 0.5, slowCallDuration: .seconds(1), minimumCalls: 2),
                rate: .init(rate: .init(1, per: .seconds(1)))))
        for _ in 0..<3 { _ = try fixture.submit() }
        try fixture.answer(200)
        await fixture.clock.sleepers(2)
        for attempts in 2...3 {
            try await fixture.pass(.seconds(1), attempts: attempts)
            try fixture.answer(200)
        }
        let breaker = try #require(fixture.transport.parts.breakers).breaker(for: Self.origin)
        #expect(breaker.state == .closed && breaker.tally.calls == 3 && breaker.tally.slow == 0)
        #expect(fixture.isEmpty())
    }

    /// The same for the wait for a place.
    @Test func aWaitForAPlaceIsNoSlowCall() async throws {
        let fixture = ResilientFixture(
            Resilience(
                breaker: BreakerPolicy(
                    window: .count(4), slowCallRate: 0.5, slowCallDuration: .seconds(1), minimumCalls: 2),
                concurrency: .init(limit: 1)))
        let concurrency = try #require(fixture.transport.parts.concurrency)
        for _ in 0..<3 { _ = try fixture.submit() }
        try await waitUntil("two requests wait") { concurrency.waiting(of: Self.origin) == 2 }
        for attempts in 1...3 {
            try await waitUntil("attempt \(attempts) was sent") { fixture.stub.submitted.count == attempts }
            fixture.clock.advance(by: .milliseconds(999))
            try fixture.answer(200)
        }
        let breaker = try #require(fixture.transport.parts.breakers).breaker(for: Self.origin)
        #expect(breaker.state == .closed && breaker.tally.calls == 3 && breaker.tally.slow == 0)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    // MARK: A breaker that changes its state meanwhile

    /// The breaker opens with the first failure, for five seconds, and has one probe.
    private static let breaker = BreakerPolicy(
        window: .count(4), minimumCalls: 1, openTime: .seconds(5), jitter: 0, halfOpenPermits: 1)

    @Test func aQueueDoesNotDrainIntoAnOpenBreaker() async throws {
        let fixture = ResilientFixture(Resilience(breaker: Self.breaker, concurrency: .init(limit: 1)))
        let concurrency = try #require(fixture.transport.parts.concurrency)
        _ = try fixture.submit()
        let waiting = try (0..<20).map { _ in try fixture.submit().0 }
        try await waitUntil("all wait") { concurrency.waiting(of: Self.origin) == 20 }
        try fixture.answer(500)
        try await waitUntil("all have ended") { waiting.allSatisfy { !$0.results.all.isEmpty } }
        for receiver in waiting {
            #expect(receiver.error == .circuitOpen && receiver.error?.isRefusal == true)
            #expect(receiver.error?.retryAfter == .seconds(5))
        }
        #expect(fixture.stub.submitted.count == 1 && fixture.transport.parts.counts.refusedByBreaker == 20)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    @Test func theRateDoesNotSendIntoAnOpenBreaker() async throws {
        let fixture = ResilientFixture(
            Resilience(
                breaker: Self.breaker, concurrency: .init(limit: 2), rate: .init(rate: .init(1, per: .seconds(1)))))
        let concurrency = try #require(fixture.transport.parts.concurrency)
        let all = try (0..<4).map { _ in try fixture.submit().0 }
        // The second holds a place and waits for the rate; two wait for a place.
        try await waitUntil("two requests wait for a place") { concurrency.waiting(of: Self.origin) == 2 }
        await fixture.clock.sleepers(3)
        try fixture.answer(500)
        // Those with a new place are refused at once, and take no permit of the rate.
        try await waitUntil("three have ended") { all.count { !$0.results.all.isEmpty } == 3 }
        #expect(fixture.transport.parts.rate?.counts.granted == 2)
        fixture.clock.advance(by: .seconds(1))
        try await waitUntil("all have ended") { all.allSatisfy { !$0.results.all.isEmpty } }
        #expect(all.dropFirst().allSatisfy { $0.error == .circuitOpen } && fixture.stub.submitted.count == 1)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    /// A request that has waited until the breaker lets probes pass is one, and its result counts.
    @Test func aRequestThatHasWaitedProbes() async throws {
        let fixture = ResilientFixture(
            Resilience(breaker: Self.breaker, rate: .init(rate: .init(1, per: .seconds(10)))))
        let breaker = try #require(fixture.transport.parts.breakers).breaker(for: Self.origin)
        for _ in 0..<2 { _ = try fixture.submit() }
        try fixture.answer(500)
        #expect(breaker.state == .open)
        try await fixture.pass(.seconds(10), attempts: 2)
        #expect(breaker.state == .halfOpen)
        try fixture.answer(200)
        #expect(breaker.state == .closed && fixture.isEmpty())
    }
}
