import Errand
import ErrandLoad
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Synchronization
import Testing

/// Runs against a server on loopback. No test checks how fast anything is.
@Suite(.timeLimit(.minutes(20))) struct LoadRunTests {
    private final class SeenRows: Sendable {
        /// By the number of the user.
        let names = Mutex<[Int: Set<String>]>([:])
    }

    private final class SeenIndexes: Sendable {
        /// By the number of the iteration.
        let rows = Mutex<[Int: Int]>([:])
    }

    private final class UnderWay: Sendable {
        let run = Mutex<LoadRun?>(nil)
    }

    private func sums(_ result: LoadResult) -> Bool {
        let total = result.total
        let counts = total.counts
        let inIntervals = total.intervals.reduce(into: LoadCounts()) { $0 += $1.counts }
        return counts == inIntervals && total.latency.count == counts.due
            && counts.answered == total.statuses.values.reduce(0, +)
    }

    @Test func allRequestsAreAnswered() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        var plan = server.plan(.users(4, for: .seconds(3600)))
        plan.requestLimit = 300
        let run = try LoadRun(plan)
        let result = try await run.run()
        #expect(result.total.counts.answered == 300 && result.total.counts.due == 300 && sums(result))
        #expect(server.counts.requests == 300 && server.counts.connections <= 4)
        #expect(result.total.statuses == [200: 300] && result.total.attempts == 300)
        #expect(result.scenarios[0].resilience == nil)
        let traffic = result.total.traffic
        #expect(traffic.bodyBytesReceived == 600)
        let received = traffic.headBytesReceived + traffic.bodyBytesReceived
        // It counts what it has sent after the client may have it.
        try await waitUntil("the server has counted its last response") { server.counts.bytesSent >= Int(received) }
        #expect(received == UInt64(server.counts.bytesSent))
        #expect(traffic.headBytesSent == UInt64(server.counts.bytesReceived) && traffic.bodyBytesSent == 0)
        #expect(result.total.serviceTime.count == 300)
        #expect(result.total.phases.firstByte.count == 300)
        #expect(result.scenarios[0].completed == 300 && result.scenarios[0].peakUsers == 4)
        #expect(result.generators.count == 1 && result.generators[0].loops >= 1)
        #expect(run.snapshot.phase == .done && run.snapshot.counts.answered == 300)
        await #expect(throws: LoadRunError.hasRun) { try await run.run() }
    }

    /// Redirects are requests of their own on the wire, and each user's cookies are part of the head.
    @Test func bytesOfRedirectsAndCookies() async throws {
        let server = try ScriptedServer()
        try server.answers("/from", status: 302, fields: "Location: /to\r\nSet-Cookie: user=1; Path=/\r\n")
        try server.answers("/to")
        var plan = server.plan(.users(2, for: .seconds(3600)), cookies: .memory) { user in
            try await user.run(RawCommand(url: "from"), named: "moved")
        }
        plan.requestLimit = 20
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.answered == 20 && result.total.attempts == 40)
        let traffic = result.total.traffic
        let received = traffic.headBytesReceived + traffic.bodyBytesReceived
        // It counts what it has sent after the client may have it.
        try await waitUntil("the server has counted its last response") { server.counts.bytesSent >= Int(received) }
        #expect(received == UInt64(server.counts.bytesSent))
        #expect(traffic.headBytesSent == UInt64(server.counts.bytesReceived) && traffic.bodyBytesSent == 0)
    }

    @Test func bytesOfBodies() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let command = RawCommand(
            method: .post, url: server.url("/"), body: .data(Data(repeating: 1, count: 1000), contentType: nil))
        let scenario = LoadScenario(
            "main", shape: .users(2, for: .seconds(3600)), configuration: Client.Configuration(),
            requests: [WeightedRequest(command)])
        var plan = LoadPlan("test", scenarios: [scenario])
        plan.requestLimit = 20
        let traffic = try await LoadRun(plan).run().total.traffic
        #expect(traffic.bodyBytesSent == 20_000)
        #expect(traffic.headBytesSent + 20_000 == UInt64(server.counts.bytesReceived))
    }

    @Test func retriesAreCountedByReason() async throws {
        let server = try ScriptedServer()
        try server.answers("/", status: 503)
        try server.answers("/")
        var plan = server.plan(.users(1, for: .seconds(3600)))
        plan.scenarios[0].configuration.resilience = Resilience(retry: RetryPolicy(), budget: nil)
        plan.requestLimit = 5
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.answered == 5 && result.total.attempts == 6 && sums(result))
        let resilience = try #require(result.scenarios[0].resilience)
        #expect(resilience.retries == ["status503": 1])
        #expect(resilience.hedges == 0 && resilience.refusedByBreaker == 0)
        // The retry's head is that of the request.
        #expect(result.total.traffic.headBytesSent == UInt64(server.counts.bytesReceived))
    }

    /// The users of a scenario have clients of their own, and one count.
    @Test func theClientsOfUsersHaveOneCount() async throws {
        let server = try ScriptedServer()
        try server.answers("/", status: 503)
        var plan = server.plan(.users(3, for: .seconds(3600)), cookies: .memory) { user in
            try await user.run(RawCommand(url: "/"))
        }
        plan.scenarios[0].configuration.resilience = Resilience(retry: RetryPolicy(maxAttempts: 2), budget: nil)
        plan.requestLimit = 6
        let result = try await LoadRun(plan).run()
        #expect(result.total.attempts == 12 && result.scenarios[0].resilience?.retries == ["status503": 6])
    }

    @Test func onePercentOfErrors() async throws {
        let server = try ScriptedServer()
        for number in 1...500 { try server.answers("/", status: number % 100 == 0 ? 500 : 200) }
        var plan = server.plan(.users(3, for: .seconds(3600)))
        plan.requestLimit = 500
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.answered == 500 && result.total.rejected == 5 && sums(result))
        #expect(result.total.errorCount == 5)
        #expect(result.total.errors == [LoadError(kind: "statusNotAccepted", phase: .check): 5])
        #expect(result.total.statuses == [200: 495, 500: 5])
    }

    @Test func lostConnectionsAreFailures() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.close])
        var plan = server.plan(.users(2, for: .seconds(3600)))
        plan.requestLimit = 20
        let result = try await LoadRun(plan).run()
        // They had a connection, so their wait counts.
        #expect(result.total.counts.failed == 20 && sums(result))
        #expect(result.total.errors.keys.allSatisfy { $0.phase == .firstByte }, "\(result.total.errors)")
        #expect(result.total.errors.values.reduce(0, +) == 20 && !result.failures.isEmpty)
    }

    @Test func aKnownDelay() async throws {
        let server = try ScriptedServer()
        try server.answers("/", after: 30)
        var plan = server.plan(.users(2, for: .seconds(3600)))
        plan.requestLimit = 20
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.answered == 20)
        #expect(result.total.latency.min > 29_000_000 && result.total.phases.firstByte.min > 28_000_000)
    }

    @Test func timeoutsCountWithTheirWait() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.stall])
        var plan = server.plan(.users(2, for: .seconds(3600)))
        plan.scenarios[0].configuration.timeouts = Timeouts(total: .after(.milliseconds(50)))
        plan.requestLimit = 6
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.timedOut == 6 && sums(result))
        #expect(result.total.latency.count == 6 && result.total.latency.min > 48_000_000)
        server.release()
    }

    @Test func aStallAtTheEndIsUnfinished() async throws {
        let result = try await withEnoughTime("three requests have arrived") { time in
            let server = try ScriptedServer()
            defer { server.release() }
            try server.on("/", [.stall])
            var plan = server.plan(.users(3, for: time))
            plan.scenarios[0].configuration.timeouts = Timeouts(idle: .noLimit)
            plan.gracePeriod = .milliseconds(100)
            let result = try await LoadRun(plan).run()
            return server.counts.requests == 3 ? result : nil
        }
        #expect(result.total.counts.unfinished == 3 && result.total.counts.due == 3 && sums(result))
        // They were sent before the end, and cancelled after the grace period.
        #expect(result.total.latency.count == 3 && result.total.latency.min > 95_000_000)
        #expect(result.scenarios[0].interrupted == 3 && !result.isInterrupted)
    }

    @Test func arrivalsBeyondTheUsersWait() async throws {
        let (result, due) = try await withEnoughTime("both users have sent a request") { time in
            let server = try ScriptedServer()
            defer { server.release() }
            try server.on("/", [.stall])
            var plan = server.plan(.arrivals(perSecond: 100, for: time, maxUsers: 2))
            plan.scenarios[0].configuration.timeouts = Timeouts(idle: .noLimit)
            plan.gracePeriod = .milliseconds(50)
            let result = try await LoadRun(plan).run()
            return server.counts.requests == 2 ? (result, UInt64(time / .milliseconds(10))) : nil
        }
        #expect(result.total.counts.due == due && sums(result))
        #expect(result.total.counts.unfinished == 2 && result.total.counts.neverSent == due - 2)
        #expect(result.total.latency.count == due)
        #expect(result.generators[0].limits.contains(.users(scenario: "main", count: due - 2)))
    }

    @Test func arrivalsOfShares() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        var due: UInt64 = 0
        for number in 1...3 {
            var plan = server.plan(.arrivals(perSecond: 200, for: .milliseconds(250), maxUsers: 60))
            plan.share = try #require(LoadShare(number: number, of: 3))
            let result = try await LoadRun(plan).run()
            #expect(sums(result) && result.shares == [plan.share])
            due += result.total.counts.due
        }
        #expect(due == 50)
    }

    @Test func warmUpIsNotCounted() async throws {
        let result = try await withEnoughTime("the warm-up has sent a request") { time in
            let server = try ScriptedServer()
            try server.answers("/")
            var plan = server.plan(.users(2, for: .seconds(3600)))
            plan.warmUp = time
            plan.requestLimit = 50
            let result = try await LoadRun(plan).run()
            return server.counts.requests > 50 ? result : nil
        }
        #expect(result.total.counts.due == 50 && sums(result))
    }

    /// An iteration that begins in the warm-up may end after it: its requests of then count, and so do their checks.
    @Test func checksAreCountedAsTheirRequests() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        let underWay = UnderWay()
        let result = try await withEnoughTime("an iteration has gone on after the warm-up") { time in
            var plan = server.plan(.users(1, for: time)) { user in
                try await user.run(RawCommand(url: "/"), named: "first")
                user.check("first", true)
                try await waitUntil("the warm-up is over") {
                    underWay.run.withLock { $0 }?.snapshot.phase != .warmingUp
                }
                try await user.run(RawCommand(url: "/"), named: "second")
                user.check("second", true)
            }
            plan.warmUp = time
            let run = try LoadRun(plan)
            underWay.run.withLock { $0 = run }
            defer { underWay.run.withLock { $0 = nil } }
            let result = try await run.run()
            // The first request of the first iteration belongs to the warm-up, unless the machine is very late.
            return answers(result)["second", default: 0] > 0 ? result : nil
        }
        let passed = Dictionary(result.checks.map { ($0.name, $0.passed) }) { first, _ in first }
        #expect(passed == answers(result).filter { $0.value > 0 }, "\(passed) \(answers(result))")
    }

    private func answers(_ result: LoadResult) -> [String: UInt64] {
        Dictionary(result.requests.map { ($0.name, $0.counts.answered) }) { first, _ in first }
    }

    @Test func usersHaveCookiesOfTheirOwn() async throws {
        let server = try ScriptedServer()
        for user in 1...3 { try server.answers("/login/\(user)", fields: "Set-Cookie: user=\(user); Path=/\r\n") }
        try server.answers("/who")
        let began = ContinuousClock.now
        var plan = server.plan(.users(3, for: .seconds(3600)), cookies: .memory) { user in
            if user.iteration == 0 { try await user.run(RawCommand(url: "login/\(user.number)"), named: "login") }
            try await user.run(RawCommand(url: "who?\(user.number)"), named: "who")
        }
        plan.requestLimit = 30
        let result = try await LoadRun(plan).run()
        #expect(result.requests.map(\.name).sorted() == ["login", "who"])
        #expect(result.total.counts.answered == 30)
        for request in server.requests where request.target.hasPrefix("/who") {
            let user = request.target.dropFirst("/who?".count)
            #expect(request.values(of: "Cookie") == ["user=\(user)"])
        }
        // The core closes a connection that was idle for 50 seconds.
        #expect(server.counts.connections <= 3 || ContinuousClock.now - began > .seconds(45))
    }

    @Test func aVisitorOfTheOpenModelBeginsWithoutCookies() async throws {
        let server = try ScriptedServer()
        try server.answers("/", fields: "Set-Cookie: a=1; Path=/\r\n")
        let result = try await withEnoughTime("two iterations have begun") { time in
            var plan = server.plan(.arrivals(perSecond: 100, for: time, maxUsers: 1), cookies: .memory) { user in
                try await user.run(RawCommand(url: "/?first"), named: "first")
                try await user.run(RawCommand(url: "/?second"), named: "second")
            }
            plan.gracePeriod = .seconds(3600)
            let result = try await LoadRun(plan).run()
            return result.scenarios[0].started >= 2 ? result : nil
        }
        #expect(result.scenarios[0].completed == result.scenarios[0].started)
        for request in server.requests {
            #expect(request.values(of: "Cookie") == (request.target == "/?first" ? [] : ["a=1"]))
        }
    }

    @Test func checksAndErrorsOfSteps() async throws {
        struct Broken: Error {}
        let server = try ScriptedServer()
        try server.answers("/")
        var plan = server.plan(.users(1, for: .seconds(3600))) { user in
            let response = try await user.run(RawCommand(url: "/"), named: "get")
            user.check("body", response.body.count == 2)
            user.check("odd", user.iteration % 2 == 1)
            if user.iteration == 3 { throw Broken() }
        }
        plan.requestLimit = 10
        let result = try await LoadRun(plan).run()
        #expect(result.checks.count == 2 && result.checks[0].passed == 10)
        #expect(result.checks[1].passed == 5 && result.checks[1].failed == 5)
        #expect(result.total.rejected == 5 && result.total.counts.answered == 10)
        #expect(result.scenarios[0].failed == 1)
        #expect(result.failures.contains { $0.contains("Broken") })
    }

    @Test func usersReadTheirRows() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        let seen = SeenRows()
        var plan = server.plan(.users(2, for: .seconds(3600))) { user in
            let row = try user.row(of: "names")
            let name = row["name"] ?? ""
            #expect(try user.row(of: "names").index == row.index)
            seen.names.withLock { _ = $0[user.number, default: []].insert(name) }
            try await user.run(RawCommand(url: "/"), named: "get")
        }
        plan.scenarios[0].data = [
            try .csv(Array("name\nada\nbob\n".utf8), named: "names", order: .uniquePerUser)
        ]
        plan.requestLimit = 20
        _ = try await LoadRun(plan).run()
        let names = seen.names.withLock { $0 }
        #expect(!names.isEmpty && names.allSatisfy { $0.value == ($0.key == 1 ? ["ada"] : ["bob"]) }, "\(names)")
    }

    @Test func anExhaustedFeedEndsItsUsers() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        // The run ends when its users have left.
        var plan = server.plan(.users(2, for: .seconds(3600))) { user in
            _ = try user.row(of: "names")
            try await user.run(RawCommand(url: "/"), named: "get")
        }
        plan.scenarios[0].data = [try LoadData(named: "names", rows: [["n": "1"], ["n": "2"]], atEnd: .fail)]
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.answered == 2)
        #expect(result.scenarios[0].completed == 2 && result.scenarios[0].failed == 2)
        #expect(result.failures.contains { $0.contains("names") })
    }

    /// Open model: each user leaves when it gets no row, and the arrivals that follow never start.
    @Test func anExhaustedFeedEndsTheUsersOfArrivals() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        let (result, arrivals) = try await withEnoughTime("all three users have left") { time in
            var plan = server.plan(.arrivals(perSecond: 100, for: time, maxUsers: 3)) { user in
                _ = try user.row(of: "names")
                try await user.run(RawCommand(url: "/"), named: "get")
            }
            plan.scenarios[0].data = [try LoadData(named: "names", rows: [["n": "1"], ["n": "2"]], atEnd: .fail)]
            let result = try await LoadRun(plan).run()
            return result.scenarios[0].failed == 3 ? (result, UInt64(time / .milliseconds(10))) : nil
        }
        // Two had a row, and three got none.
        #expect(result.total.counts.answered == 2 && result.total.counts.due == arrivals - 3 && sums(result))
        #expect(result.scenarios[0].neverStarted == arrivals - 5)
        #expect(!result.generators[0].limits.contains(.users(scenario: "main", count: arrivals - 5)))
    }

    /// Iterations that fail before they send anything do not run for ever, and use no CPU meanwhile.
    @Test func aRunThatCanSendNothingIsGivenUp() async throws {
        struct Broken: Error {}
        let server = try ScriptedServer()
        var plan = server.plan(.users(60, for: .seconds(3600))) { _ in throw Broken() }
        plan.requestLimit = 100
        do {
            _ = try await LoadRun(plan).run()
            Issue.record("the run has a result")
        } catch {
            guard case .noRequest(let iterations, let reason) = error as any Error as? LoadRunError else { throw error }
            #expect(iterations == 100 && reason.contains("Broken"))
        }
        #expect(server.counts.requests == 0)
    }

    /// The texts of failures of the warm-up are not those of the measured part.
    @Test func theWarmUpLeavesNoFailures() async throws {
        struct Broken: Error {}
        let server = try ScriptedServer()
        try server.answers("/")
        let seen = SeenIndexes()
        let (result, plan) = try await withEnoughTime("the warm-up has had its failure") { time in
            var plan = server.plan(.users(1, for: .seconds(3600))) { user in
                try await user.run(RawCommand(url: "/"), named: "get")
                if user.iteration == 0 { throw Broken() }
                seen.rows.withLock { $0[user.iteration] = 0 }
            }
            plan.warmUp = time
            plan.requestLimit = 5
            seen.rows.withLock { $0 = [:] }
            let result = try await LoadRun(plan).run()
            // The second iteration has begun in the warm-up, too.
            return seen.rows.withLock { $0.count } > 5 ? (result, plan) : nil
        }
        #expect(result.total.counts.answered == 5 && result.failures.isEmpty, "\(result.failures)")
        #expect(result.scenarios[0].failed == 0 && result.fingerprint == plan.fingerprint)
    }

    /// Open model: an arrival takes whatever user is free, and its random row is that of the arrival.
    @Test func rowsOfArrivalsDoNotDependOnTheUser() async throws {
        let server = try ScriptedServer()
        try server.answers("/", after: 5)
        let found = try await withEnoughTime("both runs have sent two of the same arrivals") { time in
            var found: [[Int: Int]] = []
            for most in [1, 8] {
                let seen = SeenIndexes()
                var plan = server.plan(.arrivals(perSecond: 100, for: time, maxUsers: most)) { user in
                    let row = try user.row(of: "names").index
                    seen.rows.withLock { $0[user.iteration] = row }
                    try await user.run(RawCommand(url: "/"), named: "get")
                }
                let rows = (0..<1000).map { ["n": "\($0)"] }
                plan.scenarios[0].data = [try LoadData(named: "names", rows: rows, order: .random)]
                _ = try await LoadRun(plan).run()
                found.append(seen.rows.withLock { $0 })
            }
            return Set(found[0].keys).intersection(found[1].keys).count > 1 ? found : nil
        }
        let common = Set(found[0].keys).intersection(found[1].keys)
        #expect(common.allSatisfy { found[0][$0] == found[1][$0] })
    }

    /// A server that stalls for a second in the middle of the run. What was due meanwhile counts from when it was due, also
    /// where no user was free.
    @Test func aStallInTheMiddle() async throws {
        let server = try ScriptedServer()
        for _ in 0..<100 { try server.answers("/") }
        try server.on("/", [.stall, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        // The limit ends the run, so the time that a busy machine takes to see and end the stall does not. Commands are
        // sent without a task, which could wait for its turn.
        var plan = server.plan(.arrivals(perSecond: 100, for: .seconds(3600), maxUsers: 2))
        plan.scenarios[0].configuration.timeouts = Timeouts(idle: .noLimit)
        plan.requestLimit = 500
        let run = try LoadRun(plan)
        async let ended = run.run()
        try await waitUntil("both users wait for the server") { server.counts.requests == 102 }
        let begin = run.snapshot.elapsed
        try await waitUntil("the stall has lasted a second") { run.snapshot.elapsed >= begin + .seconds(1) }
        server.release()
        let result = try await ended
        #expect(result.total.counts.answered == 500 && result.total.counts.due == 500 && sums(result))
        // A tool that waits would have two slow requests. Half of those of the stall waited for half a second or more.
        let slow = result.total.latency.counts.filter { $0.value >= 500_000_000 }.reduce(0) { $0 + $1.count }
        #expect(slow >= 45, "\(slow)")
        #expect(result.total.userWait.max >= 900_000_000 && result.total.userWait.count == 500)
    }

    /// One service has one breaker, also where each user has a client of its own.
    @Test func usersShareABreaker() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.close])
        var plan = server.plan(.users(4, for: .seconds(3600)), cookies: .memory) { user in
            try await user.run(RawCommand(url: "/"), named: "get")
        }
        plan.scenarios[0].configuration.resilience = Resilience(
            breaker: BreakerPolicy(window: .time(.seconds(3600)), minimumCalls: 20, openTime: .seconds(3600)))
        plan.requestLimit = 200
        let result = try await LoadRun(plan).run()
        #expect(result.total.counts.failed == 200)
        // With a breaker for each of the four users the server would see 20 requests of each of them.
        #expect((20..<40).contains(server.counts.requests), "\(server.counts.requests)")
    }

    /// Each user has a request under way, and a hedge beside it.
    @Test func hedgesHaveAPlace() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.stall, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        var plan = server.plan(.users(70, for: .seconds(3600)))
        plan.requestLimit = 70
        plan.scenarios[0].configuration.timeouts = Timeouts(idle: .noLimit)
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(10)), budget: RetryBudget.Policy(ratio: 1, floorPerSecond: 1000))
        plan.scenarios[0].configuration.resilience = Resilience(budget: nil, hedge: hedge)
        let run = try LoadRun(plan)
        async let ended = run.run()
        try await waitUntil("a hedge of each request is sent") { server.counts.requests == 140 }
        server.release()
        let result = try await ended
        #expect(result.total.counts.answered == 70 && result.scenarios[0].resilience?.hedges == 70)
    }

    @Test func stopEndsWell() async throws {
        let server = try ScriptedServer()
        try server.on("/", [.stall])
        var plan = server.plan(.users(3, for: .seconds(600)))
        plan.scenarios[0].configuration.timeouts = Timeouts(idle: .noLimit)
        let run = try LoadRun(plan)
        async let result = run.run()
        try await waitUntil("three requests have arrived") { server.counts.requests == 3 }
        #expect(run.snapshot.phase == .measuring && run.snapshot.inFlight == 3)
        run.stop()
        let ended = try await result
        #expect(ended.isInterrupted && ended.total.counts.unfinished == 3 && sums(ended))
        server.release()
    }

    @Test func stepsAreCancelledAtTheEnd() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        let plan = server.plan(.users(2, for: .seconds(600))) { user in
            try await user.run(RawCommand(url: "/"), named: "get")
            try await user.think(.seconds(600))
        }
        let run = try LoadRun(plan)
        async let ended = run.run()
        try await waitUntil("both users think") { run.snapshot.counts.answered == 2 }
        run.stop()
        let result = try await ended
        #expect(result.scenarios[0].interrupted == 2 && result.total.counts.answered == 2)
    }

    @Test func aThresholdEndsTheRun() async throws {
        let server = try ScriptedServer()
        try server.answers("/", status: 500, after: 5)
        var plan = server.plan(.users(1, for: .seconds(600)))
        plan.thresholds = [LoadThreshold(.errors, .less, 0.01, aborts: true)]
        let result = try await LoadRun(plan).run()
        #expect(result.abortedBy != nil && !result.isInterrupted)
        #expect(result.thresholds.count == 1 && result.thresholds[0].isMet == false)
    }

    @Test func aStartInThePast() async throws {
        let server = try ScriptedServer()
        var plan = server.plan(.users(1, for: .seconds(1)))
        plan.start = Date(timeIntervalSinceNow: -10)
        let run = try LoadRun(plan)
        do {
            _ = try await run.run()
            Issue.record("the run has begun")
        } catch {
            guard case .startIsPast(let time) = error as any Error as? LoadRunError else { throw error }
            #expect(time >= .seconds(10))
            let short = LoadRunError.startIsPast(by: .nanoseconds(58_813_929))
            #expect(short.description == "the start of the plan has passed by 58.8 ms")
        }
        #expect(server.counts.requests == 0)
    }

    @Test func aStartInTheFuture() async throws {
        let server = try ScriptedServer()
        try server.answers("/")
        let (result, start) = try await withEnoughTime("the run has begun before its start") {
            time -> (LoadResult, Date)? in
            var plan = server.plan(.users(1, for: .seconds(3600)))
            let start = Date(timeIntervalSinceNow: time / .seconds(1))
            plan.start = start
            plan.requestLimit = 5
            let run = try LoadRun(plan)
            do throws(LoadRunError) {
                return (try await run.run(), start)
            } catch {
                guard case .startIsPast = error else { throw error }
                return nil
            }
        }
        #expect(result.total.counts.answered == 5)
        #expect(Date() >= start)
    }

    @Test func weightedRequestsOfTwoNames() async throws {
        let server = try ScriptedServer()
        try server.answers("/a")
        try server.answers("/b")
        var plan = server.plan(.users(2, for: .seconds(3600)), ["/a", "/b"])
        plan.requestLimit = 200
        let result = try await LoadRun(plan).run()
        #expect(result.requests.map(\.name) == ["/a", "/b"])
        #expect(result.requests.allSatisfy { $0.counts.answered > 50 } && result.total.counts.due == 200)
    }
}
