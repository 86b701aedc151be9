import ArgumentParser
import Errand
import ErrandLoad
import Foundation

/// The options that turn `errand bench` into a load test: users and arrivals over time, data, thresholds, shares.
struct LoadArguments: ParsableArguments {
    @Option(help: "Closed model: number of users, each of which sends its next request when the last one has ended.")
    var users: Int?

    @Flag(help: "With --rate: exponential distances between requests, as independent users make them.")
    var poisson = false

    @Option(
        help: ArgumentHelp(
            """
            Stages, 'TIME:LEVEL', separated by commas, such as 10s:50,1m:50,10s:0. Each goes along a line to its level: \
            users, or with --rate requests a second. The first begins at --users or --rate, by default 0. A stage of 0s \
            is a step.
            """, valueName: "stages"))
    var stages: StagesArgument?

    @Option(help: ArgumentHelp("Time in which the load rises from 0, before -d.", valueName: "time"))
    var ramp: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "With --rate: the most users at the same time, instead of -c; an arrival beyond waits, which counts.",
            valueName: "n"))
    var maxUsers: Int?

    @Option(
        help: ArgumentHelp(
            """
            How long requests may take to end when the time is over, 0 for none. What has not ended then is cancelled \
            and counts as unfinished. Default: 30s.
            """, valueName: "time"))
    var grace: OptionalDurationArgument?

    @Option(
        help: ArgumentHelp(
            """
            Condition of the result, such as 'p99<200ms', 'errors<0.1%', 'rate>1000', 'checks>99%', 'never_sent<=0', \
            'iterations<1%'; of one request 'login:p99<200ms', of a scenario 'shop/*:errors<1%'. If one is not met, the \
            exit code is 99. Repeatable.
            """, valueName: "condition"))
    var threshold: [ThresholdArgument] = []

    @Option(
        help: ArgumentHelp(
            "The same, and the run ends as soon as the condition is not met; looked at each second. Repeatable.",
            valueName: "condition"))
    var abortOn: [ThresholdArgument] = []

    @Option(
        help: ArgumentHelp(
            "File of data, .csv or .jsonl, whose columns are variables: {{column}}. Repeatable.", valueName: "path"),
        completion: .file(extensions: ["csv", "jsonl", "ndjson"]))
    var feed: [String] = []

    @Option(
        help: "Which row of the data an iteration gets: sequential, random, or unique (each user has one of its own).")
    var feedOrder: FeedOrder = .sequential

    @Option(help: "What follows the last row: wrap (the first row) or fail (the user ends).")
    var feedEnd: FeedEnd = .wrap

    @Option(
        help: ArgumentHelp(
            "Weight of a URL in a mix of several, once for each URL, in order. Default: 1.", valueName: "number"))
    var weight: [Double] = []

    @Option(
        help: ArgumentHelp(
            "The part of the plan that runs here, such as 2/4. All parts together are exactly the plan.",
            valueName: "i/n"))
    var share: ShareArgument?

    @Option(
        help: ArgumentHelp(
            "When the load begins: a time by RFC 3339, or seconds since 1970. Parts of one plan begin together.",
            valueName: "time"))
    var startAt: StartArgument?

    @Option(
        help: ArgumentHelp(
            """
            Seed of arrivals, weights, think times, rows of data, and of {{$uuid}} and {{$randomInt}}, which differ from \
            run to run if neither this option nor the plan has a seed. Default: 1, or that of the plan.
            """))
    var seed: UInt64?

    @Option(help: "Name of the plan in reports; parts to be merged need the same one. Default: the URL or file.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Of .http files: run only this request, by its '@name', title or number. Repeatable.", valueName: "name"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of .http files and plans: variable, 'name=value'. Repeatable. Overrides all others.",
            valueName: "name=value"))
    var variable: [VariableArgument] = []

    @Option(
        help: ArgumentHelp(
            "Of .http files: JSON file of environments. Repeatable.", valueName: "path"),
        completion: .file(extensions: ["json"]))
    var envFile: [String] = []

    @Option(help: ArgumentHelp("Of .http files: environment whose variables are used.", valueName: "name"))
    var env: String?

    @Flag(help: "Of .http files: go on with an iteration after a failure.")
    var keepGoing = false

    enum FeedOrder: String, ExpressibleByArgument, CaseIterable, Sendable {
        case sequential, random, unique

        var order: LoadData.Order {
            switch self {
            case .sequential: .sequential
            case .random: .random
            case .unique: .uniquePerUser
            }
        }
    }

    enum FeedEnd: String, ExpressibleByArgument, CaseIterable, Sendable {
        case wrap, fail

        var atEnd: LoadData.AtEnd { self == .wrap ? .wrap : .fail }
    }

    /// The given options that need a load test.
    var given: [String] {
        let options: [(String, Bool)] = [
            ("--users", users != nil), ("--poisson", poisson), ("--stages", stages != nil), ("--ramp", ramp != nil),
            ("--max-users", maxUsers != nil), ("--grace", grace != nil), ("--threshold", !threshold.isEmpty),
            ("--abort-on", !abortOn.isEmpty), ("--feed", !feed.isEmpty), ("--weight", !weight.isEmpty),
            ("--share", share != nil), ("--start-at", startAt != nil), ("--seed", seed != nil), ("--name", name != nil),
        ]
        return options.filter(\.1).map(\.0) + givenOfFiles
    }

    /// The given options that need `.http` files.
    var givenOfFiles: [String] {
        let options: [(String, Bool)] = [
            ("--only", !only.isEmpty), ("--variable", !variable.isEmpty), ("--env-file", !envFile.isEmpty),
            ("--env", env != nil), ("--keep-going", keepGoing),
        ]
        return options.filter(\.1).map(\.0)
    }

    /// The given options that a plan in JSON sets itself.
    var givenOfShape: [String] {
        let shape = ["--users", "--poisson", "--stages", "--ramp", "--max-users", "--feed", "--weight"]
        return given.filter(shape.contains) + givenOfFiles.filter { $0 != "--variable" }
    }

    func thresholds() throws(ToolError) -> [LoadThreshold] {
        var thresholds: [LoadThreshold] = []
        for argument in threshold { thresholds.append(try argument.threshold(of: "--threshold", aborts: false)) }
        for argument in abortOn { thresholds.append(try argument.threshold(of: "--abort-on", aborts: true)) }
        return thresholds
    }

    func data() throws(ToolError) -> [LoadData] {
        var data: [LoadData] = []
        for (index, path) in feed.enumerated() {
            do throws(LoadFeedError) {
                let name = "data\(index + 1)"
                data.append(
                    try LoadFeed.read(path, named: name, order: feedOrder.order, atEnd: feedEnd.atEnd))
            } catch {
                throw ToolError(error.status, "--feed: \(error.message)")
            }
        }
        return data
    }

    /// The row of the data that is checked before the run.
    func firstRow(_ data: [LoadData]) throws(ToolError) -> [String: String] {
        do {
            return try LoadFeed.firstRow(data)
        } catch {
            throw ToolError(error.status, "--feed: \(error.message)")
        }
    }
}
