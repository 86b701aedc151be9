extension LoadPlan {
    /// The largest number of users of a scenario.
    package static let mostUsers = 1_000_000
    /// The highest rate of a scenario, in iterations per second.
    package static let highestRate = 10_000_000.0
    /// The longest stage, warm-up and grace period.
    package static let longest = Duration.seconds(30 * 86_400)

    /// Checks everything that can be checked before the clients are made: names, stages, weights, limits. Opens no file
    /// and sends nothing.
    public func validate() throws(LoadPlanError) {
        guard !scenarios.isEmpty else { throw .noScenario }
        guard scenarios.count <= 1000 else {
            throw .invalidOption("scenarios", scenario: nil, problem: "are over 1,000")
        }
        try Self.check(warmUp, "warmUp")
        try Self.check(gracePeriod, "gracePeriod")
        var names: Set<String> = []
        for scenario in scenarios {
            guard !scenario.name.isEmpty else { throw .unnamedScenario }
            guard names.insert(scenario.name).inserted else { throw .duplicateScenario(scenario.name) }
            try scenario.validate(share)
        }
        if share.count > 1 { try checkUsers() }
        try checkRequestLimit()
        for threshold in thresholds { try check(threshold) }
    }

    /// Checks that every share has a user, and a row for this user, so that no share loses its part of the requests.
    private func checkUsers() throws(LoadPlanError) {
        let users = scenarios.map { $0.mostUsers(share) }.max() ?? 0
        guard users >= share.count else { throw .tooFewUsers(users: users, shares: share.count) }
        let rows = scenarios.map(\.rowsOfUsers).max() ?? 0
        guard rows >= share.count else { throw .tooFewRowsForShares(rows: rows, shares: share.count) }
    }

    /// Refuses a threshold for which nothing can be measured.
    private func check(_ threshold: LoadThreshold) throws(LoadPlanError) {
        let own = scenarios.filter { threshold.scenario == nil || threshold.scenario == $0.name }
        if let name = threshold.scenario, own.isEmpty { throw .unknownScenario(name) }
        func unmeasured(_ problem: String) -> LoadPlanError {
            .unmeasured(threshold: threshold.description, problem: problem)
        }
        switch threshold.measure {
        case .iterations:
            guard threshold.request == nil else {
                throw unmeasured("iterations are those of a scenario, such as 'shop/*:iterations<1%'")
            }
        case .checks:
            let known = own.map(\.checkNames)
            guard !known.contains(nil) else { return }
            let isThere = known.contains { $0?.contains { threshold.matches(check: $0) } == true }
            guard isThere else { throw unmeasured("there is no such check") }
        case .percentile, .mean, .max, .errors, .rate, .neverSent:
            guard let request = threshold.request, request != "other" else { return }
            let known = own.map(\.requestNames)
            guard !known.contains(nil), !known.contains(where: { $0?.contains(request) == true }) else { return }
            throw .unknownRequest(request)
        }
    }

    private static func check(_ time: Duration, _ name: String) throws(LoadPlanError) {
        guard time >= .zero, time <= longest else {
            throw .invalidOption(name, scenario: nil, problem: "is \(time), expected 0 s to 30 days")
        }
    }
}

extension LoadScenario {
    /// The names of the requests that may be sent; `nil`: not known before the run.
    fileprivate var requestNames: [String]? {
        switch work {
        case .requests(let requests): requests.filter { $0.weight > 0 }.map(\.name)
        case .steps: namesOfSteps?.requests
        }
    }

    fileprivate var checkNames: [String]? {
        switch work {
        case .requests: []
        case .steps: namesOfSteps?.checks
        }
    }

    /// The most users of all shares together.
    fileprivate func mostUsers(_ share: LoadShare) -> Int {
        switch shape {
        case .users(let stages): LoadSchedule(stages).mostUsers
        // A share has at least one.
        case .arrivals(_, _, let maxUsers): max(maxUsers, share.count)
        }
    }

    /// How many users have a row of each feed.
    fileprivate var rowsOfUsers: Int {
        data.lazy.filter { $0.order == .uniquePerUser && $0.atEnd == .fail }.map(\.count).min() ?? .max
    }

    fileprivate func validate(_ share: LoadShare) throws(LoadPlanError) {
        switch shape {
        case .users(let stages):
            try check(stages, highest: Double(LoadPlan.mostUsers), "users")
        case .arrivals(let stages, _, let maxUsers):
            try check(stages, highest: LoadPlan.highestRate, "iterations per second")
            guard (1...LoadPlan.mostUsers).contains(maxUsers) else {
                throw .invalidOption("maxUsers", scenario: name, problem: "is \(maxUsers), expected 1 to 1,000,000")
            }
        }
        var feeds: Set<String> = []
        for feed in data {
            guard feeds.insert(feed.name).inserted else { throw .duplicateData(scenario: name, name: feed.name) }
            let users = mostUsers(share)
            // If the feed ends after its last row, the users without a row leave.
            if feed.order == .uniquePerUser, feed.atEnd == .wrap, feed.count < users {
                throw .tooFewRows(scenario: name, name: feed.name, rows: feed.count, users: users)
            }
        }
        guard case .requests(let requests) = work else { return }
        for request in requests {
            guard request.weight.isFinite, (0...1_000_000).contains(request.weight) else {
                throw .invalidWeight(scenario: name, request: request.name)
            }
        }
        guard requests.contains(where: { $0.weight > 0 }) else { throw .noRequest(scenario: name) }
    }

    private func check(_ stages: [LoadStage], highest: Double, _ unit: String) throws(LoadPlanError) {
        var total = Duration.zero
        var isIdle = true
        for (index, stage) in stages.enumerated() {
            func invalid(_ problem: String) -> LoadPlanError {
                .invalidStage(scenario: name, number: index + 1, problem: problem)
            }
            for level in [stage.from, stage.to] {
                guard level.isFinite, (0...highest).contains(level) else {
                    throw invalid("\(level) is not a level from 0 to \(Int(highest)) \(unit)")
                }
                if level > 0, stage.duration > .zero { isIdle = false }
            }
            guard stage.duration >= .zero, stage.duration <= LoadPlan.longest else {
                throw invalid("the duration is \(stage.duration), expected 0 s to 30 days")
            }
            total += stage.duration
        }
        guard total > .zero, total <= LoadPlan.longest, !isIdle else { throw .noLoad(scenario: name) }
    }
}
