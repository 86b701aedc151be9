/// The errors of a sample. The errors of neighbouring requests usually have one cause, such as a server that restarts,
/// so a thousand errors may be a single event.
extension LoadSample {
    /// The most bursts that are reported.
    private static let mostBursts = 6

    /// The requests and errors of some time.
    private struct Tally {
        var errors: Double
        var requests: Double

        static func - (left: Tally, right: Tally) -> Tally {
            Tally(errors: max(0, left.errors - right.errors), requests: max(0, left.requests - right.requests))
        }

        func value(deviations: Double) -> LoadComparison.Value? {
            guard requests > 0 else { return nil }
            let share = errors / requests
            let (low, high) = LoadSample.wilson(share, of: requests, deviations: deviations)
            return LoadComparison.Value(value: share, low: low, high: high)
        }
    }

    private var all: Tally {
        Tally(errors: Double(statistics.errorCount), requests: Double(statistics.counts.due))
    }

    /// The share of errors. `isClustered`: the confidence interval is computed from the parts, so it takes into account
    /// that errors come together; otherwise it is that of requests that fail independently of each other.
    func errorShare(deviations: Double, isClustered: Bool) -> LoadComparison.Value? {
        guard statistics.counts.due > 0 else { return nil }
        let share = all.errors / all.requests
        let count = all.requests / (isClustered ? clustering : 1)
        let (low, high) = Self.wilson(share, of: count, deviations: deviations)
        return LoadComparison.Value(value: share, low: low, high: high)
    }

    /// The variance of the errors of parts, divided by that of independent errors (the design effect of Kish); at
    /// least 1. The variance is that of a ratio (Cochran, "Sampling Techniques", 1977, section 6.3).
    private var clustering: Double {
        let count = partCount(for: .errors)
        guard count >= Self.fewestParts else { return 1 }
        var parts = Array(repeating: Tally(errors: 0, requests: 0), count: count)
        for interval in statistics.intervals {
            guard let place = part(of: interval, of: count, .errors) else { continue }
            parts[place].errors += Double(interval.errors)
            parts[place].requests += Double(interval.counts.due)
        }
        let errors = parts.reduce(0) { $0 + $1.errors }
        let requests = parts.reduce(0) { $0 + $1.requests }
        guard errors > 0, errors < requests else { return 1 }
        let share = errors / requests
        let squares = parts.reduce(0) { sum, part in
            let deviation = part.errors - share * part.requests
            return sum + deviation * deviation
        }
        let variance = squares * Double(count) / Double(count - 1)
        return max(1, variance / (requests * share * (1 - share)))
    }

    /// The bursts without which this run would have no more errors than `other`, in the order of time; at most six, each no
    /// longer than a part. Empty: there are no such bursts, or the other run has one that is half as large, too.
    func bursts(beside other: LoadSample, deviations: Double) -> [LoadComparison.Burst] {
        guard let usual = other.all.value(deviations: deviations), intervalCount > 0 else { return [] }
        let longest = max(1, (intervalCount + Self.mostParts - 1) / Self.mostParts)
        var tallies: [Int: Tally] = [:]
        for interval in statistics.intervals {
            tallies[interval.index] = Tally(errors: Double(interval.errors), requests: Double(interval.counts.due))
        }
        var rest = all
        var found: [Range<Int>] = []
        var parts: [Int: Tally] = tallies
        while let value = rest.value(deviations: deviations), value.low > usual.high {
            guard found.count < Self.mostBursts, let window = Self.window(parts, longest: longest) else { return [] }
            let tally = window.compactMap { parts.removeValue(forKey: $0) }
                .reduce(Tally(errors: 0, requests: 0)) {
                    Tally(errors: $0.errors + $1.errors, requests: $0.requests + $1.requests)
                }
            guard tally.errors > 2 * other.mostErrors(within: window.count) else { return [] }
            rest = rest - tally
            found.append(window)
        }
        return Self.joined(found).map { range in
            let tally = range.compactMap { tallies[$0] }
            return LoadComparison.Burst(
                start: interval * range.lowerBound, duration: interval * range.count,
                errors: UInt64(tally.reduce(0) { $0 + $1.errors }),
                requests: UInt64(tally.reduce(0) { $0 + $1.requests }))
        }
    }

    /// The interval with the most errors, with neighbours that have a tenth of them at least; `nil`: there are no errors.
    private static func window(_ parts: [Int: Tally], longest: Int) -> Range<Int>? {
        let peak = parts.max { ($0.value.errors, $1.key) < ($1.value.errors, $0.key) }
        guard let peak, peak.value.errors > 0 else { return nil }
        func errors(_ index: Int) -> Double {
            let errors = parts[index]?.errors ?? 0
            return errors * 10 >= peak.value.errors ? errors : 0
        }
        var window = peak.key..<peak.key + 1
        while window.count < longest {
            let (before, after) = (errors(window.lowerBound - 1), errors(window.upperBound))
            guard before > 0 || after > 0 else { break }
            window =
                before > after
                ? window.lowerBound - 1..<window.upperBound : window.lowerBound..<window.upperBound + 1
        }
        return window
    }

    /// The windows in the order of time, with those that touch each other as one.
    private static func joined(_ windows: [Range<Int>]) -> [Range<Int>] {
        var joined: [Range<Int>] = []
        for window in windows.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, last.upperBound == window.lowerBound {
                joined[joined.count - 1] = last.lowerBound..<window.upperBound
            } else {
                joined.append(window)
            }
        }
        return joined
    }

    /// The most errors in `length` successive intervals.
    private func mostErrors(within length: Int) -> Double {
        var sums: [Int: Double] = [:]
        for interval in statistics.intervals where interval.errors > 0 {
            for start in interval.index - length + 1...interval.index {
                sums[start, default: 0] += Double(interval.errors)
            }
        }
        return sums.values.max() ?? 0
    }
}

extension LoadInterval {
    /// The requests that count as errors.
    fileprivate var errors: UInt64 { counts.unanswered + rejected }
}
