import Histogram

extension BenchLoad {
    struct Outcome: Sendable {
        /// `nil`: there was no whole response.
        var status: Int?
        var bytes: UInt64 = 0
        var error: ErrorNote?
    }

    /// Kept for the first failure alone.
    struct ErrorNote: Sendable {
        /// Whether the time until the failure is a time that somebody waited for an answer.
        enum Wait: Sendable {
            /// A refused connection is quick, and no answer.
            case none
            /// Until the failure: a timeout, or the end of the run.
            case toItsEnd
            /// Until the end of the run: the request could not be sent.
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

        /// What was cancelled because the run was over.
        static let unanswered = ErrorNote(ToolError(.timeout, "there was no answer when the run was over"))
    }

    struct Result: Sendable {
        /// All that were sent and ended, those without an answer included.
        var requests: UInt64 = 0
        var errors: UInt64 = 0
        /// Of `errors`, those that had no answer when the run was over.
        var unanswered: UInt64 = 0
        /// Of `errors`, those that the engine's full queue refused.
        var refused: UInt64 = 0
        /// Of an open loop, those that were due before the end of the run and that the generator did not send in time.
        var neverSent: UInt64 = 0
        var bytes: UInt64 = 0
        /// By status code; an array, because a dictionary would show up in the figures.
        var status = [UInt64](repeating: 0, count: 1000)
        /// Of answered requests, and of those that waited for an answer in vain: the time that they waited.
        var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var firstError: ErrorNote?
        /// Intended times of what waits for the end of the run, by steps of ``waitStep``.
        private(set) var waiting: [UInt64: UInt64] = [:]

        var answered: UInt64 { requests - errors }
        /// Requests with a latency.
        var timed: UInt64 { UInt64(latency.totalCount) }
        /// In nanoseconds.
        func latency(at percentile: Double) -> UInt64 { latency.valueAtPercentile(percentile) }
        /// What was due: answered + errors + never sent.
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

    /// Counts a failure, by the time that it waited.
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

    /// Of the intended times that wait for the end of the run: 10 ms. They are told rounded down, so that a wait is never
    /// told shorter than it was.
    private static var waitStep: UInt64 { 10_000_000 }

    private mutating func wait(from time: UInt64) {
        waiting[time / Self.waitStep, default: 0] += 1
    }

    /// Counts the requests of a schedule from number `sent` up to `due`, which were never sent.
    mutating func countNeverSent(_ sent: UInt64, upTo due: UInt64, from start: UInt64, rate: Double) {
        guard due > sent else { return }
        neverSent += due - sent
        var number = sent
        while number < due {
            // All that share a step at once: there may be many millions.
            let step = (start + UInt64(Double(number) * 1e9 / rate)) / Self.waitStep
            let next = Double((step + 1) * Self.waitStep - min(start, (step + 1) * Self.waitStep)) * rate / 1e9
            let end = min(due, max(number + 1, UInt64(next.rounded(.up))))
            waiting[step, default: 0] += end - number
            number = end
        }
    }

    /// Counts the wait of what could not be sent, at the end of the run.
    mutating func endWaiting(at end: UInt64) {
        for (step, count) in waiting {
            let time = step * Self.waitStep
            latency.record(end > time ? end - time : 0, count: count)
        }
        waiting = [:]
    }
}
