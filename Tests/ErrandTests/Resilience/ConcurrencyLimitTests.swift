import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandResilience

@Suite struct ConcurrencyLimitTests {
    /// A task that has begun to wait: the queue has one more.
    private func waiter(
        _ limit: ConcurrencyLimit, _ priority: Priority = .normal, atMost wait: Duration? = nil
    ) async throws -> Task<ConcurrencyPermit, any Error> {
        let before = limit.counts.waited
        let task = Task { try await limit.acquire("k", priority: priority, waitingAtMost: wait) }
        try await waitUntil("a request waits") { limit.counts.waited > before }
        return task
    }

    @Test func aPermitPassesOn() async throws {
        let limit = ConcurrencyLimit(.init(limit: 1), clock: ManualClock())
        let first = try await limit.acquire("k")
        let later = try await waiter(limit)
        #expect(limit.inFlight(of: "k") == 1 && limit.waiting(of: "k") == 1)
        first.record()
        let second = try await later.value
        // The first comes back only once, whatever is called.
        first.record()
        first.recordOverload()
        first.drop()
        #expect(limit.inFlight(of: "k") == 1)
        second.drop()
        #expect(limit.inFlight(of: "k") == 0)
        #expect(limit.counts.dropped == 1)
    }

    @Test func aForgottenPermitComesBack() async throws {
        let limit = ConcurrencyLimit(.init(limit: 1), clock: ManualClock())
        do {
            let permit = try limit.acquireNow("k")
            #expect(throws: LimitRefusal(.queueFull, key: "k")) { try limit.acquireNow("k") }
            withExtendedLifetime(permit) {}
        }
        #expect(limit.inFlight(of: "k") == 0)
        #expect(limit.counts.dropped == 1)
    }

    @Test func aCancelledWaiterLeavesAtOnce() async throws {
        let limit = ConcurrencyLimit(.init(limit: 1), clock: ManualClock())
        let permit = try await limit.acquire("k")
        let later = try await waiter(limit)
        later.cancel()
        await #expect(throws: CancellationError.self) { try await later.value }
        #expect(limit.waiting(of: "k") == 0)
        permit.record()
        #expect(limit.inFlight(of: "k") == 0)
        // A task that is cancelled before it asks.
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await limit.acquire("k")
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(limit.inFlight(of: "k") == 0)
    }

    @Test(arguments: [(2, 2), (nil, 5), (60, 5)])
    func aWaitEndsAtItsDeadline(_ wait: Int?, _ seconds: Int) async throws {
        let clock = ManualClock()
        let limit = ConcurrencyLimit(.init(limit: 1, longestWait: .seconds(5)), clock: clock)
        let permit = try await limit.acquire("k")
        let later = try await waiter(limit, atMost: wait.map { .seconds($0) })
        await clock.sleepers(1)
        clock.advance(by: .seconds(seconds) - .milliseconds(1))
        #expect(limit.waiting(of: "k") == 1)
        clock.advance(by: .milliseconds(1))
        await #expect(throws: LimitRefusal(.waitExpired, key: "k")) { try await later.value }
        #expect(limit.counts.expired == 1)
        permit.drop()
    }

    /// A clock whose first sleep ends a millisecond early.
    private final class EarlyClock: Clock {
        private let inner: ManualClock
        private let count = Atomic(0)

        init(_ inner: ManualClock) { self.inner = inner }

        var sleeps: Int { count.load(ordering: .relaxed) }
        var now: ManualClock.Instant { inner.now }
        var minimumResolution: Duration { inner.minimumResolution }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            let isFirst = count.add(1, ordering: .relaxed).newValue == 1
            try await inner.sleep(until: deadline.advanced(by: isFirst ? .milliseconds(-1) : .zero))
        }
    }

    @Test func aTimerThatFiresEarlyWaitsAgain() async throws {
        let clock = ManualClock()
        let early = EarlyClock(clock)
        let limit = ConcurrencyLimit(.init(limit: 1, longestWait: .seconds(5)), clock: early)
        let permit = try await limit.acquire("k")
        let later = try await waiter(limit)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(4999))
        try await waitUntil("the timer sleeps again") { early.sleeps == 2 }
        #expect(limit.waiting(of: "k") == 1)
        clock.advance(by: .milliseconds(1))
        await #expect(throws: LimitRefusal(.waitExpired, key: "k")) { try await later.value }
        permit.drop()
    }

    @Test func noWaitIsARefusal() async throws {
        let limit = ConcurrencyLimit(.init(limit: 1), clock: ManualClock())
        let permit = try await limit.acquire("k")
        for wait in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            await #expect(throws: LimitRefusal(.waitExpired, key: "k")) {
                try await limit.acquire("k", waitingAtMost: wait)
            }
        }
        permit.drop()
    }

    @Test func aHigherPriorityDisplaces() async throws {
        let limit = ConcurrencyLimit(
            .init(limit: 1, queueCapacity: 1, longestWait: .seconds(Int64.max)), clock: ManualClock())
        let permit = try await limit.acquire("k")
        let low = try await waiter(limit, .low)
        let high = try await waiter(limit, .high)
        await #expect(throws: LimitRefusal(.displaced, key: "k")) { try await low.value }
        await #expect(throws: LimitRefusal(.queueFull, key: "k")) { try await limit.acquire("k") }
        permit.record()
        try await high.value.record()
        #expect(limit.inFlight(of: "k") == 0)
    }

    /// The latency of a recorded permit is measured by the clock.
    @Test func anAdaptiveLimitSeesTheLatency() async throws {
        let clock = ManualClock()
        let adaptive = AdaptiveLimit.Settings(
            .aimd(.init(timeout: .seconds(1))), initial: 10, bounds: 1...20, window: .milliseconds(100),
            minimumSamples: 1)
        let limit = ConcurrencyLimit(.init(adaptive: adaptive), clock: clock)
        for _ in 0..<2 {
            let permit = try limit.acquireNow("k")
            clock.advance(by: .seconds(2))
            permit.record()
        }
        #expect(limit.limit(of: "k") == 9)
        for _ in 0..<2 {
            let permit = try limit.acquireNow("k")
            clock.advance(by: .milliseconds(200))
            permit.recordOverload()
        }
        #expect(limit.limit(of: "k") == 8)
    }

    /// A request that waits for something else with its permit is not in flight, and its wait is no latency.
    @Test func aHeldPermitIsNoSample() throws {
        let clock = ManualClock()
        let adaptive = AdaptiveLimit.Settings(
            .aimd(.init(timeout: .seconds(1))), initial: 10, bounds: 1...20, window: .milliseconds(100),
            minimumSamples: 1)
        let limit = ConcurrencyLimit(.init(adaptive: adaptive), clock: clock)
        for _ in 0..<2 {
            let permit = try limit.acquireNow("k")
            permit.hold()
            clock.advance(by: .seconds(2))
            permit.begin(now: clock.now.offset)
            clock.advance(by: .milliseconds(10))
            permit.record()
        }
        #expect(limit.limit(of: "k") == 10)
        // Nine hold their places, and one is in flight: the limit is not in use.
        let held = try (0..<9).map { _ in try limit.acquireNow("k") }
        for permit in held { permit.hold() }
        for _ in 0..<2 {
            let permit = try limit.acquireNow("k")
            #expect(throws: LimitRefusal(.queueFull, key: "k")) { try limit.acquireNow("k") }
            clock.advance(by: .milliseconds(100))
            permit.record()
        }
        #expect(limit.limit(of: "k") == 10)
        for permit in held { permit.begin(now: clock.now.offset) }
        for permit in held {
            clock.advance(by: .milliseconds(20))
            permit.record()
        }
        #expect(limit.limit(of: "k") == 11 && limit.inFlight(of: "k") == 0)
        // A permit that is dropped while it is held leaves nothing behind.
        let lost = try limit.acquireNow("k")
        lost.hold()
        lost.drop()
        lost.begin(now: clock.now.offset)
        #expect(limit.inFlight(of: "k") == 0)
    }

    /// Many tasks, some cancelled: no more than the limit run, and nothing is left. The clock stands still: a wait
    /// ends with a permit or with its task's cancellation, however slow the machine is.
    @Test func aStorm() async throws {
        let limit = ConcurrencyLimit(.init(limit: 4, queueCapacity: 10_000), clock: ManualClock())
        let highest = Notes<Int>()
        let refused = Notes<any Error>()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let task = Task {
                        let permit = try await limit.acquire("k", priority: Priority.allCases[index % 3])
                        highest.add(limit.inFlight(of: "k"))
                        await Task.yield()
                        permit.record()
                    }
                    if index % 5 == 0 { task.cancel() }
                    do { try await task.value } catch { refused.add(error) }
                }
            }
        }
        #expect(highest.all.allSatisfy { $0 <= 4 })
        #expect(highest.all.count >= 400 && highest.all.count + refused.all.count == 500)
        #expect(refused.all.allSatisfy { $0 is CancellationError })
        #expect(limit.inFlight(of: "k") == 0 && limit.waiting(of: "k") == 0)
    }

    @Test func settingsAreClamped() {
        let least = ConcurrencyLimit.Settings(
            limit: .min, queueCapacity: .min, longestWait: .seconds(-1), keyCapacity: .min)
        #expect(least == .init(limit: 1, queueCapacity: 0, longestWait: .zero, keyCapacity: 1))
        let most = ConcurrencyLimit.Settings(limit: .max, queueCapacity: .max, keyCapacity: .max)
        #expect(most.limit == 1_000_000 && most.queueCapacity == 1_000_000 && most.keyCapacity == 1_000_000)
    }
}
