import Errand
import ErrandLoad
import FoundationEssentials
import Testing

/// How the ledger counts what does not end well, and runs that are long, large or empty.
@Suite struct LoadLedgerEndTests: LedgerTesting {
    @Test func aFailureAfterAWaitHasALatency() throws {
        let plan = LoadPlan.stub(.users(1, for: .seconds(100)))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        let failures: [(LoadError.Phase, Double)] = [
            (.firstByte, 25), (.body, 0.001), (.tls, 0.001), (.connect, 3),
            // Quick, and no response.
            (.connect, 0.5), (.resolve, 0.5), (.queue, 0.5),
        ]
        for (phase, wait) in failures {
            let ticket = try need(ledger.begin(0, due: start, start))
            let outcome = LoadOutcome(.failed(LoadError(kind: "error", phase: phase)))
            ledger.end(ticket, outcome, start + seconds(wait))
        }
        let total = result(ledger, plan, start + seconds(50)).total
        #expect(total.counts.failed == 7 && total.latency.count == 4)
        #expect(abs(Double(total.latency.max) / 1e9 - 25) < 0.1)
    }

    /// Steps may ignore that they are cancelled. Their requests were due all the same.
    @Test func aRequestThatNeverEndsIsUnfinished() throws {
        var plan = LoadPlan.stub(.users(2, for: .seconds(10)))
        plan.gracePeriod = .seconds(1)
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        _ = ledger.usersToBegin(0, start)
        let first = try need(ledger.begin(0, due: start, start))
        _ = try need(ledger.begin(0, due: start + seconds(1), start + seconds(1)))
        let third = try need(ledger.begin(0, due: start + seconds(2), start + seconds(2)))
        ledger.end(first, answer, start + seconds(3))
        #expect(ledger.tick(start + seconds(10)) == .drain)
        #expect(ledger.tick(start + seconds(11)) == .cut)
        #expect(ledger.tick(start + seconds(15)) == .none)
        #expect(ledger.tick(start + seconds(16)) == .done)
        // Too late to count again.
        ledger.end(third, answer, start + seconds(17))
        let result = result(ledger, plan, start + seconds(20))
        #expect(result.total.counts.answered == 1 && result.total.counts.unfinished == 2)
        #expect(result.total.latency.count == 3 && abs(Double(result.total.latency.max) / 1e9 - 15) < 0.1)
        #expect(result.total.intervals.reduce(0) { $0 + $1.counts.due } == 3)
        #expect(result.scenarios[0].interrupted == 2)
    }

    /// All requests of the limit may end between the end of the warm-up and the next tick.
    @Test func aLimitReachedBeforeTheNextTickHasABeginning() throws {
        var plan = LoadPlan.stub(.users(1, for: .seconds(100)))
        plan.warmUp = .seconds(2)
        plan.requestLimit = 1
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        let due = start + seconds(2.001)
        let ticket = try need(ledger.begin(0, due: due, due))
        ledger.end(ticket, answer, due + 1_000_000)
        let steps = [2.01, 2.02, 2.03].map { ledger.tick(start + seconds($0)) }
        #expect(steps == [.measure, .drain, .done])
        let result = result(ledger, plan, start + seconds(3))
        #expect(result.total.counts.answered == 1 && result.duration < .milliseconds(3))
    }

    /// The dispatcher wakes up some microseconds after an arrival is due. A stop in between is no lateness.
    @Test func anArrivalOfTheMomentOfAStopIsNotLate() throws {
        let plan = LoadPlan.stub(.arrivals(perSecond: 10, for: .seconds(100), maxUsers: 5))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        guard case .begin(let first) = ledger.dispatch(0, start) else {
            Issue.record("the first arrival is due at once")
            return
        }
        let ticket = try need(ledger.begin(0, due: start, start))
        ledger.end(ticket, answer, start + 1_000_000)
        ledger.end(first, .completed)
        _ = ledger.next(0, first.user, start + 1_000_000)
        ledger.stop(start + 100_050_000)
        _ = ledger.tick(start + 100_060_000)
        let result = result(ledger, plan, start + 100_060_000)
        #expect(result.total.counts.due == 1 && result.scenarios[0].neverStarted == 0)
    }

    @Test func aShareWithoutRequestsEndsAtOnce() throws {
        var plan = LoadPlan.stub(.users(3, for: .seconds(3600)))
        plan.requestLimit = 2
        plan.warmUp = .seconds(60)
        plan.share = try #require(LoadShare(number: 3, of: 3))
        var ledger = ledger(plan)
        #expect(ledger.tick(start) == .measure)
        #expect(ledger.usersToBegin(0, start).isEmpty)
        #expect(ledger.tick(start) == .drain)
        #expect(ledger.tick(start) == .done)
        let result = result(ledger, plan, start)
        #expect(result.total.counts.due == 0 && result.scenarios[0].started == 0)
    }

    /// Memory is bounded: intervals of 4 s after two hours.
    @Test func aLongRunHasLongerIntervals() throws {
        let plan = LoadPlan.stub(.users(1, for: .seconds(20_000)), weights: [1, 1])
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        for second in 0..<10_000 {
            let due = start + seconds(Double(second))
            let ticket = try need(ledger.begin(0, due: due, due))
            // A histogram visits all values below the recorded one. With milliseconds a debug build takes minutes.
            ledger.end(ticket, answer, due + 1000)
        }
        // A name that is quiet for hours has the same intervals.
        let last = try need(ledger.begin(1, due: start + seconds(9999), start + seconds(9999)))
        ledger.end(last, answer, start + seconds(9999.5))
        let result = result(ledger, plan, start + seconds(10_000))
        #expect(result.interval == .seconds(4))
        #expect(result.requests[0].intervals.map(\.index) == Array(0..<2500))
        #expect(result.requests[0].intervals.allSatisfy { $0.counts.answered == 4 && $0.latency.count == 4 })
        #expect(result.requests[0].latency.count == 10_000)
        #expect(result.requests[1].intervals.map(\.index) == [2499])
        // The live view still has seconds.
        let snapshot = ledger.snapshot(start + seconds(10_000), planned: .seconds(20_000))
        #expect(snapshot.interval == .seconds(1) && snapshot.recent.allSatisfy { $0.answered == 1 })
    }

    /// What is answered in the grace period is in no interval of the measured part, also where that ends within one.
    @Test func theGracePeriodHasIntervalsOfItsOwn() throws {
        let plan = LoadPlan.stub(.users(1, for: .milliseconds(2500)))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        let tickets = try (0..<3).map { _ in try need(ledger.begin(0, due: start, start)) }
        ledger.end(tickets[0], answer, start + seconds(2.4))
        #expect(ledger.tick(start + seconds(2.5)) == .drain)
        ledger.end(tickets[1], answer, start + seconds(2.6))
        ledger.end(tickets[2], answer, start + seconds(4.1))
        let result = result(ledger, plan, start + seconds(5))
        #expect(result.total.intervals.map(\.index) == [2, 3, 4])
        let rate = try #require(LoadThreshold(.rate, .greater, 0).outcome(in: result).measured)
        #expect(abs(rate - 0.4) < 1e-9)
    }

    /// 3,600 million arrivals that never began are counted without looking at each.
    @Test func manyArrivalsAreCountedTogether() throws {
        let shape = LoadShape.arrivals(perSecond: 1_000_000, for: .seconds(3600), maxUsers: 10)
        var sum: UInt64 = 0
        for number in 1...2 {
            var plan = LoadPlan.stub(shape, weights: [1, 0, 3])
            plan.share = try #require(LoadShare(number: number, of: 2))
            plan.gracePeriod = .zero
            var ledger = ledger(plan)
            _ = ledger.tick(start)
            _ = ledger.tick(start + seconds(3601))
            #expect(ledger.tick(start + seconds(3601)) == .done)
            let result = result(ledger, plan, start + seconds(3601))
            let counts = result.requests.map(\.counts.neverSent)
            let all = counts.reduce(0, +)
            #expect(counts[1] == 0 && abs(Double(counts[2]) / Double(all) - 0.75) < 0.001)
            #expect(result.total.latency.count == all && result.scenarios[0].neverStarted == all)
            // Half of them waited for more than half an hour.
            #expect(abs(Double(result.total.latency.value(at: 50)) / 1e9 - 1801) < 10)
            sum += all
        }
        #expect(sum == 3_600_000_000)
    }

    @Test func theLimitHoldsForWhatNeverBegan() throws {
        var plan = LoadPlan.stub(.arrivals(perSecond: 1_000_000, for: .seconds(60), maxUsers: 10))
        plan.requestLimit = 500_000
        plan.gracePeriod = .zero
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        _ = ledger.tick(start + seconds(61))
        #expect(ledger.tick(start + seconds(61)) == .done)
        #expect(result(ledger, plan, start + seconds(61)).total.counts.due == 500_000)
    }

    /// Users of the warm-up alone are not those of the measured part.
    @Test func theWarmUpLeavesNoUsers() {
        var plan = LoadPlan.stub(.users(5, for: .seconds(10)))
        plan.warmUp = .seconds(10)
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        let users = ledger.usersToBegin(0, start)
        #expect(users.count == 5)
        for user in users.dropLast() {
            ledger.end(user, .completed)
            ledger.leave(user)
        }
        #expect(ledger.tick(start + seconds(10)) == .measure)
        #expect(result(ledger, plan, start + seconds(11)).scenarios[0].peakUsers == 1)
    }

    /// Open model: the data of the only user have ended. The arrivals that follow never start, and nobody was busy.
    @Test func arrivalsWithoutUsersNeverStart() throws {
        var plan = LoadPlan.stub(.arrivals(perSecond: 10, for: .seconds(1), maxUsers: 1))
        plan.gracePeriod = .zero
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        guard case .begin(let iteration) = ledger.dispatch(0, start) else {
            Issue.record("the first arrival is due at once")
            return
        }
        ledger.end(iteration, .failed)
        ledger.leave(iteration)
        guard case .over = ledger.dispatch(0, start + seconds(0.5)) else {
            Issue.record("there is no user left")
            return
        }
        _ = ledger.tick(start + seconds(1))
        #expect(ledger.tick(start + seconds(1)) == .done)
        let result = result(ledger, plan, start + seconds(1))
        #expect(result.scenarios[0].failed == 1 && result.scenarios[0].neverStarted == 9)
        #expect(result.total.counts.neverSent == 9)
        let limits = GeneratorHealth.limits(
            of: result, GeneratorHealth(), threads: nil, users: [0], lackedDescriptors: 0)
        #expect(limits.isEmpty)
        let failed = LoadThreshold(.iterations, .less, 0.01).outcome(in: result)
        #expect(failed.measured == 1 && !failed.isMet)
    }
}
