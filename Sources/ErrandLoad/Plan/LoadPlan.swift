public import FoundationEssentials

/// A load test: its users and their requests, the amount of load over time, and the conditions that the result has to
/// meet.
public struct LoadPlan: Sendable {
    /// The name in reports.
    public var name: String
    /// The scenarios, which all run at the same time. Their names are unique.
    public var scenarios: [LoadScenario]
    /// The conditions that the result has to meet.
    public var thresholds: [LoadThreshold]
    /// How long the load runs before anything is counted. Its level is that at which the first stage begins, or the
    /// first level above 0 if that is 0. The stages begin after the warm-up. Default: 0.
    public var warmUp: Duration
    /// The exact maximum number of measured requests of all scenarios together; `nil`, the default: only the stages end
    /// the run. Shares of the plan divide the number among them.
    public var requestLimit: UInt64?
    /// How long requests and iterations may take to end after the last stage. Those that have not ended by then are
    /// cancelled and count as unfinished. Requests that iterations still send in this time count too. Default: 30 s.
    public var gracePeriod: Duration
    /// The seed of Poisson arrivals, random data, random think times and weights. Default: 1.
    public var seed: UInt64
    /// The part of the plan that runs here. Default: the whole plan.
    public var share: LoadShare
    /// When the load begins; `nil`, the default: at once. Machines with shares of one plan get the same time.
    public var start: Date?

    /// A plan. ``LoadRun`` checks the plan before anything is sent.
    public init(
        _ name: String, scenarios: [LoadScenario], thresholds: [LoadThreshold] = [], warmUp: Duration = .zero,
        requestLimit: UInt64? = nil, gracePeriod: Duration = .seconds(30), seed: UInt64 = 1, share: LoadShare = .whole,
        start: Date? = nil
    ) {
        self.name = name
        self.scenarios = scenarios
        self.thresholds = thresholds
        self.warmUp = warmUp
        self.requestLimit = requestLimit
        self.gracePeriod = gracePeriod
        self.seed = seed
        self.share = share
        self.start = start
    }
}
