/// The iterations and users of one scenario in the measured part of the run.
public struct ScenarioStatistics: Sendable, Equatable, Codable {
    /// The scenario's name.
    public var name: String
    /// Iterations that began.
    public var started: UInt64 = 0
    /// Iterations that came to their end.
    public var completed: UInt64 = 0
    /// Iterations that threw an error.
    public var failed: UInt64 = 0
    /// Iterations that had not ended when the run was over, after the grace period.
    public var interrupted: UInt64 = 0
    /// Open model: iterations that were due and did not begin, because all users were busy, or had left at the end of
    /// their data.
    public var neverStarted: UInt64 = 0
    /// The largest number of users at one time, without the warm-up.
    public var peakUsers: Int = 0
    /// Retries, hedges and what breakers refused; `nil`: the scenario's clients have no resilience.
    public var resilience: LoadResilience?

    /// No users.
    public init(name: String) {
        self.name = name
    }
}

/// How often a check was passed.
public struct CheckStatistics: Sendable, Hashable, Codable {
    /// The scenario of the check.
    public var scenario: String
    /// The check's name.
    public var name: String
    /// How often the check was passed.
    public var passed: UInt64 = 0
    /// How often the check was not passed.
    public var failed: UInt64 = 0

    /// A check that has not run.
    public init(scenario: String, name: String) {
        self.scenario = scenario
        self.name = name
    }
}
