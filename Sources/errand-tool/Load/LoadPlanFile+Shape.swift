import Errand
import ErrandLoad

extension LoadPlanFile {
    /// The shape of a scenario: `users` or `rate` for a `duration`, or `stages`.
    func shape(_ json: PlanJSON, _ members: [String: PlanJSON]) throws(PlanJSON.Failure) -> LoadShape {
        let users = members["users"]
        let rate = members["rate"]
        if users != nil, let rate { throw rate.failure("'users' and 'rate' exclude each other") }
        for name in ["spacing", "max_users"] where rate == nil {
            if let member = members[name] { throw member.failure("this member requires 'rate'") }
        }
        var level: Double?
        if let users { level = Double(try users.integer(0...LoadPlan.mostUsers)) }
        if let rate { level = try rate.number(0...LoadPlan.highestRate) }
        let highest = rate == nil ? Double(LoadPlan.mostUsers) : LoadPlan.highestRate
        let stages: [LoadStage]
        switch (members["stages"], members["duration"]) {
        case (let list?, nil):
            var given: [StageArgument] = []
            for element in try list.elements() {
                let stage = try element.members(["duration", "to"])
                guard let time = stage["duration"], let to = stage["to"] else {
                    throw element.failure("a stage requires 'duration' and 'to'")
                }
                given.append(StageArgument(duration: try time.duration(), level: try to.number(0...highest)))
            }
            stages = StageArgument.stages(given, from: level ?? 0)
        case (nil, let time?):
            guard let level else { throw json.failure("the member 'users' or 'rate' is missing") }
            stages = [LoadStage(from: level, to: level, for: try time.duration())]
        case (let list?, .some): throw list.failure("'stages' and 'duration' exclude each other")
        case (nil, nil): throw json.failure("the member 'duration' or 'stages' is missing")
        }
        guard rate != nil else { return .users(stages) }
        guard let most = members["max_users"] else {
            throw json.failure("the member 'max_users' is missing: the most users at the same time")
        }
        var spacing = ArrivalSpacing.uniform
        if let given = members["spacing"] {
            guard let known = ArrivalSpacing(rawValue: try given.text()) else {
                throw given.failure("expected uniform or poisson")
            }
            spacing = known
        }
        return .arrivals(stages, spacing: spacing, maxUsers: try most.integer(1...LoadPlan.mostUsers))
    }
}
