/// The values of a ``LatencyHistogram`` with their counts, without the empty buckets: two or three bytes for each value
/// instead of many thousand for the whole histogram. A long run has one for each second and name. Times cannot be
/// recorded in this form.
public struct CompactHistogram: Sendable, Equatable {
    /// For each bucket with values, ascending: the distance from the bucket before, and the count; both as LEB128.
    private var packed: [UInt8] = []

    /// Without values.
    public init() {}

    /// The values of `histogram`.
    public init(_ histogram: LatencyHistogram) {
        self.init(histogram.counts)
    }

    /// `values` are the highest ones of their buckets, ascending, and no count is 0.
    init(values: [UInt64], counts: [UInt64]) {
        self.init(zip(values, counts).map { ($0, $1) })
    }

    private init(_ buckets: [(value: UInt64, count: UInt64)]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * buckets.count)
        var last = -1
        for (value, count) in buckets {
            let index = HistogramLayout.index(of: value)
            Self.append(UInt64(index - last), to: &bytes)
            Self.append(count, to: &bytes)
            last = index
        }
        // An array that has grown has room for twice as much.
        packed = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, filled in
            filled = buffer.initialize(fromContentsOf: bytes)
        }
    }

    /// Values in nanoseconds, ascending: the highest equivalent value of each bucket. Made anew at each call, as
    /// ``counts``.
    public var values: [UInt64] { buckets.map(\.value) }
    /// The count of each value.
    public var counts: [UInt64] { buckets.map(\.count) }

    /// The values with their counts.
    var buckets: [(value: UInt64, count: UInt64)] {
        var buckets: [(value: UInt64, count: UInt64)] = []
        var place = 0
        var index = -1
        while place < packed.count {
            index += Int(Self.number(in: packed, at: &place))
            buckets.append((HistogramLayout.highest(at: index), Self.number(in: packed, at: &place)))
        }
        return buckets
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private static func number(in bytes: [UInt8], at place: inout Int) -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
        }
        return number
    }

    /// Whether there are no values.
    public var isEmpty: Bool { packed.isEmpty }

    /// The number of recorded times.
    public var count: UInt64 { buckets.reduce(0) { $0 + $1.count } }

    /// The histogram with these values; equal to the histogram from which this form was made.
    public var histogram: LatencyHistogram {
        var histogram = LatencyHistogram()
        for (value, count) in buckets { histogram.record(value, count: count) }
        return histogram
    }

    /// Adds all values of another histogram. Exact.
    public mutating func add(_ other: CompactHistogram) {
        guard !other.isEmpty else { return }
        guard !isEmpty else { return self = other }
        let (ours, theirs) = (buckets, other.buckets)
        var sum: [(value: UInt64, count: UInt64)] = []
        sum.reserveCapacity(ours.count + theirs.count)
        var (left, right) = (0, 0)
        while left < ours.count || right < theirs.count {
            let here = left < ours.count ? ours[left].value : .max
            let there = right < theirs.count ? theirs[right].value : .max
            let value = min(here, there)
            var count: UInt64 = 0
            if left < ours.count, here == value {
                count += ours[left].count
                left += 1
            }
            if right < theirs.count, there == value {
                count += theirs[right].count
                right += 1
            }
            sum.append((value, count))
        }
        self = CompactHistogram(sum)
    }

    /// The value in nanoseconds that `percentile` percent (0 to 100) of the values do not exceed; 0 without values.
    public func value(at percentile: Double) -> UInt64 {
        let buckets = buckets
        let total = buckets.reduce(0) { $0 + $1.count }
        guard total > 0, !percentile.isNaN else { return 0 }
        // One step less, so that a product that rounding has made too large does not reach the next value.
        let below = Swift.min(Swift.max(percentile.nextDown, 0), 100)
        return Self.value(atRank: UInt64((below * Double(total) / 100).rounded(.up)), in: buckets)
    }

    /// The mean in nanoseconds, as ``LatencyHistogram/mean``; 0 without values.
    public var mean: Double {
        let buckets = buckets
        let total = buckets.reduce(0) { $0 + $1.count }
        guard total > 0 else { return 0 }
        let sum = buckets.reduce(0.0) { $0 + HistogramLayout.middle(of: $1.value) * Double($1.count) }
        return sum / Double(total)
    }

    /// The value of this rank, from 1, in ascending order; ranks out of range are those of the smallest and largest
    /// value. 0 without values.
    func value(atRank rank: UInt64) -> UInt64 { Self.value(atRank: rank, in: buckets) }

    private static func value(atRank rank: UInt64, in buckets: [(value: UInt64, count: UInt64)]) -> UInt64 {
        var reached: UInt64 = 0
        for (value, count) in buckets {
            reached += count
            if reached >= rank { return value }
        }
        return buckets.last?.value ?? 0
    }
}
