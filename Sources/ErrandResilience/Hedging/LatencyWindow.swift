/// The recent latencies, for percentiles: six windows that take turns.
///
/// Latencies are counted in buckets, 16 for each power of two of microseconds, so that a percentile is exact to 1/16 of
/// its value. A window takes 2 KB.
package struct LatencyWindow: Sendable {
    package static let windowCount = 6
    private static let bucketsPerPower = 16
    /// One hour: 2^32 microseconds are a little more.
    private static let longest: UInt64 = 3_600_000_000
    private static let bucketCount = bucket(longest) + 1

    private var windows: [[UInt32]]
    private var sums = [Int](repeating: 0, count: bucketCount)
    package private(set) var count = 0
    private var ring: SlotRing

    /// - Parameter span: how far back samples count.
    package init(span: Duration) {
        ring = SlotRing(window: max(span.clampedWait, .milliseconds(6)), count: Self.windowCount)
        windows = [[UInt32]](repeating: [], count: Self.windowCount)
    }

    /// An attempt has ended, or was cancelled, at this age.
    package mutating func recorded(_ age: Duration, _ sample: LatencySample, now: Duration) {
        guard sample.isCounted else { return }
        let place = advance(now)
        if windows[place].isEmpty { windows[place] = [UInt32](repeating: 0, count: Self.bucketCount) }
        let microseconds = age.clampedWait / .microseconds(1)
        let bucket = Self.bucket(UInt64(min(microseconds, Double(Self.longest))))
        guard windows[place][bucket] < .max else { return }
        windows[place][bucket] += 1
        sums[bucket] += 1
        count += 1
    }

    /// The latency that this share of the samples does not exceed; at most 1/16 too high. `nil`: there are fewer samples
    /// than `minimumSamples`.
    package mutating func percentile(_ share: Double, minimumSamples: Int = 1, now: Duration) -> Duration? {
        _ = advance(now)
        guard count >= max(minimumSamples, 1) else { return nil }
        let rank = Int((Double(count) * share.clampedShare).rounded(.up)).clamped(1...count)
        var seen = 0
        for (bucket, samples) in sums.enumerated() {
            seen += samples
            if seen >= rank { return .microseconds(Int64(Self.highest(bucket))) }
        }
        return nil
    }

    /// Empties the windows that are too old. Returns the place of the current one.
    private mutating func advance(_ now: Duration) -> Int {
        let (current, emptied) = ring.advance(to: now)
        for place in emptied {
            for (bucket, samples) in windows[place].enumerated() where samples > 0 {
                sums[bucket] -= Int(samples)
                count -= Int(samples)
            }
            windows[place] = []
        }
        return current
    }

    /// Below 16 one bucket a microsecond.
    private static func bucket(_ microseconds: UInt64) -> Int {
        guard microseconds >= 16 else { return Int(microseconds) }
        let shift = 63 - microseconds.leadingZeroBitCount - 4
        return (shift + 1) * bucketsPerPower + Int((microseconds >> UInt64(shift)) & 15)
    }

    /// The highest value of a bucket.
    private static func highest(_ bucket: Int) -> UInt64 {
        guard bucket >= bucketsPerPower else { return UInt64(bucket) }
        let shift = UInt64(bucket / bucketsPerPower - 1)
        return (UInt64(bucketsPerPower + bucket % bucketsPerPower + 1) << shift) - 1
    }
}
