import Histogram

/// The counts of the measured requests.
struct LoadResult: Sendable {
    /// All requests that ended, including failed ones.
    private(set) var requests = 0
    private(set) var errors = 0
    private(set) var bytes = 0
    /// Counts by status code; an array, because the cost of a dictionary would show in the results.
    private(set) var status = [Int](repeating: 0, count: 600)
    /// Only of answered requests: a refused connection is quick, and is no response.
    private(set) var latency = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private(set) var firstError: String?

    mutating func count(_ outcome: RequestEnd, nanoseconds: UInt64) {
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
