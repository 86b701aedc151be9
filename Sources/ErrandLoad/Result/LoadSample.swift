import Errand

/// The requests of one name as a statistical sample: figures of the whole, and of parts of equal length.
struct LoadSample {
    static let fewestParts = 8
    static let mostParts = 30

    let statistics: RequestStatistics
    private let latency: CompactHistogram
    private let seconds: Double
    private let intervalSeconds: Double
    let interval: Duration
    /// The number of whole intervals of the measured part.
    let intervalCount: Int
    /// Requests that were answered within the measured part.
    private let answered: UInt64
    /// Intervals up to this one belong to the last part if all requests that ended in them were answered or failed.
    /// These are the requests that were in flight at the end of the measured part.
    private let lastIndex: Int

    init(_ statistics: RequestStatistics, of result: LoadResult) {
        self.statistics = statistics
        latency = CompactHistogram(statistics.latency)
        seconds = result.duration.asSeconds
        interval = result.interval
        intervalSeconds = max(result.interval.asSeconds, 1e-9)
        // If a run ends a moment before the end of its last interval, this interval counts, too.
        intervalCount = Int(min(max((seconds / intervalSeconds + 0.1).rounded(.down), 0), 10_000_000))
        answered = result.measured(statistics).answered
        lastIndex = max(intervalCount, result.measuredIntervals)
    }

    /// The part of an interval; `nil`: it belongs to no part.
    func part(of interval: LoadInterval, of parts: Int, _ measure: LoadComparison.Measure) -> Int? {
        if interval.index < intervalCount { return interval.index * parts / intervalCount }
        guard measure != .rate, interval.index <= lastIndex else { return nil }
        let counts = interval.counts
        return counts.timedOut + counts.unfinished + counts.neverSent == 0 ? parts - 1 : nil
    }

    /// Whether so many requests lie outside the parts that they could decide the verdict on the measure: a tenth of the
    /// requests beyond a percentile, or of the errors. The test of the parts does not see these requests.
    func hasMuchBeyondParts(_ measure: LoadComparison.Measure) -> Bool {
        guard measure != .rate, intervalCount > 0 else { return false }
        var requests = 0.0
        var errors = 0.0
        for interval in statistics.intervals where part(of: interval, of: 1, measure) == nil {
            requests += Double(interval.counts.due)
            errors += Double(interval.counts.unanswered + interval.rejected)
        }
        guard let percentile = measure.percentile else { return errors > Double(statistics.errorCount) / 10 }
        return requests > Double(latency.count) * (1 - percentile / 100) / 10
    }

    /// The number of parts, each of which has enough requests for the measure.
    func partCount(for measure: LoadComparison.Measure) -> Int {
        let most = min(Self.mostParts, intervalCount)
        guard let percentile = measure.percentile else { return most }
        return min(most, Int(Double(latency.count) * (1 - percentile / 100) / 5))
    }

    /// Whether the whole run is enough for a verdict.
    func isEnough(for measure: LoadComparison.Measure) -> Bool {
        guard intervalCount >= Self.fewestParts else { return false }
        guard let percentile = measure.percentile else { return statistics.counts.due > 0 }
        return Double(latency.count) * (1 - percentile / 100) >= 10
    }

    /// The figure of the whole run; `nil`: nothing was measured. `deviations`: the width of the confidence interval, in
    /// standard deviations. `hasParts`: the parts say how much errors come together.
    func value(_ measure: LoadComparison.Measure, deviations: Double, hasParts: Bool) -> LoadComparison.Value? {
        if measure == .errors { return errorShare(deviations: deviations, isClustered: hasParts) }
        if let percentile = measure.percentile {
            guard latency.count > 0 else { return nil }
            let count = Double(latency.count)
            let share = percentile / 100
            let spread = deviations * (count * share * (1 - share)).squareRoot()
            let low = latency.value(atRank: UInt64(max(1, (count * share - spread).rounded(.down))))
            let high = latency.value(atRank: UInt64(min(count, (count * share + spread).rounded(.up) + 1)))
            return LoadComparison.Value(
                value: Double(latency.value(at: percentile)), low: Double(low), high: Double(high))
        }
        guard statistics.counts.due > 0, seconds > 0 else { return nil }
        let rate = Double(answered) / seconds
        // The interval of the mean of the parts. The count alone says nothing, because arrivals and answers depend on
        // each other.
        let rates = values(.rate, parts: partCount(for: .rate))
        let mean = rates.reduce(0, +) / Double(max(1, rates.count))
        let variance = rates.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(max(1, rates.count - 1))
        let spread = deviations * (variance / Double(max(1, rates.count))).squareRoot()
        return LoadComparison.Value(value: rate, low: max(0, rate - spread), high: rate + spread)
    }

    /// Wilson's confidence interval of a share.
    static func wilson(_ share: Double, of count: Double, deviations: Double) -> (low: Double, high: Double) {
        let square = deviations * deviations
        let middle = (share + square / (2 * count)) / (1 + square / count)
        let spread =
            deviations * (share * (1 - share) / count + square / (4 * count * count)).squareRoot()
            / (1 + square / count)
        return (max(0, middle - spread), min(1, middle + spread))
    }

    /// The figures of that many parts of equal length. A part without requests has no figure for a latency or for
    /// errors.
    func values(_ measure: LoadComparison.Measure, parts: Int) -> [Double] {
        guard parts > 0 else { return [] }
        var sums = (0..<parts).map { LoadInterval(index: $0) }
        guard intervalCount > 0 else { return [] }
        for interval in statistics.intervals {
            guard let place = part(of: interval, of: parts, measure) else { continue }
            sums[place].counts += interval.counts
            sums[place].rejected += interval.rejected
            if measure.percentile != nil { sums[place].latency.add(interval.latency) }
        }
        return sums.compactMap { part -> Double? in
            if let percentile = measure.percentile {
                return part.latency.isEmpty ? nil : Double(part.latency.value(at: percentile))
            }
            if measure == .errors {
                let due = part.counts.due
                return due == 0 ? nil : Double(part.counts.unanswered + part.rejected) / Double(due)
            }
            // Parts differ by one interval if the number of intervals is not a multiple of the number of parts.
            let first = (part.index * intervalCount + parts - 1) / parts
            let next = ((part.index + 1) * intervalCount + parts - 1) / parts
            return Double(part.counts.answered) / (Double(next - first) * intervalSeconds)
        }
    }
}
