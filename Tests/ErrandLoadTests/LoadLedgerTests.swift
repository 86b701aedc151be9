import Errand
import ErrandLoad
import FoundationEssentials
import Testing

/// The ledger alone, with times that the tests set.
@Suite struct LoadLedgerTests: LedgerTesting {
    private let lost = LoadOutcome(.cancelled(LoadError(kind: "shutDown", phase: .firstByte)))

    @Test func warmUpIsNotCounted() throws {
        var plan = LoadPlan.stub(.users(1, for: .seconds(10)))
        plan.warmUp = .seconds(2)
        var ledger = ledger(plan)
        #expect(ledger.tick(start - 1) == .none && ledger.publicPhase == .waiting)
        #expect(ledger.tick(start) == .none && ledger.publicPhase == .warmingUp)
        let users = ledger.usersToBegin(0, start)
        #expect(users.count == 1)
        let first = try need(ledger.begin(0, due: start, start))
        // In flight when the measured part begins: due before, so not counted.
        #expect(ledger.tick(start + seconds(2)) == .measure)
        ledger.end(first, answer, start + seconds(3))
        let second = try need(ledger.begin(0, due: start + seconds(3), start + seconds(3)))
        ledger.end(second, answer, start + seconds(4))
        let total = result(ledger, plan, start + seconds(4)).total
        #expect(total.counts.due == 1 && total.counts.answered == 1)
        #expect(abs(Double(total.latency.max) / 1e9 - 1) < 0.002)
    }

    @Test func usersRampUpAndDown() {
        let plan = LoadPlan.stub(
            .users([
                LoadStage(from: 0, to: 4, for: .seconds(4)), LoadStage(from: 4, to: 0, for: .seconds(4)),
            ]))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        #expect(ledger.usersToBegin(0, start).isEmpty)
        var running: [Int: LoadLedger.Iteration] = [:]
        for iteration in ledger.usersToBegin(0, start + seconds(2)) { running[iteration.user] = iteration }
        #expect(running.keys.sorted() == [0, 1])
        for iteration in ledger.usersToBegin(0, start + seconds(4)) { running[iteration.user] = iteration }
        #expect(running.keys.sorted() == [0, 1, 2, 3])
        // A user that is not wanted any more ends after its iteration; the others go on.
        let late = start + seconds(6)
        for (user, iteration) in running {
            ledger.end(iteration, .completed)
            let next = ledger.next(0, user, late)
            #expect((next != nil) == (user < 2))
            #expect(next.map { $0.number == 1 } ?? true)
        }
        #expect(result(ledger, plan, late).scenarios[0].peakUsers == 4)
        #expect(result(ledger, plan, late).scenarios[0].started == 6)
    }

    @Test func stallAtTheEndIsUnfinished() throws {
        var plan = LoadPlan.stub(.users(2, for: .seconds(10)))
        plan.gracePeriod = .seconds(5)
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        let users = ledger.usersToBegin(0, start)
        let tickets = try users.map { _ in try need(ledger.begin(0, due: start + seconds(9), start + seconds(9))) }
        #expect(ledger.tick(start + seconds(10)) == .drain)
        #expect(ledger.tick(start + seconds(14)) == .none)
        #expect(ledger.tick(start + seconds(15)) == .cut)
        for (user, ticket) in zip(users, tickets) {
            ledger.end(ticket, lost, start + seconds(15))
            ledger.end(user, .interrupted)
            #expect(ledger.next(0, user.user, start + seconds(15)) == nil)
        }
        #expect(ledger.tick(start + seconds(15)) == .done)
        let result = result(ledger, plan, start + seconds(20))
        #expect(result.duration == .seconds(10))
        #expect(result.total.counts.unfinished == 2 && result.total.counts.due == 2)
        // With what they waited: 6 s.
        #expect(result.total.latency.count == 2 && abs(Double(result.total.latency.min) / 1e9 - 6) < 0.01)
        #expect(result.scenarios[0].interrupted == 2)
    }

    @Test func arrivalsThatWereNotSentCountWithTheirWait() throws {
        var plan = LoadPlan.stub(.arrivals(perSecond: 10, for: .seconds(1), maxUsers: 1))
        plan.gracePeriod = .zero
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        guard case .begin(let iteration) = ledger.dispatch(0, start) else {
            Issue.record("the first arrival is due at once")
            return
        }
        let ticket = try need(ledger.begin(0, due: iteration.due, start))
        guard case .wait = ledger.dispatch(0, start + seconds(0.5)) else {
            Issue.record("no user is free")
            return
        }
        #expect(ledger.tick(start + seconds(1)) == .drain)
        #expect(ledger.tick(start + seconds(1)) == .cut)
        ledger.end(ticket, lost, start + seconds(1))
        ledger.end(iteration, .interrupted)
        #expect(ledger.next(0, iteration.user, start + seconds(1)) == nil)
        #expect(ledger.tick(start + seconds(2)) == .done)
        let result = result(ledger, plan, start + seconds(2))
        #expect(result.total.counts.due == 10)
        #expect(result.total.counts.unfinished == 1 && result.total.counts.neverSent == 9)
        #expect(result.scenarios[0].neverStarted == 9)
        // The second arrival was due after 0.1 s and waited for 1.9 s until the run was over.
        #expect(result.total.latency.count == 10)
        #expect(abs(Double(result.total.latency.max) / 1e9 - 1.9) < 0.01)
        let limits = GeneratorHealth.limits(
            of: result, GeneratorHealth(), threads: nil, users: [1], lackedDescriptors: 0)
        #expect(limits == [.users(scenario: "main", count: 9)])
    }

    @Test func aFreeUserTakesWhatIsDue() throws {
        let plan = LoadPlan.stub(.arrivals(perSecond: 10, for: .seconds(10), maxUsers: 1))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        guard case .begin(let first) = ledger.dispatch(0, start) else {
            Issue.record("the first arrival is due at once")
            return
        }
        let ticket = try need(ledger.begin(0, due: first.due, start))
        let late = start + seconds(1)
        ledger.end(ticket, answer, late)
        ledger.end(first, .completed)
        let second = try need(ledger.next(0, first.user, late))
        #expect(second.due == start + seconds(0.1))
        // Its latency counts from when it was due. It waited for the user, and then left at once.
        let next = try need(ledger.begin(0, due: second.due, free: second.free, late))
        ledger.end(next, answer, late + seconds(0.1))
        let total = result(ledger, plan, late + seconds(1)).total
        #expect(abs(Double(total.userWait.max) / 1e9 - 0.9) < 0.01)
        #expect(total.userWait.count == 2 && total.sendDelay.count == 2 && total.sendDelay.max == 0)
        #expect(abs(Double(total.serviceTime.min) / 1e9 - 0.1) < 0.01)
        #expect(abs(Double(total.latency.max) / 1e9 - 1) < 0.01)
    }

    @Test func theLimitIsExactAndDividedAmongShares() {
        var total: UInt64 = 0
        for number in 1...3 {
            var plan = LoadPlan.stub(.users(9, for: .seconds(10)))
            plan.requestLimit = 20
            plan.share = LoadShare(number: number, of: 3) ?? .whole
            var ledger = ledger(plan)
            _ = ledger.tick(start)
            var now = start
            var running = ledger.usersToBegin(0, now)
            #expect(running.count == 3)
            while !running.isEmpty {
                now += seconds(0.01)
                var tickets: [(LoadLedger.Iteration, LoadLedger.Ticket)] = []
                for iteration in running {
                    if let ticket = ledger.begin(0, due: now, now) {
                        tickets.append((iteration, ticket))
                    } else {
                        ledger.end(iteration, .interrupted)
                        #expect(ledger.next(0, iteration.user, now) == nil)
                    }
                }
                running = []
                for (iteration, ticket) in tickets {
                    ledger.end(ticket, answer, now)
                    ledger.end(iteration, .completed)
                    if let next = ledger.next(0, iteration.user, now) { running.append(next) }
                }
            }
            #expect(ledger.publicPhase == .draining)
            #expect(ledger.tick(now) == .done)
            total += result(ledger, plan, now).total.counts.due
        }
        #expect(total == 20)
    }

    @Test func errorsByKindAndPhase() throws {
        let plan = LoadPlan.stub(.users(1, for: .seconds(10)))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        let refused = LoadError(kind: "connectFailed", phase: .connect)
        let late = LoadError(kind: "timeoutTotal", phase: .firstByte)
        let status = LoadError(kind: "statusNotAccepted", phase: .check)
        for ending in [
            LoadOutcome.Ending.failed(refused), .timedOut(late), .rejected(status: 500, status), .answered(status: 200),
            .refused,
        ] {
            let ticket = try need(ledger.begin(0, due: start, start))
            ledger.end(ticket, LoadOutcome(ending), start + seconds(0.5))
        }
        let total = result(ledger, plan, start + seconds(2)).total
        #expect(total.counts.due == 5 && total.counts.answered == 2 && total.counts.failed == 1)
        #expect(total.counts.timedOut == 1 && total.counts.neverSent == 1 && total.rejected == 1)
        #expect(total.errors == [refused: 1, late: 1, status: 1])
        // A refused connection is quick, and no response.
        #expect(total.latency.count == 4)
        #expect(total.intervals.reduce(0) { $0 + $1.counts.due } == 5)
        #expect(total.intervals.reduce(0) { $0 + $1.latency.count } == 4)
    }

    @Test func intervalsAddUp() throws {
        let plan = LoadPlan.stub(.users(1, for: .seconds(100)))
        var ledger = ledger(plan)
        _ = ledger.tick(start)
        for number in 0..<50 {
            let due = start + seconds(Double(number) * 0.5)
            let ticket = try need(ledger.begin(0, due: due, due))
            ledger.end(ticket, answer, due + 1_000_000)
        }
        let total = result(ledger, plan, start + seconds(30)).total
        #expect(total.intervals.map(\.index) == Array(0..<25))
        #expect(total.intervals.allSatisfy { $0.counts.answered == 2 && $0.latency.count == 2 })
        #expect(
            ledger.snapshot(start + seconds(30), planned: .seconds(100)).recent.map(\.answered).allSatisfy { $0 == 2 })
    }

    @Test func weightsAreKeptBySharesTogether() throws {
        let shape = LoadShape.arrivals(perSecond: 1000, for: .seconds(1), maxUsers: 10)
        func counts(_ share: LoadShare) throws -> [UInt64] {
            var plan = LoadPlan.stub(shape, weights: [1, 3])
            plan.share = share
            plan.gracePeriod = .zero
            var ledger = ledger(plan)
            _ = ledger.tick(start)
            // Nothing is sent, so each arrival counts as never sent for the request that it would have been.
            _ = ledger.tick(start + seconds(2))
            #expect(ledger.tick(start + seconds(2)) == .done)
            return result(ledger, plan, start + seconds(2)).requests.map(\.counts.neverSent)
        }
        let whole = try counts(.whole)
        #expect(whole.reduce(0, +) == 1000 && (650...850).contains(whole[1]))
        let first = try counts(#require(LoadShare(number: 1, of: 2)))
        let second = try counts(#require(LoadShare(number: 2, of: 2)))
        #expect(zip(first, second).map { $0 + $1 } == whole)
    }
}
