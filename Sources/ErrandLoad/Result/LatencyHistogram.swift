package import Histogram

/// Times in nanoseconds, in an HdrHistogram of three significant digits (an error of at most 0.1 %). Two of them are
/// merged without a further error.
public struct LatencyHistogram: Sendable, Equatable {
    package private(set) var values = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

    /// Without values.
    public init() {}

    /// Records a time `count` times. Times above 2^62 ns (146 years) are recorded as 2^62 ns.
    public mutating func record(_ nanoseconds: UInt64, count: UInt64 = 1) {
        guard count > 0 else { return }
        values.record(Swift.min(nanoseconds, 1 << 62), count: count)
    }

    /// Adds all values of another histogram.
    public mutating func add(_ other: LatencyHistogram) {
        guard other.count > 0 else { return }
        values.add(other.values)
    }

    /// Drops all values. The memory is kept, so values of the same size cost no allocation.
    package mutating func removeAll() {
        values.reset()
    }

    /// The number of values.
    public var count: UInt64 { UInt64(values.totalCount) }
    /// The smallest value in nanoseconds; 0 without values.
    public var min: UInt64 { count == 0 ? 0 : values.min }
    /// The largest value in nanoseconds; 0 without values.
    public var max: UInt64 { count == 0 ? 0 : values.max }
    /// The largest value as it was recorded; ``max`` is the highest value of its bucket.
    package var exactMax: UInt64 { values.maxRecorded }

    /// The mean in nanoseconds; 0 without values.
    public var mean: Double {
        guard count > 0 else { return 0 }
        return counts.reduce(0) { $0 + middle($1.value) * Double($1.count) } / Double(count)
    }

    /// The standard deviation in nanoseconds; 0 without values.
    public var standardDeviation: Double {
        guard count > 0 else { return 0 }
        let mean = mean
        let squares = counts.reduce(0.0) { sum, bucket in
            let deviation = middle(bucket.value) - mean
            return sum + deviation * deviation * Double(bucket.count)
        }
        return (squares / Double(count)).squareRoot()
    }

    private func middle(_ value: UInt64) -> Double { Double(values.medianEquivalentForValue(value)) }

    /// The value in nanoseconds that `percentile` percent (0 to 100) of the values do not exceed: the highest one of its
    /// bucket, as in a histogram that was read from a file. 0 without values.
    public func value(at percentile: Double) -> UInt64 {
        count == 0 || percentile.isNaN
            ? 0 : values.highestEquivalentForValue(values.valueAtPercentile(percentile))
    }

    /// The values with their counts, from the smallest. Each value is the highest one of its bucket.
    public var counts: [(value: UInt64, count: UInt64)] {
        guard count > 0 else { return [] }
        // HdrHistogram's iterators also sum the values, and trap if the sum overflows, which is at 584 years. A million
        // requests that each waited for six hours exceed that.
        if !values.max.multipliedReportingOverflow(by: count).overflow {
            return values.recordedValues().map { ($0.value, $0.count) }
        }
        var counts: [(value: UInt64, count: UInt64)] = []
        var value: UInt64 = 0
        while value <= values.maxRecorded {
            let inBucket = values.countForValue(value)
            if inBucket > 0 { counts.append((values.highestEquivalentForValue(value), inBucket)) }
            value = values.nextNonEquivalentForValue(value)
        }
        return counts
    }
}
