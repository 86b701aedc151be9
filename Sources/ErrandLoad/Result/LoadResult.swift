public import FoundationEssentials

/// The measurements of a load test. Results of several machines with shares of one plan can be merged exactly.
public struct LoadResult: Sendable, Equatable {
    /// The name of the plan.
    public var plan: String
    /// Distinguishes plans with different requests, shapes, data, seeds or thresholds; `nil`: not known.
    public var fingerprint: String?
    /// The shares of the plan that are in this result: one of a run, several after a merge.
    public var shares: [LoadShare] = [.whole]
    /// When the measured part began; the earliest one after a merge.
    public var start: Date
    /// The duration of the measured part, without warm-up and grace period; the longest one after a merge.
    public var duration: Duration
    /// The length of the intervals in the time series: 1 s. In a run of more than an hour the length is doubled each time
    /// there would be more than 3,600 intervals, so the memory of a run is bounded.
    public var interval: Duration = .seconds(1)
    /// Requests by scenario and name, in the order of the plan.
    public var requests: [RequestStatistics] = []
    /// Users by scenario, in the order of the plan.
    public var scenarios: [ScenarioStatistics] = []
    /// Checks in the order in which they first ran.
    public var checks: [CheckStatistics] = []
    /// The generator: one of each share.
    public var generators: [GeneratorHealth] = []
    /// Thresholds with their verdicts.
    public var thresholds: [ThresholdOutcome] = []
    /// The first failures by kind with their texts, at most 10.
    public var failures: [String] = []
    /// Whether the run ended by a signal.
    public var isInterrupted = false
    /// The threshold that ended the run early, as text.
    public var abortedBy: String?

    /// An empty result.
    public init(plan: String, start: Date, duration: Duration) {
        self.plan = plan
        self.start = start
        self.duration = duration
    }

    /// The sum of all requests, under the name `all`. ``RequestStatistics/intervals`` are summed as well.
    public var total: RequestStatistics {
        requests.reduce(into: RequestStatistics(scenario: "", name: "all")) { $0.add($1) }
    }
}
