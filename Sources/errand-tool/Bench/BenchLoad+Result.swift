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
        let text: String
        let exit: ExitStatus

        init(_ error: ToolError) {
            text = error.message
            exit = error.status
        }

        /// What was cancelled because the run was over.
        static let unanswered = ErrorNote(ToolError(.timeout, "there was no answer when the run was over"))
    }

    struct Result: Sendable {
        /// All that ended, those without an answer included.
        var requests: UInt64 = 0
        var errors: UInt64 = 0
        var bytes: UInt64 = 0
        /// By status code; an array, because a dictionary would show up in the figures.
        var status = [UInt64](repeating: 0, count: 1000)
        /// Of answered requests alone: a refused connection is quick, and no answer.
        var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var firstError: ErrorNote?

        var answered: UInt64 { requests - errors }
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
}
