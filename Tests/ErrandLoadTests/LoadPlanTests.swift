import Errand
import ErrandLoad
import FoundationEssentials
import Testing

@Suite struct LoadPlanTests {
    private func error(_ change: (inout LoadPlan) throws -> Void) throws -> LoadPlanError? {
        var plan = LoadPlan.stub(.users(1, for: .seconds(1)))
        try change(&plan)
        do {
            try plan.validate()
            return nil
        } catch {
            return error
        }
    }

    @Test func validPlans() throws {
        #expect(try error { _ in } == nil)
        #expect(try error { $0.scenarios[0].shape = .arrivals(perSecond: 0.5, for: .seconds(10), maxUsers: 1) } == nil)
    }

    @Test func mistakesAreNamed() throws {
        #expect(try error { $0.scenarios = [] } == .noScenario)
        #expect(try error { $0.scenarios.append($0.scenarios[0]) } == .duplicateScenario("main"))
        #expect(try error { $0.scenarios[0].name = "" } == .unnamedScenario)
        #expect(try error { $0.scenarios[0].shape = .users([]) } == .noLoad(scenario: "main"))
        #expect(try error { $0.scenarios[0].shape = .users(0, for: .seconds(1)) } == .noLoad(scenario: "main"))
        #expect(try error { $0.thresholds = [LoadThreshold(.mean, .less, 1, scenario: "x")] } == .unknownScenario("x"))
        #expect(try error { $0 = .stub($0.scenarios[0].shape, weights: [0]) } == .noRequest(scenario: "main"))
        #expect(
            try error { $0 = .stub($0.scenarios[0].shape, weights: [1, -1]) }
                == .invalidWeight(scenario: "main", request: "1"))
        let feed = try LoadData(named: "feed", rows: [["a": "1"]])
        #expect(
            try error { $0.scenarios[0].data = [feed, feed] } == .duplicateData(scenario: "main", name: "feed"))
    }

    @Test func aUserOfItsOwnRowNeedsARow() throws {
        let rows = [["a": "1"], ["a": "2"]]
        let wrapping = try LoadData(named: "feed", rows: rows, order: .uniquePerUser)
        let ending = try LoadData(named: "feed", rows: rows, order: .uniquePerUser, atEnd: .fail)
        func problem(_ shape: LoadShape, _ feed: LoadData) throws -> LoadPlanError? {
            try error {
                $0.scenarios[0].shape = shape
                $0.scenarios[0].data = [feed]
            }
        }
        let few = LoadPlanError.tooFewRows(scenario: "main", name: "feed", rows: 2, users: 3)
        #expect(try problem(.users(3, for: .seconds(1)), wrapping) == few)
        #expect(try problem(.arrivals(perSecond: 1, for: .seconds(1), maxUsers: 3), wrapping) == few)
        #expect(try problem(.users(2, for: .seconds(1)), wrapping) == nil)
        #expect(try problem(.users(3, for: .seconds(1)), ending) == nil)
    }

    @Test func aShareNeedsAUser() throws {
        let share = try #require(LoadShare(number: 1, of: 4))
        #expect(
            try error {
                $0.scenarios[0].shape = .users(3, for: .seconds(1))
                $0.share = share
            } == .tooFewUsers(users: 3, shares: 4))
        #expect(
            try error {
                $0.scenarios[0].shape = .users(4, for: .seconds(1))
                $0.share = share
            } == nil)
    }

    @Test func aShareNeedsARow() throws {
        let rows = [["a": "1"], ["a": "2"], ["a": "3"]]
        func problem(_ order: LoadData.Order, shares: Int) throws -> LoadPlanError? {
            try error {
                $0.scenarios[0].shape = .users(4, for: .seconds(1))
                $0.scenarios[0].data = [try LoadData(named: "feed", rows: rows, order: order, atEnd: .fail)]
                $0.share = try #require(LoadShare(number: 1, of: shares))
            }
        }
        #expect(try problem(.uniquePerUser, shares: 4) == .tooFewRowsForShares(rows: 3, shares: 4))
        #expect(try problem(.uniquePerUser, shares: 3) == nil && problem(.sequential, shares: 4) == nil)
    }

    /// Each scenario is divided by itself, so the arrivals of the shares differ by more than one.
    @Test(arguments: ArrivalSpacing.allCases) func partsOfTheLimitAddUp(_ spacing: ArrivalSpacing) throws {
        var plan = LoadPlan.stub(.arrivals(perSecond: 5, for: .seconds(1), spacing: spacing, maxUsers: 9))
        for name in ["second", "third"] {
            plan.scenarios.append(plan.scenarios[0])
            plan.scenarios[plan.scenarios.count - 1].name = name
        }
        let shares = (1...4).compactMap { LoadShare(number: $0, of: 4) }
        // Counted one by one.
        let arrivals = shares.map { share -> UInt64 in
            var count: UInt64 = 0
            for number in plan.scenarios.indices {
                var cursor = ArrivalCursor(
                    LoadSchedule(level: 5, for: .seconds(1)), spacing: spacing,
                    seed: LoadRandom.draw(plan.seed, UInt64(number), 0), share: share)
                while cursor.due != nil {
                    count += 1
                    cursor.advance()
                }
            }
            return count
        }
        let total = arrivals.reduce(0, +)
        #expect(Set(arrivals).count > 1)
        for limit in 1...total + 5 {
            plan.requestLimit = limit
            let parts = shares.map { share in
                plan.share = share
                return plan.ownRequestLimit ?? 0
            }
            #expect(parts.reduce(0, +) == min(limit, total), "\(limit): \(parts)")
            #expect(zip(parts, arrivals).allSatisfy { $0 <= $1 }, "\(limit): \(parts) of \(arrivals)")
        }
        plan.share = .whole
        #expect(plan.ownRequestLimit == total + 5)
    }

    @Test func aLimitThatSharesCannotDivide() throws {
        let shape = LoadShape.arrivals(perSecond: 1_000_000, for: .seconds(1000), spacing: .poisson, maxUsers: 9)
        func problem(_ limit: UInt64) throws -> LoadPlanError? {
            try error {
                $0 = .stub(shape)
                $0.scenarios.append($0.scenarios[0])
                $0.scenarios[1].name = "second"
                $0.requestLimit = limit
                $0.share = try #require(LoadShare(number: 1, of: 4))
            }
        }
        #expect(try problem(1000) == nil)
        guard case .invalidOption("requestLimit", nil, _) = try problem(2_000_000_000) else {
            Issue.record("the limit was accepted")
            return
        }
    }

    /// A threshold of which nothing can be measured would fail after the run.
    @Test(arguments: [
        ("0:p99<1s", true), ("main/0:errors<1%", true), ("1:p99<1s", false), ("other:p99<1s", true),
        ("checks>99%", false), ("iterations<1%", true), ("main/*:iterations<1%", true), ("0:iterations<1%", false),
    ]) func thresholdsAreChecked(_ text: String, _ isGood: Bool) throws {
        let threshold = try LoadThreshold(parsing: text)
        func isAccepted(_ scenario: LoadScenario?) throws -> Bool {
            let found = try error { plan in
                if let scenario { plan.scenarios = [scenario] }
                plan.thresholds = [threshold]
            }
            return found == nil
        }
        #expect(try isAccepted(nil) == isGood)
        // Steps may send anything.
        let steps = LoadScenario("main", shape: .users(1, for: .seconds(1)), configuration: Client.Configuration()) {
            _ in
        }
        #expect(try isAccepted(steps) == (isGood || threshold.measure != .iterations))
        var known = steps
        known.namesOfSteps = (requests: ["0"], checks: ["0: status == 200"])
        #expect(try isAccepted(known) == (isGood || text == "checks>99%"))
    }

    @Test func plansHaveFingerprints() {
        let plan = LoadPlan.stub(.users(1, for: .seconds(1)))
        #expect(plan.fingerprint == LoadPlan.stub(.users(1, for: .seconds(1))).fingerprint)
        #expect(plan.fingerprint.utf8.count == 16)
        let changes: [(inout LoadPlan) -> Void] = [
            { $0.seed = 2 }, { $0.scenarios[0].shape = .users(2, for: .seconds(1)) }, { $0.requestLimit = 5 },
            { $0.thresholds = [LoadThreshold(.max, .less, 1)] }, { $0.scenarios[0].name = "x" },
            { $0.warmUp = .seconds(1) },
        ]
        var seen: Set<String> = [plan.fingerprint]
        for change in changes {
            var other = plan
            change(&other)
            #expect(seen.insert(other.fingerprint).inserted)
        }
        var part = plan
        part.share = LoadShare(number: 2, of: 2) ?? .whole
        part.start = Date()
        #expect(part.fingerprint == plan.fingerprint)
    }

    @Test func stagesAndOptionsOutOfRange() throws {
        let levels: [Double] = [-1, .infinity, .nan, 2_000_000]
        for level in levels {
            let stages = [LoadStage(from: 1, to: 1, for: .seconds(1)), LoadStage(from: 1, to: level, for: .seconds(1))]
            guard case .invalidStage("main", 2, _) = try error({ $0.scenarios[0].shape = .users(stages) }) else {
                Issue.record("\(level) was accepted")
                continue
            }
        }
        let changes: [(inout LoadPlan) -> Void] = [
            { $0.warmUp = .seconds(-1) }, { $0.gracePeriod = .seconds(-1) }, { $0.requestLimit = 0 },
            { $0.scenarios[0].shape = .arrivals(perSecond: 1, for: .seconds(1), maxUsers: 0) },
        ]
        for change in changes {
            guard case .invalidOption = try error(change) else {
                Issue.record("an option out of range was accepted")
                continue
            }
        }
    }

    @Test func requestsThatCannotBeBuilt() throws {
        let scenario = LoadScenario(
            "main", shape: .users(1, for: .seconds(1)), configuration: Client.Configuration(),
            requests: [WeightedRequest(RawCommand(url: "no base URL"), named: "bad")])
        do {
            _ = try LoadRun(LoadPlan("test", scenarios: [scenario]))
            Issue.record("the request was accepted")
        } catch {
            guard case .invalidRequest(let scenario, let request, _) = error as any Error as? LoadPlanError else {
                throw error
            }
            #expect(scenario == "main" && request == "bad")
        }
    }

    @Test func namesOfRequests() {
        #expect(WeightedRequest(RawCommand(method: .post, url: "users/1?x=2")).name == "POST users/1")
    }
}
