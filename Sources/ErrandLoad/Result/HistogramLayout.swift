/// The buckets of an HdrHistogram of three significant digits whose smallest step is 1: 2,048 of width 1, then 1,024 of
/// each width of a power of two.
enum HistogramLayout {
    /// The buckets of all values below 2^63.
    static let count = 54 << 10
    /// The largest value that has a bucket.
    static let maximum: UInt64 = (1 << 63) - 1

    /// The bucket of a value, which is at most ``maximum``.
    static func index(of value: UInt64) -> Int {
        let magnitude = 53 - (value | 2047).leadingZeroBitCount
        return (magnitude << 10) + Int(value >> UInt64(magnitude))
    }

    /// The smallest value of a bucket.
    static func lowest(at index: Int) -> UInt64 {
        let magnitude = max(0, (index >> 10) - 1)
        return UInt64(index - (magnitude << 10)) << UInt64(magnitude)
    }

    /// The largest value of a bucket.
    static func highest(at index: Int) -> UInt64 {
        lowest(at: index) + (1 << UInt64(max(0, (index >> 10) - 1))) - 1
    }

    /// The middle of the bucket of a value, which stands for all values in it.
    static func middle(of value: UInt64) -> Double {
        let index = index(of: value)
        return Double(lowest(at: index) + (highest(at: index) - lowest(at: index) + 1) / 2)
    }

    /// The largest value of the buckets that a histogram with this largest value has.
    static func highestTrackable(_ value: UInt64) -> UInt64 {
        UInt64.max >> UInt64(max(1, (value | 2047).leadingZeroBitCount))
    }
}
