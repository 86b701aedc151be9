import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct RateStateMachineTests {
    private func machine(
        _ permits: Int = 10, burst: Int = 1, pause: Duration = .seconds(300), keys: Int = 100, dryRun: Bool = false
    ) -> RateStateMachine {
        RateStateMachine(
            .init(
                rate: .init(permits, per: .seconds(1)), burst: burst, longestPause: pause, keyCapacity: keys,
                isDryRun: dryRun))
    }

    /// The delay in milliseconds, or the refusal with its `retryAfter`.
    private func ask(
        _ machine: inout RateStateMachine, _ count: Int = 1, at now: Int, wait: Int = 10_000, key: String = "k"
    ) -> String {
        let now = Duration.milliseconds(now)
        switch machine.permitsRequested(count, of: key, deadline: now + .milliseconds(wait), now: now) {
        case .granted(let reservation): return "\(reservation.time - now)"
        case .refused(let reason, let after): return "\(reason) \(after.map { "\($0)" } ?? "-")"
        }
    }

    @Test func permitsAreSpread() {
        var subject = machine()
        #expect(
            (0..<4).map { _ in ask(&subject, at: 0) } == ["0.0 seconds", "0.1 seconds", "0.2 seconds", "0.3 seconds"])
        #expect(ask(&subject, at: 0, wait: 399) == "rateExceeded 0.4 seconds")
        #expect(ask(&subject, at: 0, wait: 400) == "0.4 seconds")
        #expect(ask(&subject, at: 450) == "0.05 seconds")
        #expect(ask(&subject, at: 600) == "0.0 seconds")
        #expect(ask(&subject, at: 650, wait: 0) == "rateExceeded 0.05 seconds")
        #expect(subject.counts.granted == 7 && subject.counts.delayed == 5 && subject.counts.refused == 2)
    }

    @Test func aBurst() {
        var subject = machine(burst: 3)
        #expect(subject.available(of: "k", now: .zero) == 3)
        for _ in 0..<3 { #expect(ask(&subject, at: 0) == "0.0 seconds") }
        #expect(subject.available(of: "k", now: .zero) == 0)
        #expect(ask(&subject, at: 0) == "0.1 seconds")
        #expect(subject.available(of: "k", now: .milliseconds(199)) == 0)
        #expect(subject.available(of: "k", now: .milliseconds(200)) == 1)
        #expect(subject.available(of: "k", now: .milliseconds(400)) == 3)
        #expect(subject.available(of: "k", now: .seconds(9)) == 3)
        #expect(ask(&subject, 3, at: 9000) == "0.0 seconds")
        #expect(ask(&subject, 2, at: 9000) == "0.2 seconds")
        #expect(ask(&subject, 4, at: 60_000) == "rateExceeded -")
        // No permits: whether one is usable.
        #expect(ask(&subject, 0, at: 9000) == "0.2 seconds")
        #expect(ask(&subject, -5, at: 60_000) == "0.0 seconds")
        #expect(subject.available(of: "k", now: .seconds(60)) == 3)
    }

    @Test func keysAreApart() {
        var subject = machine()
        #expect(ask(&subject, at: 0, key: "a") == "0.0 seconds")
        #expect(ask(&subject, at: 0, key: "b") == "0.0 seconds")
        #expect(ask(&subject, at: 0, key: "a") == "0.1 seconds")
    }

    @Test func aReservationGivenBack() {
        var subject = machine()
        func reserve() -> RateStateMachine.Reservation? {
            if case .granted(let reservation) = subject.permitsRequested(
                1, of: "k", deadline: .seconds(9), now: .zero)
            {
                reservation
            } else {
                nil
            }
        }
        let all = (0..<4).compactMap { _ in reserve() }
        #expect(all.map(\.time) == [0, 100, 200, 300].map { .milliseconds($0) })
        // Later ones were counted on its permit.
        subject.reservationCancelled(all[1], now: .zero)
        #expect(subject.state(of: "k") == .flowing(fullAt: .milliseconds(400)))
        subject.reservationCancelled(all[3], now: .zero)
        #expect(subject.state(of: "k") == .flowing(fullAt: .milliseconds(300)))
        // A reservation whose time has come is used up.
        subject.reservationCancelled(all[2], now: .milliseconds(200))
        #expect(subject.state(of: "k") == .flowing(fullAt: .milliseconds(300)))
        subject.reservationCancelled(all[2], now: .milliseconds(199))
        #expect(subject.state(of: "k") == .flowing(fullAt: .milliseconds(200)))
        subject.reservationCancelled(
            .init(key: "unknown", count: 1, time: .seconds(1), fullAt: .seconds(1)), now: .zero)
        #expect(subject.keyCount == 1)
    }

    @Test func aPause() {
        var subject = machine(burst: 2)
        subject.serverAnswered(.seconds(2), of: "k", now: .zero)
        #expect(subject.pauseEnd(of: "k", now: .milliseconds(1999)) == .seconds(2))
        #expect(subject.pauseEnd(of: "k", now: .seconds(2)) == nil)
        #expect(subject.available(of: "k", now: .seconds(1)) == 0)
        #expect(ask(&subject, at: 0, wait: 1000) == "pausedByServer 2.0 seconds")
        // After the pause the rate applies from a full bucket.
        #expect(
            (0..<4).map { _ in ask(&subject, at: 1000) } == [
                "1.0 seconds", "1.0 seconds", "1.1 seconds", "1.2 seconds",
            ])
        // A shorter pause changes nothing; none is none.
        subject.serverAnswered(.milliseconds(100), of: "k", now: .zero)
        #expect(subject.pauseEnd(of: "k", now: .zero) == .seconds(2))
        subject.serverAnswered(.zero, of: "new", now: .zero)
        subject.serverAnswered(.seconds(-9), of: "new", now: .zero)
        #expect(subject.state(of: "new") == nil)
        subject.pauseEnded(of: "k")
        subject.pauseEnded(of: "unknown")
        #expect(subject.pauseEnd(of: "k", now: .zero) == nil)
        // A server asks for a year.
        subject.serverAnswered(.seconds(31_536_000), of: "k", now: .zero)
        #expect(subject.pauseEnd(of: "k", now: .zero) == .seconds(300))
        #expect(subject.counts.pauses == 3)
    }

    @Test func pausesWithoutARate() {
        var subject = RateStateMachine(.init(rate: nil))
        #expect(subject.available(of: "k", now: .zero) == .max)
        for _ in 0..<3 { #expect(ask(&subject, 1000, at: 0) == "0.0 seconds") }
        #expect(subject.keyCount == 0)
        subject.serverAnswered(.seconds(5), of: "k", now: .zero)
        #expect(ask(&subject, at: 1000) == "4.0 seconds")
        #expect(ask(&subject, at: 5000) == "0.0 seconds")
    }

    @Test func aDryRun() {
        var subject = machine(dryRun: true)
        #expect(ask(&subject, at: 0) == "0.0 seconds")
        #expect(ask(&subject, at: 0) == "0.0 seconds")
        #expect(ask(&subject, at: 0, wait: 0) == "0.0 seconds")
        #expect(ask(&subject, 5, at: 0) == "0.0 seconds")
        let counts = subject.counts
        #expect(counts.wouldDelay == 1 && counts.wouldRefuse == 2 && counts.granted == 4)
        #expect(counts.refused == 0 && counts.delayed == 0)
        #expect(subject.state(of: "k") == .flowing(fullAt: .milliseconds(100)))
    }

    @Test func manyKeys() {
        var subject = machine(keys: 8)
        for index in 0..<8 { _ = ask(&subject, at: index, key: "\(index)") }
        #expect(subject.keyCount == 8)
        _ = ask(&subject, at: 10, key: "new")
        #expect(subject.keyCount == 8 && subject.state(of: "0") == nil && subject.state(of: "1") != nil)
        // Full buckets go all at once.
        _ = ask(&subject, at: 9000, key: "later")
        #expect(subject.keyCount == 1)
    }

    @Test func settingsAreClamped() {
        #expect(RateLimit.Rate(.min, per: .seconds(-1)) == RateLimit.Rate(1, per: .microseconds(1)))
        #expect(RateLimit.Rate(.max, per: .zero).period == .seconds(1000))
        let least = RateLimit.Settings(
            rate: nil, burst: .min, longestWait: .seconds(-1), longestPause: .seconds(Int64.min), keyCapacity: .min)
        #expect(least == .init(rate: nil, burst: 1, longestWait: .zero, longestPause: .zero, keyCapacity: 1))
        var slow = RateStateMachine(
            .init(
                rate: .init(1, per: .seconds(Int64.max)), burst: .max, longestWait: .seconds(Int64.max),
                keyCapacity: .max))
        for now in [Duration.zero, .seconds(Int64.max), .seconds(Int64.min), .nanoseconds(1)] {
            _ = slow.permitsRequested(.max, of: "k", deadline: .seconds(Int64.max), now: now)
            _ = slow.permitsRequested(1_000_000, of: "k", deadline: .seconds(Int64.max), now: now)
            slow.serverAnswered(.seconds(Int64.max), of: "k", now: now)
            _ = slow.available(of: "k", now: now)
        }
    }

    /// In no span of time are more permits usable than the burst and the rate allow; without waiting the answers are
    /// those of a token bucket.
    @Test(arguments: 0..<10)
    func randomWalks(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let burst = Int.random(in: 1...5, using: &random)
        var subject = machine(10, burst: burst)
        // In tenths of a permit: one permit is 100 ms.
        var tokens = burst * 100
        var now = 0
        var waits = seed % 2 == 0
        if seed < 2 { waits = true }
        var used: [Int] = []
        for _ in 0..<2000 {
            let step = Int.random(in: 0...150, using: &random)
            now += step
            tokens = min(burst * 100, tokens + step)
            let count = Int.random(in: 1...burst, using: &random)
            let time = Duration.milliseconds(now)
            let deadline = waits ? time + .milliseconds(Int.random(in: 0...500, using: &random)) : time
            switch subject.permitsRequested(count, of: "k", deadline: deadline, now: time) {
            case .granted(let reservation):
                #expect(reservation.time <= deadline)
                if !waits {
                    #expect(tokens >= count * 100)
                    tokens -= count * 100
                }
                let at = Int(reservation.time.inSeconds * 1000 + 0.5)
                used += Array(repeating: at, count: count)
            case .refused(let reason, let after):
                #expect(reason == .rateExceeded && (after ?? .zero) > deadline - time)
                if !waits { #expect(tokens < count * 100) }
            }
        }
        #expect(used == used.sorted())
        for index in used.indices.dropFirst(burst) {
            // The permit `burst` places before must be at least one interval older.
            #expect(used[index] - used[index - burst] >= 100)
        }
    }
}
