import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct HedgeTrackerTests {
    @Test func thereIsNoHedgeWithoutSamples() {
        let clock = ManualClock()
        let tracker = HedgeTracker(HedgePolicy(delay: .percentile(0.9, initial: nil), minimumSamples: 10), clock: clock)
        #expect(tracker.delay == nil)
        for _ in 0..<10 { tracker.record(.success, age: .milliseconds(20)) }
        let delay = tracker.delay ?? .zero
        #expect(delay >= .milliseconds(20) && delay <= .milliseconds(22))
        #expect(tracker.percentile(1) == delay)
        clock.advance(by: .seconds(70))
        #expect(tracker.delay == nil)
    }

    @Test func delaysOfPolicies() {
        let fixed = HedgeTracker(HedgePolicy(delay: .fixed(.milliseconds(30))), clock: ManualClock())
        #expect(fixed.delay == .milliseconds(30))
        let clock = ManualClock()
        let initial = HedgeTracker(
            HedgePolicy(delay: .percentile(0.9, initial: .milliseconds(5)), minimumSamples: 1), clock: clock)
        #expect(initial.delay == .milliseconds(5))
        // The shortest delay is one millisecond.
        initial.record(.success, age: .microseconds(10))
        // A delay is computed anew after a second.
        #expect(initial.delay == .milliseconds(5))
        clock.advance(by: .seconds(1))
        #expect(initial.delay == .milliseconds(1))
    }

    @Test func hedgesHaveABudgetOfTheirOwn() {
        let tracker = HedgeTracker(clock: ManualClock())
        let shared = RetryBudget(clock: ManualClock())
        let view = shared.withdrawOnly.limited(by: tracker.budget)
        #expect(!view.withdraw())
        for _ in 0..<20 { tracker.budget.deposit() }
        #expect(view.withdraw())
        #expect(!view.withdraw())
        #expect(shared.counts.withdrawals == 1 && shared.counts.refusals == 0)
    }

    @Test func eachHostHasItsOwn() {
        let trackers = HedgeTrackers(capacity: 4, clock: ManualClock())
        let first = trackers.tracker(for: "a.test")
        #expect(trackers.tracker(for: "A.test") === first && trackers.tracker(for: "b.test") !== first)
        for number in 0..<100 {
            _ = trackers.tracker(for: "\(number)")
            #expect(trackers.tracker(for: "a.test") === first && trackers.count <= 4)
        }
    }

    /// With the 95th percentile at most about one call in twenty is slow enough for a hedge.
    @Test(arguments: 0..<5 as Range<UInt64>)
    func thePercentileBoundsTheExtraLoad(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let tracker = HedgeTracker(clock: clock)
        var hedged = 0
        for call in 0..<10_000 {
            clock.advance(by: .milliseconds(5))
            let scale = Int.random(in: 0..<10, using: &random) == 0 ? 1000 : 100
            let latency = Duration.microseconds(Int.random(in: 1000...20_000, using: &random) * scale / 100)
            if call >= 1000, let delay = tracker.delay, latency > delay { hedged += 1 }
            tracker.record(.success, age: latency)
        }
        #expect((250...500).contains(hedged))
    }
}
