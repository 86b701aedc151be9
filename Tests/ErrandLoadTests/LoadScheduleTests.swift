import ErrandLoad
import Testing

@Suite struct LoadScheduleTests {
    private func arrivals(
        _ schedule: LoadSchedule, _ spacing: ArrivalSpacing = .uniform, share: LoadShare = .whole, seed: UInt64 = 7
    ) -> [UInt64] {
        var cursor = ArrivalCursor(schedule, spacing: spacing, seed: seed, share: share)
        var times: [UInt64] = []
        while let due = cursor.due {
            times.append(due)
            cursor.advance()
        }
        return times
    }

    private func shares(of count: Int) -> [LoadShare] {
        (1...count).compactMap { LoadShare(number: $0, of: count) }
    }

    @Test func constantRate() {
        let times = arrivals(LoadSchedule(level: 4, for: .seconds(2)))
        #expect(times == (0..<8).map { UInt64($0) * 250_000_000 })
    }

    @Test func rampIsTheInverseOfItsIntegral() {
        // 100/s more each second: arrival k is due at sqrt(2k / 10).
        let times = arrivals(LoadSchedule([LoadStage(from: 0, to: 100, for: .seconds(10))]))
        #expect(times.count == 500)
        for (number, time) in times.enumerated() {
            let expected = (2 * Double(number) / 10).squareRoot()
            #expect(abs(Double(time) / 1e9 - expected) < 1e-6)
        }
        let falling = arrivals(LoadSchedule([LoadStage(from: 100, to: 0, for: .seconds(10))]))
        #expect(falling.count == 500 && falling == falling.sorted())
    }

    @Test func stagesFollowEachOther() {
        let schedule = LoadSchedule([
            LoadStage(from: 10, to: 10, for: .seconds(1)), LoadStage(from: 50, to: 50, for: .zero),
            LoadStage(from: 0, to: 0, for: .seconds(5)), LoadStage(from: 10, to: 30, for: .seconds(1)),
        ])
        #expect(schedule.duration == seconds(7) && schedule.integral == 30)
        let times = arrivals(schedule)
        #expect(times.count == 30)
        // Nothing is due in the pause; the first arrival after it comes with the first moment of the load.
        #expect(times.filter { $0 >= seconds(1) && $0 < seconds(6) }.isEmpty)
        #expect(times[10] == seconds(6))
    }

    @Test(arguments: [ArrivalSpacing.uniform, .poisson], [1, 2, 3, 7])
    func sharesAreExactlyTheWhole(spacing: ArrivalSpacing, count: Int) {
        let schedule = LoadSchedule([
            LoadStage(from: 5, to: 80, for: .seconds(3)), LoadStage(from: 80, to: 1, for: .seconds(2)),
        ])
        let whole = arrivals(schedule, spacing)
        let parts = shares(of: count).map { arrivals(schedule, spacing, share: $0) }
        #expect(parts.flatMap { $0 }.sorted() == whole)
        for (index, part) in parts.enumerated() {
            #expect(part == whole.indices.filter { $0 % count == index }.map { whole[$0] })
        }
    }

    @Test func poissonArrivalsHaveTheirRate() {
        let schedule = LoadSchedule(level: 1000, for: .seconds(100))
        let times = arrivals(schedule, .poisson)
        // 100,000 in the mean, with a standard deviation of 316; the seed is fixed.
        #expect(abs(times.count - 100_000) < 1600)
        #expect(times == times.sorted() && times != arrivals(schedule, .poisson, seed: 8))
        let gaps = zip(times.dropFirst(), times).map { Double($0 - $1) / 1e6 }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(gaps.count)
        // An exponential distribution has a standard deviation equal to its mean.
        #expect(abs(variance.squareRoot() / mean - 1) < 0.05)
    }

    @Test func usersOverTime() {
        let schedule = LoadSchedule([
            LoadStage(from: 0, to: 10, for: .seconds(10)), LoadStage(from: 10, to: 4, for: .seconds(6)),
        ])
        #expect(schedule.users(at: 0) == 0 && schedule.users(at: seconds(5)) == 5)
        #expect(schedule.users(at: seconds(10)) == 10 && schedule.users(at: seconds(13)) == 7)
        #expect(schedule.users(at: seconds(16)) == 0 && schedule.mostUsers == 10)
        for users in 0...20 {
            let parts = shares(of: 3).map { $0.part(of: users) }
            #expect(parts.reduce(0, +) == users)
        }
    }

    @Test func numbersOfUsersAreApart() {
        let numbers = shares(of: 3).flatMap { share in (0..<share.part(of: 10)).map { share.number(of: $0) } }
        #expect(numbers.sorted() == Array(1...10))
    }
}
