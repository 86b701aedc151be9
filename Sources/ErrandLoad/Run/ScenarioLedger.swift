/// The users of one scenario while a run goes on.
package struct ScenarioLedger: Sendable {
    enum Model: Sendable {
        case closed
        /// The arrivals that have not begun; `isWarmUp`: those of the warm-up.
        case open(ArrivalCursor, isWarmUp: Bool)
    }

    let name: String
    let schedule: LoadSchedule
    let share: LoadShare
    let seed: UInt64
    /// The records of the scenario's requests; `nil`: they are made when steps name them.
    let firstWeighted: Int?
    /// The sums of the weights; empty for steps.
    private let weights: [Double]
    var model: Model
    /// The measured arrivals, which follow those of the warm-up.
    let arrivals: ArrivalCursor?
    /// The most users of this share.
    let mostUsers: Int
    /// Closed model: whether each user runs, or has ended for good.
    private var users: [UserState] = []
    /// Open model: users that wait for an arrival, and the number of users that were made.
    private var idle: [Int] = []
    private(set) var made = 0
    /// Open model: users that have left for good, because their data had ended.
    private(set) var gone = 0
    /// The iterations of each user of the closed model.
    private var iterations: [UInt64] = []
    /// Iterations that run, those of the warm-up included.
    private(set) var running = 0
    var statistics: ScenarioStatistics
    /// The record for requests that were never sent, because their iteration did not begin.
    var firstRecord: Int?
    /// The records by name.
    var records: [String: Int] = [:]
    /// How often each feed was asked for a row.
    var turns: [UInt64]

    private enum UserState: Sendable {
        case resting, running, gone
    }

    init(_ scenario: LoadScenario, number: Int, plan: LoadPlan, firstRecord: Int?) {
        name = scenario.name
        share = plan.share
        seed = Self.seed(of: number, in: plan)
        firstWeighted = firstRecord
        self.firstRecord = firstRecord
        statistics = ScenarioStatistics(name: scenario.name)
        turns = Array(repeating: 0, count: scenario.data.count)
        var weights: [Double] = []
        if case .requests(let requests) = scenario.work {
            for request in requests { weights.append((weights.last ?? 0) + request.weight) }
        }
        self.weights = weights
        switch scenario.shape {
        case .users(let stages):
            schedule = LoadSchedule(stages)
            model = .closed
            arrivals = nil
            mostUsers = share.part(of: schedule.mostUsers)
        case .arrivals(let stages, let spacing, let maxUsers):
            schedule = LoadSchedule(stages)
            let measured = ArrivalCursor(schedule, spacing: spacing, seed: seed, share: share)
            arrivals = measured
            // A share without a user could send nothing.
            mostUsers = max(1, share.part(of: maxUsers))
            guard plan.warmUp > .zero else {
                model = .open(measured, isWarmUp: false)
                break
            }
            let warmUp = LoadSchedule(level: schedule.firstLevel, for: plan.warmUp)
            let before = LoadRandom.draw(seed, 1, 1)
            model = .open(ArrivalCursor(warmUp, spacing: spacing, seed: before, share: share), isWarmUp: true)
        }
    }

    /// The seed of the arrivals and choices of the scenario with that number.
    static func seed(of number: Int, in plan: LoadPlan) -> UInt64 { LoadRandom.draw(plan.seed, UInt64(number), 0) }

    var isOpen: Bool {
        if case .open = model { true } else { false }
    }

    /// The request of an iteration, chosen by weight.
    func choice(_ user: UInt64, _ number: UInt64) -> Int {
        guard weights.count > 1, let total = weights.last else { return 0 }
        let point = LoadRandom.unit(LoadRandom.draw(seed, user, number)) * total
        return weights.firstIndex { point < $0 } ?? weights.count - 1
    }

    /// How many of these iterations would have each request, by the weights. The sum is exact.
    func choices(_ iterations: Range<UInt64>) -> [UInt64] {
        guard weights.count > 1, let total = weights.last, total > 0 else { return [UInt64(iterations.count)] }
        var before: UInt64 = 0
        return weights.indices.map { request in
            // Counted from iteration 0, and for all requests up to this one, so that ranges add up.
            let share = weights[request] / total
            let isLast = request == weights.count - 1
            let low = isLast ? iterations.lowerBound : UInt64(Double(iterations.lowerBound) * share)
            let high = isLast ? iterations.upperBound : UInt64(Double(iterations.upperBound) * share)
            let all = high - low
            defer { before = max(before, all) }
            return all - min(all, before)
        }
    }

    // MARK: Closed model

    /// Users that are to begin now: those below `wanted` that rest.
    mutating func resting(below wanted: Int) -> [Int] {
        guard running < wanted else { return [] }
        while users.count < wanted {
            users.append(.resting)
            iterations.append(0)
        }
        return (0..<wanted).filter { users[$0] == .resting }
    }

    /// A user of the closed model begins its next iteration. `isNew`: it did not run before. Returns the iteration's
    /// number; `nil`: the user has ended for good.
    mutating func begin(_ user: Int, isNew: Bool) -> UInt64? {
        guard users.indices.contains(user), users[user] != .gone else { return nil }
        if isNew {
            guard users[user] == .resting else { return nil }
            users[user] = .running
        }
        defer { iterations[user] += 1 }
        return iterations[user]
    }

    mutating func iterationBegan(isCounted: Bool) {
        running += 1
        guard isCounted else { return }
        statistics.started += 1
        statistics.peakUsers = max(statistics.peakUsers, running)
    }

    /// The users of the warm-up that still run are users of the measured part.
    mutating func measuringBegan() {
        statistics.peakUsers = max(statistics.peakUsers, running)
    }

    mutating func iterationEnded() { running -= 1 }

    /// The run is over: iterations that have not ended are interrupted, also those whose steps ignore their
    /// cancellation.
    mutating func interruptRest() {
        statistics.interrupted = statistics.started - statistics.completed - statistics.failed
    }

    /// The user begins no iteration for now; in the open model until it is taken again.
    mutating func rest(_ user: Int) {
        guard !isOpen else { return idle.append(user) }
        if users.indices.contains(user), users[user] == .running { users[user] = .resting }
    }

    /// The user begins no iteration any more.
    mutating func leave(_ user: Int) {
        guard !isOpen else {
            gone += 1
            return
        }
        guard users.indices.contains(user) else { return }
        users[user] = .gone
    }

    /// Closed model: whether all users that the stages want have left for good. Then nothing follows.
    var hasNobodyLeft: Bool {
        !isOpen && running == 0 && users.count >= mostUsers && users.allSatisfy { $0 == .gone }
    }

    // MARK: Open model

    /// Whether all users have left for good. The arrivals that follow never start.
    var hasLostItsUsers: Bool { isOpen && gone >= mostUsers }

    /// The arrivals that have not begun.
    var cursor: ArrivalCursor? {
        if case .open(let cursor, _) = model { cursor } else { nil }
    }

    /// Whether a user is free.
    var hasFreeUser: Bool { !idle.isEmpty || made < mostUsers }

    mutating func takeFreeUser() -> Int? {
        if let user = idle.popLast() { return user }
        guard made < mostUsers else { return nil }
        made += 1
        return made - 1
    }

    /// The time of the present arrival in nanoseconds since the beginning of its part, and its number.
    var arrival: (due: UInt64, number: UInt64)? {
        guard case .open(let cursor, _) = model, let due = cursor.due else { return nil }
        return (due, cursor.number)
    }

    var isAtWarmUp: Bool {
        if case .open(_, true) = model { true } else { false }
    }

    mutating func advance() {
        guard case .open(var cursor, let isWarmUp) = model else { return }
        cursor.advance()
        model = .open(cursor, isWarmUp: isWarmUp)
    }

    /// The measured part has begun: the arrivals that are left of the warm-up are dropped.
    mutating func endWarmUp() {
        guard isAtWarmUp, let arrivals else { return }
        model = .open(arrivals, isWarmUp: false)
    }
}
