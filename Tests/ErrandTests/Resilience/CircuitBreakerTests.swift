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
