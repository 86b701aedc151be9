import ErrandLoad
import FoundationEssentials
import Testing

/// Merged results of shares of one plan: exact sums.
@Suite(.timeLimit(.minutes(20))) struct LoadMergeTests {
    private func share(_ number: Int, of count: Int) throws -> LoadShare {
        try #require(LoadShare(number: number, of: count))
    }

    @Test func countsAndHistogramsAreAdded() throws {
        var first = SampleResult.result(share: try share(1, of: 2))
        var second = SampleResult.result(seconds: 4, share: try share(2, of: 2))
        second.requests[0].latency.record(7_000_000)
        second.failures = ["refused"]
        second.checks[0].name = "another check"
        for text in ["rate>20", "never_sent<1%"] {
            let threshold = try LoadThreshold(parsing: text)
            first.thresholds.append(threshold.outcome(in: first))
            second.thresholds.append(threshold.outcome(in: second))
        }
        #expect(!first.thresholds[0].isMet)
        let merged = try LoadResult.merged([first, second])
        let halves = try [share(1, of: 2), share(2, of: 2)]
        #expect(merged.shares == halves)
        #expect(merged.missingShares.isEmpty)
        #expect(merged.duration == .seconds(10))
        #expect(merged.requests.map(\.name) == ["login", "order"])
        #expect(merged.requests[0].counts.answered == 126)
        #expect(merged.requests[0].counts.due == 140)
        #expect(merged.requests[0].statuses == [200: 112, 500: 14])
        #expect(merged.requests[0].errors == [LoadError(kind: "timeoutTotal", phase: .firstByte): 14])
        #expect(merged.requests[0].traffic.bodyBytesReceived == 70_000)
        var latency = first.requests[0].latency
        latency.add(second.requests[0].latency)
        #expect(merged.requests[0].latency == latency)
        #expect(merged.requests[0].latency.count == 141)
        #expect(merged.requests[0].intervals.map(\.counts.answered) == [18, 18, 18, 18, 9, 9, 9, 9, 9, 9])
        #expect(merged.requests[0].intervals[0].latency.count == 20)
        #expect(merged.scenarios.map(\.started) == [24])
        #expect(merged.checks.map(\.name) == ["status is 200", "another check"])
        #expect(merged.generators.count == 2)
        #expect(merged.failures == ["refused"])
        // 252 answered in 10 s: met by the sum only.
        #expect(merged.thresholds.map(\.measured) == [25.2, 0])
        #expect(merged.thresholds.map(\.isMet) == [true, true])
    }

    @Test func whatResilienceDidIsAdded() throws {
        var first = SampleResult.result(share: try share(1, of: 3))
        let second = SampleResult.result(share: try share(2, of: 3))
        var third = SampleResult.result(share: try share(3, of: 3))
        var counts = LoadResilience()
        counts.retries = ["status503": 3]
        counts.hedges = 2
        first.scenarios[0].resilience = counts
        counts.retries = ["status503": 1, "timeout": 5]
        counts.hedgesWon = 1
        counts.refusedByBreaker = 4
        third.scenarios[0].resilience = counts
        let merged = try LoadResult.merged([second, first, third]).scenarios[0].resilience
        #expect(merged?.retries == ["status503": 4, "timeout": 5])
        #expect(merged?.hedges == 4 && merged?.hedgesWon == 1 && merged?.refusedByBreaker == 4)
        #expect(try LoadResult.merged([second]).scenarios[0].resilience == nil)
    }

    @Test func oneResultIsItself() throws {
        let result = SampleResult.result()
        #expect(try LoadResult.merged([result]) == result)
        #expect(try LoadResult.merged([LoadResult(json: result.json)]) == result)
    }

    /// The second run began 3.4 s later: its intervals are shifted by three.
    @Test func intervalsAreAlignedByTheStart() throws {
        let first = SampleResult.result(seconds: 5, share: try share(1, of: 3))
        var second = SampleResult.result(seconds: 5, share: try share(3, of: 3))
        second.start = first.start.addingTimeInterval(3.4)
        let missing = try [share(2, of: 3)]
        for results in [[first, second], [second, first]] {
            do throws(LoadMergeError) {
                _ = try LoadResult.merged(results)
                Issue.record("parts that did not run together were merged")
            } catch {
                guard case .apart(second.shares[0], _) = error else { throw error }
                #expect(
                    error.description == "share 3 of 3 began 3.40 s after the first one: they did not run together")
            }
            let merged = try LoadResult.merged(results, allowsApart: true)
            #expect(merged.start == first.start)
            #expect(merged.requests[0].intervals.map(\.index) == Array(0..<8))
            #expect(merged.requests[0].intervals.map(\.counts.due) == [10, 10, 10, 20, 20, 10, 10, 10])
            #expect(merged.missingShares == missing)
        }
    }

    /// A run of more than an hour has longer intervals than a part of it that ended before.
    @Test func longerIntervalsAreTaken() throws {
        let first = SampleResult.result(share: try share(1, of: 2))
        var second = SampleResult.result(share: try share(2, of: 2))
        second.interval = .seconds(2)
        for place in second.requests.indices {
            second.requests[place].intervals = Array(second.requests[place].intervals.prefix(5))
        }
        let merged = try LoadResult.merged([first, second])
        #expect(merged.interval == .seconds(2))
        #expect(merged.requests[0].intervals.map(\.counts.due) == [30, 30, 30, 30, 30])
    }

    /// A part of a plan with fewer requests than parts.
    @Test func anEmptyPartHasNoTimeOfItsOwn() throws {
        let first = SampleResult.result(share: try share(1, of: 2))
        var second = SampleResult.empty
        second.plan = first.plan
        second.shares = [try share(2, of: 2)]
        for seconds in [-100.0, 100] {
            second.start = first.start.addingTimeInterval(seconds)
            let merged = try LoadResult.merged([second, first])
            #expect(merged.start == first.start && merged.missingShares.isEmpty)
            #expect(merged.requests[0].intervals == first.requests[0].intervals)
        }
    }

    @Test func whatDoesNotBelongTogetherIsRefused() throws {
        let one = try share(1, of: 2)
        let first = SampleResult.result(share: one)
        #expect(throws: LoadMergeError.nothing) { try LoadResult.merged([]) }
        #expect(throws: LoadMergeError.twice(one)) { try LoadResult.merged([first, first]) }
        var other = SampleResult.result(share: try share(2, of: 3))
        #expect(throws: LoadMergeError.shareCounts(2, 3)) { try LoadResult.merged([first, other]) }
        other.shares = [try share(2, of: 2)]
        other.plan = "other"
        #expect(throws: LoadMergeError.plans("shop plan", "other")) { try LoadResult.merged([first, other]) }
        other.plan = first.plan
        other.interval = .seconds(3)
        #expect(throws: LoadMergeError.intervals(.seconds(3), .seconds(1))) { try LoadResult.merged([first, other]) }
        other.interval = first.interval
        var planned = first
        (planned.fingerprint, other.fingerprint) = ("1", "2")
        #expect(throws: LoadMergeError.contents("shop plan")) { try LoadResult.merged([planned, other]) }
        other.fingerprint = nil
        other.start = first.start.addingTimeInterval(1e9)
        #expect(throws: LoadMergeError.starts) { try LoadResult.merged([first, other]) }
        other.start = first.start
        other.requests[0].counts.answered = .max
        #expect(throws: LoadMergeError.overflow) { try LoadResult.merged([first, other]) }
    }
}
