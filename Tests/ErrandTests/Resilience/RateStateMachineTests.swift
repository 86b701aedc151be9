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

    /// Requests that wait when a pause begins keep their order and their distances, and pay once.
    @Test func aPauseMovesThoseThatWait() {
        var subject = machine(burst: 2)
        func reserve(at now: Int) -> RateStateMachine.Reservation? {
            let now = Duration.milliseconds(now)
            let answer = subject.permitsRequested(1, of: "k", deadline: now + .seconds(10), now: now)
            if case .granted(let reservation) = answer { return reservation }
            return nil
        }
        func due(_ reservation: RateStateMachine.Reservation, at now: Int, until deadline: Int = 10_000)
            -> RateStateMachine.Due
        {
            subject.reservationDue(reservation, deadline: .milliseconds(deadline), now: .milliseconds(now))
        }
        // Two use the burst, and the others may go at 100, 200 and 300.
        let all = (0..<5).compactMap { _ in reserve(at: 0) }
        #expect(all.map(\.time) == [0, 0, 100, 200, 300].map { .milliseconds($0) })
        subject.serverAnswered(.seconds(1), of: "k", now: .milliseconds(150))
        // The time of the third has come before the pause; its task was late.
        #expect(due(all[2], at: 160) == .waits(until: .milliseconds(1150)))
        #expect(due(all[3], at: 200) == .waits(until: .milliseconds(1150)))
        #expect(due(all[4], at: 300) == .waits(until: .milliseconds(1250)))
        // A longer pause moves all of them once more, and a shorter one moves none.
        subject.serverAnswered(.seconds(1), of: "k", now: .milliseconds(350))
        subject.serverAnswered(.milliseconds(1), of: "k", now: .milliseconds(350))
        #expect(due(all[3], at: 1150) == .waits(until: .milliseconds(1350)))
        #expect(due(all[3], at: 1350) == .usable)
        #expect(due(all[4], at: 1350) == .waits(until: .milliseconds(1450)))
        // A request that comes later goes behind them.
        #expect(reserve(at: 400)?.time == .milliseconds(1550))
        #expect(subject.counts.granted == 6 && subject.counts.refused == 0)
        // A pause that ends before the first of them would go.
        var slow = RateStateMachine(.init(rate: .init(1, per: .seconds(60)), longestWait: .seconds(600)))
        for time in [0, 60] {
            let answer = slow.permitsRequested(1, of: "k", deadline: .seconds(600), now: .zero)
            guard case .granted(let reservation) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(reservation.time == .seconds(time))
        }
        slow.serverAnswered(.seconds(2), of: "k", now: .seconds(1))
        #expect(slow.state(of: "k") == .paused(until: .seconds(3), fullAt: .seconds(120)))
    }

    /// A pause, and one that becomes longer, moves requests only as far as the first of them has to go.
    @Test func aPauseMovesNobodyTooFar() throws {
        func machine(_ permits: Int, per period: Duration, burst: Int = 1) -> RateStateMachine {
            RateStateMachine(.init(rate: .init(permits, per: period), burst: burst, longestWait: .seconds(600)))
        }
        func reserve(
            _ machine: inout RateStateMachine, _ count: Int = 1
        ) throws -> RateStateMachine.Reservation {
            let answer = machine.permitsRequested(count, of: "k", deadline: .seconds(600), now: .zero)
            guard case .granted(let reservation) = answer else { throw LimitRefusal(.rateExceeded, key: "k") }
            return reservation
        }
        func due(
            _ machine: inout RateStateMachine, _ reservation: RateStateMachine.Reservation, at now: Duration
        ) -> RateStateMachine.Due {
            machine.reservationDue(reservation, deadline: .seconds(600), now: now)
        }
        // One waits, and goes after the end of both pauses.
        var slow = machine(1, per: .seconds(60))
        _ = try reserve(&slow)
        let waiting = try reserve(&slow)
        slow.serverAnswered(.seconds(2), of: "k", now: .seconds(1))
        slow.serverAnswered(.seconds(5), of: "k", now: .seconds(2))
        #expect(slow.state(of: "k") == .paused(until: .seconds(7), fullAt: .seconds(120)))
        #expect(due(&slow, waiting, at: .seconds(60)) == .usable)
        // Nobody waits.
        var idle = machine(1, per: .seconds(10))
        _ = try reserve(&idle)
        idle.serverAnswered(.seconds(4), of: "k", now: .seconds(1))
        idle.serverAnswered(.seconds(6), of: "k", now: .seconds(2))
        #expect(idle.state(of: "k") == .paused(until: .seconds(8), fullAt: .seconds(10)))
        // The first of them has gone away.
        var left = machine(1, per: .seconds(10))
        _ = try reserve(&left)
        let second = try reserve(&left)
        let third = try reserve(&left)
        left.serverAnswered(.seconds(11), of: "k", now: .seconds(1))
        #expect(due(&left, third, at: .seconds(20)) == .waits(until: .seconds(22)))
        left.reservationCancelled(second, now: .seconds(2))
        left.serverAnswered(.seconds(13), of: "k", now: .seconds(2))
        #expect(due(&left, third, at: .seconds(20)) == .waits(until: .seconds(22)))
        // Requests for more than one permit have longer distances.
        var pairs = machine(1, per: .seconds(1), burst: 2)
        _ = try reserve(&pairs, 2)
        let pair = try reserve(&pairs, 2)
        pairs.serverAnswered(.seconds(1), of: "k", now: .milliseconds(500))
        #expect(pair.time == .seconds(2))
        #expect(due(&pairs, pair, at: .seconds(2)) == .usable)
    }

    /// A request that may not wait for the end of a pause gives its permits back.
    @Test func aPauseThatIsTooLong() {
        var subject = machine()
        _ = ask(&subject, at: 0)
        let answer = subject.permitsRequested(1, of: "k", deadline: .seconds(1), now: .zero)
        guard case .granted(let reservation) = answer else {
            Issue.record("\(answer)")
            return
        }
        subject.serverAnswered(.seconds(2), of: "k", now: .zero)
        #expect(
            subject.reservationDue(reservation, deadline: .seconds(1), now: .milliseconds(100))
                == .refused(retryAfter: .milliseconds(1900)))
        #expect(ask(&subject, at: 100) == "1.9 seconds")
        // The counts of what was granted do not fall.
        let counts = subject.counts
        #expect(counts.granted == 3 && counts.delayed == 2 && counts.refused == 1 && counts.cancelled == 0)
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

    /// What was reserved before a key was forgotten has nothing to do with the bucket that the key has then.
    @Test func aForgottenKeyBeginsAnew() {
        var subject = machine(keys: 1)
        _ = ask(&subject, at: 0)
        _ = ask(&subject, at: 0)
        subject.serverAnswered(.seconds(1), of: "k", now: .zero)
        let answer = subject.permitsRequested(1, of: "k", deadline: .seconds(9), now: .zero)
        guard case .granted(let reservation) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reservation.time == .milliseconds(1100) && reservation.moved == .milliseconds(900))
        _ = ask(&subject, at: 0, key: "other")
        #expect(subject.state(of: "k") == nil)
        #expect(ask(&subject, at: 0) == "0.0 seconds")
        #expect(ask(&subject, at: 0) == "0.1 seconds")
        subject.reservationCancelled(reservation, now: .zero)
        #expect(subject.state(of: "k") == .flowing(fullAt: .milliseconds(200)))
        // The move of the new bucket is not that of the reservation.
        subject.serverAnswered(.seconds(2), of: "k", now: .zero)
        #expect(
            subject.reservationDue(reservation, deadline: .seconds(9), now: .milliseconds(1100))
                == .waits(until: .seconds(2)))
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

    /// Pauses and cancellations at random times: nothing is used in a pause, the order of arrival stays, no span of time
    /// has more permits than the burst and the rate allow, and nobody goes later than the pauses demand.
    @Test(arguments: 0..<20)
    func randomPauses(seed: UInt64) {
        struct Waiter {
            let number: Int
            let reservation: RateStateMachine.Reservation
            let deadline: Duration
            var wakes: Duration
        }
        var random = SeededGenerator(seed: seed)
        let burst = Int.random(in: 1...4, using: &random)
        var subject = machine(10, burst: burst)
        var waiters: [Waiter] = []
        var used: [(number: Int, time: Duration)] = []
        var now = Duration.zero
        var pauseEnd = Duration.zero

        /// Those whose time comes wake, the first ones first.
        func advance(to time: Duration) {
            while let index = waiters.indices.min(by: { waiters[$0].wakes < waiters[$1].wakes }) {
                let waiter = waiters[index]
                guard waiter.wakes <= time else { break }
                now = max(now, waiter.wakes)
                switch subject.reservationDue(waiter.reservation, deadline: waiter.deadline, now: now) {
                case .usable:
                    #expect(now >= pauseEnd)
                    used.append((waiter.number, now))
                    waiters.remove(at: index)
                case .waits(let until):
                    #expect(until > now && until >= pauseEnd && until <= waiter.deadline)
                    waiters[index].wakes = until
                case .refused(let after):
                    #expect(now + after > waiter.deadline)
                    waiters.remove(at: index)
                }
            }
            now = time
        }

        /// When those who wait may go, whatever their deadlines are.
        func dues() -> [Duration] {
            var dues: [Duration] = []
            for waiter in waiters {
                let due = subject.reservationDue(waiter.reservation, deadline: .seconds(1 << 40), now: now)
                if case .waits(let until) = due { dues.append(until) } else { Issue.record("\(due)") }
            }
            return dues
        }

        for number in 0..<1500 {
            advance(to: now + .milliseconds(Int.random(in: 0...120, using: &random)))
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                let span = Duration.milliseconds(Int.random(in: 1...900, using: &random))
                let former = dues()
                subject.serverAnswered(span, of: "k", now: now)
                pauseEnd = max(pauseEnd, now + span)
                // All of them go later by the same time: that of the first one.
                let move = former.min().map { max(.zero, pauseEnd - $0) } ?? .zero
                #expect(dues() == former.map { $0 + move })
            case 1:
                guard let index = waiters.indices.randomElement(using: &random) else { break }
                subject.reservationCancelled(waiters.remove(at: index).reservation, now: now)
            default:
                let deadline = now + .milliseconds(Int.random(in: 0...3000, using: &random))
                let answer = subject.permitsRequested(1, of: "k", deadline: deadline, now: now)
                guard case .granted(let reservation) = answer else { break }
                if reservation.time > now {
                    waiters.append(
                        Waiter(number: number, reservation: reservation, deadline: deadline, wakes: reservation.time))
                } else {
                    #expect(now >= pauseEnd)
                    used.append((number, now))
                }
            }
        }
        advance(to: now + .seconds(60))
        #expect(waiters.isEmpty && used.count > 100)
        #expect(used.map(\.number) == used.map(\.number).sorted())
        for index in used.indices.dropFirst(burst) {
            #expect(used[index].time - used[index - burst].time >= .milliseconds(100))
        }
    }
}
