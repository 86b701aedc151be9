/// A condition that a result has to meet, such as `p99<200ms`.
public struct LoadThreshold: Sendable, Hashable {
    /// What is measured.
    public enum Measure: Sendable, Hashable {
        /// The latency at a percentile, 0 to 100.
        case percentile(Double)
        /// The mean latency.
        case mean
        /// The largest latency.
        case max
        /// The share of requests, 0 to 1, that were not answered or were rejected.
        case errors
        /// Requests that were answered within the measured part, per second of that part.
        case rate
        /// The share of passed checks, 0 to 1.
        case checks
        /// The share of due requests that were never sent, 0 to 1.
        case neverSent
        /// The share of iterations that failed, 0 to 1, of those that ended.
        case iterations
    }

    /// How the measure is compared with the bound.
    public enum Comparison: String, Sendable, Hashable {
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    /// What is measured.
    public var measure: Measure
    /// How the measure is compared with the bound.
    public var comparison: Comparison
    /// The bound: in nanoseconds for latencies, as a share for shares, per second for the rate.
    public var bound: Double
    /// Only the requests of this scenario; `nil`: of all.
    public var scenario: String?
    /// Only the requests of this name; `nil`: of all. ``LoadPlan/validate()`` refuses a name that the plan does not have,
    /// where all names are known before the run.
    public var request: String?
    /// Whether the run ends as soon as the threshold is crossed.
    public var aborts: Bool

    /// A threshold.
    public init(
        _ measure: Measure, _ comparison: Comparison, _ bound: Double, scenario: String? = nil, request: String? = nil,
        aborts: Bool = false
    ) {
        self.measure = measure
        self.comparison = comparison
        self.bound = bound
        self.scenario = scenario
        self.request = request
        self.aborts = aborts
    }
}

/// The verdict on a threshold.
public struct ThresholdOutcome: Sendable, Hashable {
    /// The threshold.
    public var threshold: LoadThreshold
    /// The measured value, in the unit of ``LoadThreshold/bound``; `nil`: nothing was measured, which is a failure.
    public var measured: Double?
    /// Whether the condition is met.
    public var isMet: Bool

    /// A verdict.
    public init(_ threshold: LoadThreshold, measured: Double?, isMet: Bool) {
        self.threshold = threshold
        self.measured = measured
        self.isMet = isMet
    }
}
