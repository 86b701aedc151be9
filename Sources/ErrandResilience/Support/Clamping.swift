// Numbers from outside, made safe: no setting, header field or clock makes a part trap or hang.

extension Duration {
    /// This duration as a wait: not negative, and at most about 68 years, so that sums do not overflow.
    var clampedWait: Duration { Swift.min(Swift.max(self, .zero), .longestSleep) }

    /// This reading of a monotonic clock within bounds that leave room for additions: about 35 billion years.
    var clampedTime: Duration { Swift.min(Swift.max(self, .seconds(-1 << 60)), .seconds(1 << 60)) }

    /// The reading of a monotonic clock after a wait, both clamped.
    func clampedTime(plus wait: Duration) -> Duration { (clampedTime + wait.clampedWait).clampedTime }

    /// This duration in seconds.
    var inSeconds: Double { self / .seconds(1) }
}

extension Double {
    /// This number within a range; NaN is `otherwise`.
    func clamped(_ range: ClosedRange<Double>, nan otherwise: Double) -> Double {
        isNaN ? otherwise : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }

    /// This random number, or share, within 0...1; NaN is 1, which is the longest wait.
    var clampedShare: Double { clamped(0...1, nan: 1) }
}

extension BinaryInteger {
    /// This number within a range.
    func clamped(_ range: ClosedRange<Self>) -> Self { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
