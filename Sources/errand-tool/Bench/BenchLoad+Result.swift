import Histogram

extension BenchLoad {
    struct Outcome: Sendable {
        /// `nil`: there was no complete response.
        var status: Int?
        var bytes: UInt64 = 0
        var error: ErrorNote?
    }

    /// The error of a failed request; only that of the first failure is kept.
    struct ErrorNote: Sendable {
        /// How the time of a failed request counts as time spent waiting for a response.
        enum Wait: Sendable {
            /// The time does not count: a refused connection fails quickly and is no response.
            case none
            /// The time until the failure counts: a timeout, or the end of the run.
            case toItsEnd
            /// The time until the end of the run counts: the request could not be sent.
            case toTheRunsEnd
        }

        let text: String
        let exit: ExitStatus
        let wait: Wait

        init(_ error: ToolError, wait: Wait = .none) {
            text = error.message
            exit = error.status
            self.wait = error.status == .timeout ? .toItsEnd : wait
        }

        /// The failure of a request that was cancelled because the run had ended.
        static let unanswered = ErrorNote(ToolError(.timeout, "the request had no response at the end of the run"))
    }

    struct Result: Sendable {
        /// All requests that were sent and have ended, including those without a response.
        var requests: UInt64 = 0
        var errors: UInt64 = 0
        /// The part of `errors` that had no response when the run was over.
        var unanswered: UInt64 = 0
        /// The part of `errors` that the engine refused because its queue was full.
        var refused: UInt64 = 0
        /// Open loop only: requests that were due before the end of the run, but were not sent by the generator in
        /// time.
        var neverSent: UInt64 = 0
        var bytes: UInt64 = 0
        /// Counts by status code. This is an array, because the cost of a dictionary would show in the results.
        var status = [UInt64](repeating: 0, count: 1000)
        /// The latency of requests with a response, and the time that requests without one waited.
        var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var firstError: ErrorNote?
        /// Intended send times of requests whose wait counts until the end of the run, rounded down to steps of
        /// ``waitStep``.
        private(set) var waiting: [UInt64: UInt64] = [:]

        var answered: UInt64 { requests - errors }
        /// The mean latency in nanoseconds. HdrHistogram's iterators sum the values, and trap if the sum is more than
        /// 584 years.
        var meanLatency: Double {
            guard latency.totalCount > 0 else { return 0 }
            var sum = 0.0
            var value: UInt64 = 0
            while value <= latency.maxRecorded {
                let count = latency.countForValue(value)
                if count > 0 { sum += Double(latency.medianEquivalentForValue(value)) * Double(count) }
                value = latency.nextNonEquivalentForValue(value)
            }
            return sum / Double(latency.totalCount)
        }
        /// The requests with a status below 400.
        var succeeded: UInt64 { status.prefix(400).reduce(0, +) }
        /// The number of requests with a latency.
        var timed: UInt64 { UInt64(latency.totalCount) }
        /// In nanoseconds.
        func latency(at percentile: Double) -> UInt64 { latency.valueAtPercentile(percentile) }
        /// The number of requests that were due: answered + errors + never sent.
        var due: UInt64 { requests + neverSent }
    }
}

extension BenchLoad.Result {
    mutating func count(_ outcome: BenchLoad.Outcome, nanoseconds: UInt64) {
        requests += 1
        bytes += outcome.bytes
        if let code = outcome.status, status.indices.contains(code) {
            status[code] += 1
            latency.record(nanoseconds)
        } else {
            errors += 1
            if firstError == nil { firstError = outcome.error }
        }
    }

    /// Counts a failure, with the time that the request waited.
    mutating func count(_ error: BenchLoad.ErrorNote, intendedAt time: UInt64, now: UInt64) {
        count(BenchLoad.Outcome(error: error), nanoseconds: 0)
        switch error.wait {
        case .none: break
        case .toItsEnd: latency.record(now > time ? now - time : 0)
        case .toTheRunsEnd:
            refused += 1
            wait(from: time)
        }
    }

    /// The step of the intended send times that are kept until the end of the run: 10 ms. The times are rounded down,
    /// so that a reported wait is never shorter than the real one.
    private static var waitStep: UInt64 { 10_000_000 }

    private mutating func wait(from time: UInt64) {
        waiting[time / Self.waitStep, default: 0] += 1
    }

    /// Counts the requests of a schedule from number `sent` up to `due` that were never sent.
    mutating func countNeverSent(_ sent: UInt64, upTo due: UInt64, from start: UInt64, rate: Double) {
        guard due > sent else { return }
        neverSent += due - sent
        var number = sent
        while number < due {
            // All requests in the same step are counted at once, because there may be many millions.
            let step = (start + UInt64(Double(number) * 1e9 / rate)) / Self.waitStep
            let next = Double((step + 1) * Self.waitStep - min(start, (step + 1) * Self.waitStep)) * rate / 1e9
            let end = min(due, max(number + 1, UInt64(next.rounded(.up))))
            waiting[step, default: 0] += end - number
            number = end
        }
    }

    /// Counts, at the end of the run, the waits of requests that could not be sent.
    mutating func endWaiting(at end: UInt64) {
        for (step, count) in waiting {
            let time = step * Self.waitStep
            latency.record(end > time ? end - time : 0, count: count)
        }
        waiting = [:]
    }
}
