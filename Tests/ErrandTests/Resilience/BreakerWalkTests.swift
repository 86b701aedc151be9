import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

/// A breaker that computes every answer from the whole history of permits.
private struct Model {
    struct Entry {
        let epoch: Int
        let issued: Duration
        let isCounted: Bool
        var released: (time: Duration, outcome: BreakerOutcome)?
        var order = 0
    }

    let policy: BreakerPolicy
    var entries: [Entry] = []
    var state = BreakerState.closed
    var epoch = 1
    var until = Duration.zero
    var opening = 0
    var releases = 0

    private func isSlow(_ entry: Entry) -> Bool {
        guard let limit = policy.slowCallDuration, let released = entry.released else { return false }
        return released.time - entry.issued >= limit
    }

    private mutating func change(_ new: BreakerState) {
        state = new
        epoch += 1
    }

    private mutating func open(_ times: Int, _ now: Duration) {
        opening = times
        until = now + policy.openTime(opening: times, random: 0)
        change(.open)
    }

    private func exceeds(_ tally: BreakerTally) -> Bool {
        let calls = Double(tally.calls)
        return tally.failures > 0 && Double(tally.failures) / calls >= policy.failureRate
            || tally.slow > 0 && Double(tally.slow) / calls >= policy.slowCallRate
    }

    private func tally(_ votes: some Sequence<Entry>) -> BreakerTally {
        votes.reduce(into: BreakerTally()) { sum, entry in
            sum.add(isFailure: entry.released?.outcome == .failure, isSlow: isSlow(entry))
        }
    }

    private mutating func judgeClosed(_ now: Duration) {
        var votes = entries.filter {
            $0.epoch == epoch && $0.isCounted && $0.released != nil && $0.released?.outcome != .ignored
        }
        votes.sort { $0.order < $1.order }
        switch policy.window {
        case .count(let count): votes = Array(votes.suffix(count))
        case .time(let time):
            func bucket(_ moment: Duration) -> Int { Int((moment / (time / 10)).rounded(.down)) }
            votes = votes.filter { $0.released.map { bucket($0.time) > bucket(now) - 10 } ?? false }
        }
        if votes.count >= policy.minimumCalls, exceeds(tally(votes)) { open(1, now) }
    }

    /// Returns the probes that hold a place.
    @discardableResult
    mutating func judgeProbes(_ now: Duration) -> Int {
        guard state == .halfOpen else { return 0 }
        var sum = BreakerTally()
        var underWay = 0
        for entry in entries where entry.epoch == epoch && entry.isCounted {
            let expiry = entry.issued + policy.permitLifetime
            if let released = entry.released, released.time < expiry {
                guard released.outcome != .ignored else { continue }
                sum.add(isFailure: released.outcome == .failure, isSlow: isSlow(entry))
            } else if expiry <= now {
                sum.add(isFailure: true, isSlow: false)
            } else {
                underWay += 1
            }
        }
        var worst = sum
        worst.calls = policy.halfOpenPermits
        if exceeds(worst) {
            open(opening + 1, now)
        } else if sum.calls >= policy.halfOpenPermits {
            change(.closed)
        }
        return underWay + sum.calls
    }

    /// Returns whether the call passes.
    mutating func ask(_ now: Duration) -> Bool {
        if state == .open, now >= until { change(.halfOpen) }
        let held = judgeProbes(now)
        let passes = state == .closed || state == .halfOpen && held < policy.halfOpenPermits
        if passes { entries.append(Entry(epoch: epoch, issued: now, isCounted: true)) }
        return passes
    }

    mutating func release(_ index: Int, _ outcome: BreakerOutcome, _ now: Duration) {
        if entries[index].epoch == epoch { judgeProbes(now) }
        guard entries[index].released == nil else { return }
        releases += 1
        entries[index].released = (now, outcome)
        entries[index].order = releases
        guard entries[index].epoch == epoch else { return }
        if state == .closed, outcome != .ignored { judgeClosed(now) } else { judgeProbes(now) }
    }
}

@Suite struct BreakerWalkTests {
    private static func policy(_ random: inout SeededGenerator) -> BreakerPolicy {
        BreakerPolicy(
            window: Bool.random(using: &random)
                ? .count(.random(in: 1...30, using: &random)) : .time(.seconds(.random(in: 1...20, using: &random))),
            failureRate: [0.25, 0.5, 0.8, 1][Int.random(in: 0..<4, using: &random)],
            slowCallRate: [0.5, 1][Int.random(in: 0..<2, using: &random)],
            slowCallDuration: Bool.random(using: &random) ? .seconds(2) : nil,
            minimumCalls: .random(in: 1...12, using: &random), openTime: .seconds(2), longestOpenTime: .seconds(20),
            jitter: 0.5, halfOpenPermits: .random(in: 1...6, using: &random),
            permitLifetime: .seconds(Int.random(in: 2...8, using: &random)))
    }

    /// The machine gives the same answers and has the same state as the model.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func randomWalks(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let policy = Self.policy(&random)
        var machine = BreakerMachine(policy)
        var model = Model(policy: policy)
        var permits: [BreakerMachine.Permit] = []
        var live: [Int] = []
        var visited: Set<BreakerState> = []
        var now = Duration.zero
        var failing = 0.5
        for step in 0..<1200 {
            now += .milliseconds(Int.random(in: 0...300, using: &random))
            if step % 50 == 0 { failing = Double.random(in: 0...1, using: &random) }
            if Bool.random(using: &random) || live.isEmpty {
                let isAllowed = model.ask(now)
                switch machine.permitWanted(now: now, random: 0).decision {
                case .allow(let permit):
                    #expect(isAllowed)
                    live.append(permits.count)
                    permits.append(permit)
                case .refuse(let refusal):
                    #expect(!isAllowed)
                    #expect(refusal.retryAfter.map { $0 >= .zero } == true)
                }
                try #require(permits.count == model.entries.count, "step \(step) of \(seed)")
            } else {
                // Now and then the same permit again, which must not count twice.
                let place = Int.random(in: 0..<live.count, using: &random)
                let index = live[place]
                if Int.random(in: 0..<20, using: &random) > 0 { live.remove(at: place) }
                let isFailure = Double.random(in: 0..<1, using: &random) < failing
                let isIgnored = Int.random(in: 0..<8, using: &random) == 0
                let outcome: BreakerOutcome = isIgnored ? .ignored : isFailure ? .failure : .success
                // The machine knows the permits of probes alone; that others are released once is the shell's task.
                if model.entries[index].released != nil, machine.name == .closed { continue }
                model.release(index, outcome, now)
                _ = machine.permitReleased(permits[index], outcome, now: now, random: 0)
            }
            visited.insert(machine.name)
            #expect(machine.name == model.state, "step \(step) of \(seed)")
        }
        #expect(machine.counts.allowed == permits.count)
        if case .count = policy.window, policy.failureRate <= 0.5 {
            #expect(visited.isSuperset(of: [.open, .halfOpen]))
        }
    }

    /// Sums of a window are those of the calls in it.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func windowsForgetExactly(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let size = Int.random(in: 1...40, using: &random)
        var counted = BreakerWindow(.count(size))
        var timed = BreakerWindow(.time(.seconds(10)))
        var history: [(second: Int, isFailure: Bool, isSlow: Bool)] = []
        var second = Int.random(in: -100...100, using: &random)
        for _ in 0..<1000 {
            second += [0, 0, 0, 0, 1, 2, 25][Int.random(in: 0..<7, using: &random)]
            let isFailure = Bool.random(using: &random)
            let isSlow = Bool.random(using: &random)
            counted.recorded(isFailure: isFailure, isSlow: isSlow, now: .seconds(second))
            timed.recorded(isFailure: isFailure, isSlow: isSlow, now: .seconds(second))
            history.append((second, isFailure, isSlow))
            let last = history.suffix(size)
            #expect(counted.sum.calls == last.count && counted.sum.failures == last.count { $0.isFailure })
            #expect(counted.sum.slow == last.count { $0.isSlow })
            let recent = history.suffix(200).filter { $0.second > second - 10 }
            #expect(timed.sum.calls == recent.count && timed.sum.failures == recent.count { $0.isFailure })
            #expect(timed.sum.slow == recent.count { $0.isSlow })
        }
    }
}
