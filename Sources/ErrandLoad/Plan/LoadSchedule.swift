/// The stages of a scenario as functions of time. Pure: times are nanoseconds since the beginning of the stages.
///
/// The k-th arrival is due when the integral of the rate reaches k. Ramps are therefore exact: a ramp from 0 to 100
/// iterations per second over 10 s has the same 500 arrivals whatever the machine does.
package struct LoadSchedule: Sendable {
    private struct Stage: Sendable {
        /// When the stage begins, and how long it lasts, in nanoseconds.
        let start: UInt64
        let duration: UInt64
        let from: Double
        let to: Double
        /// The integral of the level before the stage, in level times seconds.
        let before: Double

        var seconds: Double { Double(duration) / 1e9 }
        /// The integral over the stage.
        var integral: Double { (from + to) / 2 * seconds }

        func level(at time: UInt64) -> Double {
            from + (to - from) * Double(time - start) / Double(duration)
        }

        /// The time within the stage, in seconds, at which its integral reaches `value`.
        func time(of value: Double) -> Double {
            // from*t + slope/2*t^2 = value, in the form that loses no digits where the slope is small.
            let slope = (to - from) / seconds
            let root = max(0, from * from + 2 * slope * value).squareRoot()
            guard from + root > 0 else { return 0 }
            return min(seconds, 2 * value / (from + root))
        }
    }

    private let stages: [Stage]
    /// The duration of all stages in nanoseconds.
    package let duration: UInt64
    /// The integral of the level. For a rate it is the mean number of arrivals.
    package let integral: Double
    /// The level of the warm-up: the first one, or the first above 0.
    package let firstLevel: Double

    package init(_ stages: [LoadStage]) {
        var list: [Stage] = []
        var start: UInt64 = 0
        var integral = 0.0
        for stage in stages where stage.duration > .zero {
            let next = Stage(
                start: start, duration: stage.duration.loadNanoseconds, from: stage.from, to: stage.to,
                before: integral)
            list.append(next)
            start += next.duration
            integral += next.integral
        }
        self.stages = list
        duration = start
        self.integral = integral
        firstLevel = list.lazy.flatMap { [$0.from, $0.to] }.first { $0 > 0 } ?? 0
    }

    /// A constant level.
    package init(level: Double, for duration: Duration) {
        self.init([LoadStage(from: level, to: level, for: duration)])
    }

    /// The level at that time; 0 after the last stage. Where two stages meet, the level of the later one.
    package func level(at time: UInt64) -> Double {
        guard time < duration, let stage = stages.last(where: { $0.start <= time }) else { return 0 }
        return stage.level(at: time)
    }

    /// The number of users of the whole plan at that time, rounded to the nearest.
    package func users(at time: UInt64) -> Int { Int(level(at: time).rounded()) }

    /// The most users of the whole plan at one time.
    package var mostUsers: Int { Int((stages.flatMap { [$0.from, $0.to] }.max() ?? 0).rounded()) }

    /// The integral of the level up to that time.
    package func integral(before time: UInt64) -> Double {
        guard time < duration else { return integral }
        guard let stage = stages.last(where: { $0.start <= time }) else { return 0 }
        return stage.before + (stage.from + stage.level(at: time)) / 2 * Double(time - stage.start) / 1e9
    }

    /// When the integral reaches `value`; `nil`: the stages do not reach it.
    package func time(of value: Double) -> UInt64? {
        // 0.3 s at 100/s are 30 arrivals, whatever the last digit of the product is.
        guard value < integral * (1 - 1e-12) else { return nil }
        // The integral of the first stages of a ramp may be 0, so `<=` on the value alone is not enough.
        guard let stage = stages.last(where: { $0.before <= value && $0.integral > 0 }) else { return nil }
        let within = stage.time(of: value - stage.before) * 1e9
        return stage.start + min(stage.duration - 1, UInt64(within))
    }
}

/// The arrivals of a schedule in order, of one share. The union of all shares is exactly the whole.
package struct ArrivalCursor: Sendable {
    private let schedule: LoadSchedule
    private let spacing: ArrivalSpacing
    private let share: LoadShare
    private var random: LoadRandom
    /// The number of the present arrival in the whole plan, from 0.
    package private(set) var number: UInt64
    /// The integral at the present arrival.
    private var value: Double
    /// When the present arrival is due, in nanoseconds; `nil`: there are no more.
    package private(set) var due: UInt64?

    package init(_ schedule: LoadSchedule, spacing: ArrivalSpacing, seed: UInt64, share: LoadShare) {
        self.schedule = schedule
        self.spacing = spacing
        self.share = share
        random = LoadRandom(seed: seed)
        number = 0
        value = spacing == .poisson ? random.exponential() : 0
        due = schedule.time(of: value)
        move(by: UInt64(share.index))
    }

    /// Goes on to the next arrival of the share.
    package mutating func advance() { move(by: UInt64(share.count)) }

    /// About how many arrivals of the share, the present one included, are due before that time.
    package func estimate(before time: UInt64) -> Double {
        guard let due, due < time else { return 0 }
        return max(1, (schedule.integral(before: time) - value) / Double(share.count))
    }

    /// The same as a whole number, without drawing the arrivals. With equal distances it is exact except for rounding;
    /// for a Poisson process it is the mean.
    package func count(before time: UInt64) -> UInt64 {
        guard let due, due < time else { return 0 }
        let whole = UInt64(max(1, (schedule.integral(before: time) - value - 1e-6).rounded(.up)))
        return (whole + UInt64(share.count) - 1) / UInt64(share.count)
    }

    private mutating func move(by count: UInt64) {
        guard count > 0 else { return }
        number += count
        switch spacing {
        case .uniform: value = Double(number)
        case .poisson:
            // The arrivals of other shares are drawn as well, so that all shares draw the same arrivals.
            for _ in 0..<count { value += random.exponential() }
        }
        due = schedule.time(of: value)
    }
}

extension LoadShare {
    /// The part of `total` things that this share has, if it takes each `count`-th of them.
    package func part(of total: Int) -> Int { (total + count - 1 - index) / count }

    /// The part of a number of requests.
    package func part(of total: UInt64) -> UInt64 {
        Self.part(of: total, index: index, count: count)
    }

    static func part(of total: UInt64, index: Int, count: Int) -> UInt64 {
        // The sum is not computed first, because it may overflow.
        let rest = total % UInt64(count)
        return total / UInt64(count) + (UInt64(index) < rest ? 1 : 0)
    }

    /// The number, from 1 and over all shares, of the thing with the index `local` in this share.
    package func number(of local: Int) -> Int { local * count + index + 1 }
}
