import Histogram

/// What is counted of the measured requests.
struct LoadResult: Sendable {
    /// All that ended, failed ones included.
    private(set) var requests = 0
    private(set) var errors = 0
    private(set) var bytes = 0
    /// By status code; an array, because a dictionary would show up in the figures.
    private(set) var status = [Int](repeating: 0, count: 600)
    /// Of answered requests alone: a refused connection is quick, and no answer.
    private(set) var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private(set) var firstError: String?

    mutating func count(_ outcome: Outcome, nanoseconds: UInt64) {
        requests += 1
        switch outcome {
        case .answered(let code, let count) where status.indices.contains(code):
            bytes += count
            status[code] += 1
            latency.record(nanoseconds)
        case .answered(let code, _): fail("\(code) is not a status code")
        case .failed(let text): fail(text)
        }
    }

    private mutating func fail(_ text: String) {
        errors += 1
        firstError = firstError ?? text
    }
}
