extension Duration {
    /// This duration as a wait: not negative, and at most about 68 years, so that sums do not overflow.
    var clampedWait: Duration { Swift.min(Swift.max(self, .zero), .longestSleep) }

    /// This reading of a monotonic clock within bounds that leave room for additions: about 35 billion years.
    var clampedTime: Duration { Swift.min(Swift.max(self, .seconds(-1 << 60)), .seconds(1 << 60)) }
}

extension Double {
    /// This number within a range; NaN is `otherwise`.
    func clamped(_ range: ClosedRange<Double>, nan otherwise: Double) -> Double {
        isNaN ? otherwise : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }

    /// This random number, or share, within 0...1; NaN is 1, which is the longest wait.
    var clampedShare: Double { clamped(0...1, nan: 1) }
}

extension Int {
    /// This number within a range.
    func clamped(_ range: ClosedRange<Int>) -> Int { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
