public import Errand

/// Why a ``LoadPlan`` cannot run. Found before anything is sent.
public enum LoadPlanError: Error, Sendable, Equatable {
    /// The plan has no scenario.
    case noScenario
    /// Two scenarios have this name.
    case duplicateScenario(String)
    /// A scenario's name is empty.
    case unnamedScenario
    /// The scenario has no stages, or the duration of all stages together is zero.
    case noLoad(scenario: String)
    /// Stage `number` (from 1) has an invalid level or duration; `problem` says which.
    case invalidStage(scenario: String, number: Int, problem: String)
    /// An option of the plan or of a scenario is out of range; `problem` says which values it may have.
    case invalidOption(String, scenario: String?, problem: String)
    /// The scenario has no request, or requests without a weight.
    case noRequest(scenario: String)
    /// The weight of this request is negative, infinite or no number.
    case invalidWeight(scenario: String, request: String)
    /// A threshold names a scenario that the plan does not have.
    case unknownScenario(String)
    /// A threshold names a request that no scenario has, or that has no weight.
    case unknownRequest(String)
    /// The value that this threshold is about is never measured; `problem` says why.
    case unmeasured(threshold: String, problem: String)
    /// Each user gets a row of its own (``LoadData/Order/uniquePerUser``), and there are more users than rows.
    case tooFewRows(scenario: String, name: String, rows: Int, users: Int)
    /// No scenario has a user for each share of the plan.
    case tooFewUsers(users: Int, shares: Int)
    /// Each user gets a row of its own and leaves without one, and there are too few rows for one user in each share of
    /// the plan.
    case tooFewRowsForShares(rows: Int, shares: Int)
    /// Two feeds of the scenario have this name.
    case duplicateData(scenario: String, name: String)
    /// The client cannot build this request; the error is that of ``/Errand/Client/describe(_:overrides:)``.
    case invalidRequest(scenario: String, request: String, ErrandError)
}

extension LoadPlanError: CustomStringConvertible {
    /// One sentence that names the scenario and the option.
    public var description: String {
        switch self {
        case .noScenario: "the plan has no scenario"
        case .duplicateScenario(let name): "two scenarios have the name '\(name)'"
        case .unnamedScenario: "the name of a scenario is empty"
        case .noLoad(let scenario): "scenario '\(scenario)': the stages last no time"
        case .invalidStage(let scenario, let number, let problem):
            "scenario '\(scenario)', stage \(number): \(problem)"
        case .invalidOption(let option, let scenario, let problem):
            (scenario.map { "scenario '\($0)': " } ?? "") + "'\(option)' \(problem)"
        case .noRequest(let scenario): "scenario '\(scenario)': no request has a weight above 0"
        case .invalidWeight(let scenario, let request):
            "scenario '\(scenario)': the weight of '\(request)' is not a number from 0 to 1,000,000"
        case .unknownScenario(let name): "a threshold names the scenario '\(name)', which the plan does not have"
        case .unknownRequest(let name): "a threshold names the request '\(name)', which the plan does not have"
        case .unmeasured(let threshold, let problem): "the threshold \(threshold) can never be met: \(problem)"
        case .tooFewRows(let scenario, let name, let rows, let users):
            "scenario '\(scenario)': \(users) users need a row each of the feed '\(name)', which has \(rows); "
                + "give it more rows, let users end with the data, or choose another order"
        case .tooFewUsers(let users, let shares):
            "\(shares) shares need at least \(shares) users, and the plan has \(users)"
        case .tooFewRowsForShares(let rows, let shares):
            "\(shares) shares need at least \(shares) rows of data, one for a user of each share, and there are \(rows)"
        case .duplicateData(let scenario, let name): "scenario '\(scenario)': two feeds have the name '\(name)'"
        case .invalidRequest(let scenario, let request, let error):
            "scenario '\(scenario)': the request '\(request)' cannot be built: \(error)"
        }
    }
}
