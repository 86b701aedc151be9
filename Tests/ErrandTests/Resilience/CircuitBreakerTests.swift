import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandResilience

@Suite struct CircuitBreakerTests {
    private static let policy = BreakerPolicy(
        window: .count(4), minimumCalls: 2, openTime: .seconds(5), jitter: 0, halfOpenPermits: 7)

    private static func fail(_ breaker: CircuitBreaker) throws {
        for _ in 0..<2 { try breaker.permit().release(.failure) }
    }

    @Test func aRefusalSaysWhenToTryAgain() throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(name: "a", Self.policy, clock: clock)
        try Self.fail(breaker)
        #expect(breaker.state == .open)
        clock.advance(by: .seconds(2))
        #expect(throws: BreakerRefusal(state: .open, retryAfter: .seconds(3))) { try breaker.permit() }
        breaker.force(.open)
        #expect(throws: BreakerRefusal(state: .forcedOpen, retryAfter: nil)) { try breaker.permit() }
        breaker.release()
        try breaker.permit().release(.success)
        #expect(breaker.tally.calls == 1)
        #expect(breaker.counts.refused == 2 && breaker.counts.openings == 1)
    }

    /// Ten thousand callers meet a half-open breaker.
    @Test func exactlyThePermitsPass() async throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(Self.policy, clock: clock)
        try Self.fail(breaker)
        clock.advance(by: .seconds(5))
        let permits = await withTaskGroup(of: [BreakerPermit].self) { group in
            for _ in 0..<100 {
                group.addTask { (0..<100).compactMap { _ in try? breaker.permit() } }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(permits.count == 7)
        #expect(breaker.counts.refused == 10_000 - 7)
        await withTaskGroup(of: Void.self) { group in
            // Each is released by several tasks, and votes once.
            for permit in permits + permits + permits { group.addTask { permit.release(.success) } }
        }
        #expect(breaker.state == .closed)
        #expect(breaker.tally.calls == 0)
    }

    @Test func aDroppedPermitIsIgnored() throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(Self.policy, clock: clock)
        try Self.fail(breaker)
        clock.advance(by: .seconds(5))
        for _ in 0..<100 { _ = try breaker.permit() }
        #expect(breaker.state == .halfOpen)
        for _ in 0..<7 { try breaker.permit().release(.success) }
        #expect(breaker.state == .closed)
    }

    @Test func aPermitVotesOnce() throws {
        let breaker = CircuitBreaker(Self.policy, clock: ManualClock())
        let permit = try breaker.permit()
        for _ in 0..<5 { permit.release(.failure) }
        #expect(breaker.tally.calls == 1 && breaker.state == .closed)
    }

    /// What is read is what would be judged.
    @Test func theTallyIsThatOfTheWindow() throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(BreakerPolicy(window: .time(.seconds(10))), clock: clock)
        try breaker.permit().release(.failure)
        clock.advance(by: .seconds(9))
        #expect(breaker.tally.failures == 1)
        clock.advance(by: .seconds(1))
        #expect(breaker.tally.calls == 0)
        breaker.force(.closed)
        try breaker.permit().release(.success)
        clock.advance(by: .seconds(10))
        #expect(breaker.tally.calls == 0 && breaker.state == .forcedClosed)
    }

    @Test func transitionsAreReported() throws {
        let clock = ManualClock()
        let seen = Mutex<[String]>([])
        let breakers = CircuitBreakers(Self.policy, clock: clock) { breaker, transition in
            // The lock is free: the state can be read.
            seen.withLock { $0.append("\(breaker.name) \(transition.to.rawValue) \(breaker.state.rawValue)") }
        }
        let breaker = breakers.breaker(for: "https://a.test")
        try Self.fail(breaker)
        clock.advance(by: .seconds(5))
        for _ in 0..<7 { try breaker.permit().release(.success) }
        breaker.force(.disabled)
        breaker.force(.disabled)
        breaker.release()
        #expect(
            seen.withLock(\.self)
                == ["open open", "halfOpen halfOpen", "closed closed", "disabled disabled", "closed closed"]
                .map { "https://a.test \($0)" })
    }

    /// A breaker that an operator has set outlives any number of other names, until the operator releases it.
    @Test(arguments: BreakerOverride.allCases) func anOverriddenBreakerIsKept(override: BreakerOverride) {
        let breakers = CircuitBreakers(Self.policy, capacity: 16, clock: ManualClock())
        let forced = breakers.breaker(for: "a")
        forced.force(override)
        for number in 0..<500 { _ = breakers.breaker(for: "\(number)") }
        #expect(breakers.breaker(for: "a") === forced && breakers.all.count <= 17)
        #expect(breakers.all.count { $0 === forced } == 1 && breakers.hasOverridden)
        forced.release()
        #expect(breakers.breaker(for: "a") === forced && forced.state == .closed)
        for number in 0..<500 { _ = breakers.breaker(for: "\(number)") }
        #expect(breakers.breaker(for: "a") !== forced && breakers.all.count <= 16 && !breakers.hasOverridden)
    }

    /// The count of breakers that an operator has set is that of the breakers that exist.
    @Test func overridesAreCounted() {
        let breakers = CircuitBreakers(Self.policy, capacity: 1, clock: ManualClock())
        for override in BreakerOverride.allCases { breakers.breaker(for: "a").force(override) }
        #expect(breakers.hasOverridden)
        breakers.breaker(for: "a").release()
        breakers.breaker(for: "a").release()
        #expect(!breakers.hasOverridden)
        // More than are kept: those that nobody has any more do not count.
        for name in ["a", "b", "c"] { breakers.breaker(for: name).force(.open) }
        for breaker in breakers.all { breaker.release() }
        for name in ["d", "e"] { _ = breakers.breaker(for: name) }
        #expect(!breakers.hasOverridden)
    }

    @Test func overriddenBreakersAreBounded() {
        let breakers = CircuitBreakers(Self.policy, capacity: 4, clock: ManualClock())
        for number in 0..<100 { breakers.breaker(for: "\(number)").force(.open) }
        #expect(breakers.all.count <= 8)
        // Those that were released make room for others.
        for breaker in breakers.all { breaker.release() }
        let forced = breakers.breaker(for: "last")
        forced.force(.open)
        for number in 0..<100 { _ = breakers.breaker(for: "\(number)") }
        #expect(breakers.breaker(for: "last") === forced && breakers.all.count <= 8)
    }

    @Test func eachNameHasItsOwn() throws {
        let clock = ManualClock()
        let breakers = CircuitBreakers(Self.policy, capacity: 16, clock: clock)
        try Self.fail(breakers.breaker(for: "a"))
        #expect(breakers.breaker(for: "a").state == .open)
        #expect(breakers.breaker(for: "b").state == .closed)
        #expect(breakers.breaker(for: "a").policy == Self.policy)
        for number in 0..<500 {
            _ = breakers.breaker(for: "\(number)")
            #expect(breakers.breaker(for: "a").state == .open)
        }
        #expect(breakers.all.count <= 16)
    }
}
