import ErrandLoad
import ErrandTesting
import FoundationEssentials
import Testing

/// Verdicts on two results, which know the noise of the runs.
@Suite(.timeLimit(.minutes(20))) struct LoadComparisonTests {
    /// 40 seconds of 500 requests, with latencies of `milliseconds` and as much again at random, of which the share
    /// `errors` was rejected.
    private func result(_ milliseconds: Double, errors: Double = 0, rate: Int = 500, seconds: Int = 40, seed: UInt64)
        -> LoadResult
    {
        var random = SeededGenerator(seed: seed)
        var result = LoadResult(plan: "plan", start: SampleResult.start, duration: .seconds(seconds))
        var requests = RequestStatistics(scenario: "s", name: "n")
        for index in 0..<seconds {
            var interval = LoadInterval(index: index)
            var latencies: [UInt64: UInt64] = [:]
            for _ in 0..<rate + Int.random(in: -5...5, using: &random) {
                interval.counts.answered += 1
                if Double.random(in: 0..<1, using: &random) < errors { interval.rejected += 1 }
                // Tenths of a millisecond.
                let tenths = (milliseconds * Double.random(in: 1...2, using: &random) * 10).rounded()
                latencies[UInt64(tenths) * 100_000, default: 0] += 1
            }
            var second = LatencyHistogram()
            for (value, count) in latencies { second.record(value, count: count) }
            interval.latency = CompactHistogram(second)
            requests.latency.add(second)
            requests.counts += interval.counts
            requests.rejected += interval.rejected
            requests.intervals.append(interval)
        }
        result.requests = [requests]
        return result
    }

    private func verdicts(_ before: LoadResult, _ after: LoadResult) -> [LoadComparison.Verdict] {
        LoadComparison(before: before, after: after).rows[0].figures.map(\.verdict)
    }

    @Test func aResultIsNoDifferentFromItself() {
        let result = result(10, errors: 0.02, seed: 1)
        let comparison = LoadComparison(before: result, after: result)
        #expect(comparison.rows.count == 1)
        #expect(comparison.rows[0].figures.allSatisfy { $0.verdict == .noDifference && $0.change == 0 })
        #expect(!comparison.isWorse)
    }

    /// Runs of the same server with other random numbers.
    @Test func noiseIsNoDifference() {
        for seed in UInt64(2)..<7 {
            let comparison = LoadComparison(
                before: result(10, errors: 0.02, seed: seed), after: result(10, errors: 0.02, seed: seed + 100))
            #expect(comparison.rows[0].figures.allSatisfy { $0.verdict == .noDifference })
        }
    }

    @Test func slowerAndFasterAreSeen() {
        let (slow, quick) = (result(12, seed: 1), result(10, seed: 2))
        #expect(verdicts(quick, slow) == [.noDifference, .noDifference, .worse, .worse, .worse, .worse])
        #expect(verdicts(slow, quick) == [.noDifference, .noDifference, .better, .better, .better, .better])
        #expect(LoadComparison(before: quick, after: slow).isWorse)
    }

    @Test func rateAndErrorsAreSeen() {
        let before = result(10, errors: 0.001, seed: 1)
        let after = result(10, errors: 0.05, rate: 400, seed: 2)
        #expect(Array(verdicts(before, after).prefix(2)) == [.worse, .worse])
        #expect(Array(verdicts(after, before).prefix(2)) == [.better, .better])
    }

    /// The run with so many more errors in these seconds.
    private func burst(_ errors: [Int: UInt64], in result: LoadResult) -> LoadResult {
        var result = result
        for (second, count) in errors {
            result.requests[0].intervals[second].rejected += count
            result.requests[0].rejected += count
        }
        return result
    }

    private func errors(_ before: LoadResult, _ after: LoadResult) -> LoadComparison.Figure {
        LoadComparison(before: before, after: after).rows[0].figures[1]
    }

    /// One event in one run: it is told, and no evidence of a change.
    @Test func aBurstOfErrorsIsTold() throws {
        let (calm, other) = (result(10, seed: 1), result(10, seed: 2))
        let after = burst([31: 200, 32: 112], in: other)
        let figure = errors(calm, after)
        #expect(figure.verdict == .differsInBursts)
        let found = try #require(figure.bursts.first)
        #expect(figure.bursts.count == 1 && found.start == .seconds(31) && found.duration == .seconds(2))
        let requests = other.requests[0].intervals[31...32].reduce(0) { $0 + $1.counts.due }
        #expect(found.errors == 312 && found.requests == requests)
        let comparison = LoadComparison(before: calm, after: after)
        #expect(!comparison.isWorse && comparison.rows[0].errorsAfter.errors == 312)
        let text = TextReport.text(comparison)
        #expect(text.contains("differs, in one burst"), "\(text)")
        #expect(text.contains(", all within 2.00 s at 0:31 of the second run\n"), "\(text)")
        #expect(HTMLReport(after, before: calm).text.contains("within 2.00 s at 0:31 of the second run"))
        // In the first run it is no improvement either.
        #expect(errors(after, calm).verdict == .differsInBursts)
        let several = errors(calm, burst([3: 100, 10: 100, 11: 90, 25: 100], in: other))
        #expect(several.verdict == .differsInBursts)
        #expect(several.bursts.map(\.start) == [.seconds(3), .seconds(10), .seconds(25)])
    }

    /// Beside errors that are spread over both runs.
    @Test func aBurstAmongOtherErrorsIsTold() {
        let (calm, other) = (result(10, errors: 0.002, seed: 1), result(10, errors: 0.002, seed: 2))
        let figure = errors(calm, burst([20: 400], in: other))
        #expect(figure.verdict == .differsInBursts && figure.bursts.map(\.start) == [.seconds(20)])
        #expect(figure.bursts[0].errors >= 400 && figure.bursts[0].duration == .seconds(1))
    }

    @Test func burstsOfBothRunsAreNoDifference() {
        let (calm, other) = (result(10, seed: 1), result(10, seed: 2))
        let figure = errors(burst([5: 160], in: calm), burst([20: 300], in: other))
        #expect(figure.verdict == .noDifference && figure.bursts.isEmpty)
    }

    /// In a third of the seconds: more than a few events.
    @Test func manyBurstsAreWorse() {
        let seconds = stride(from: 0, to: 40, by: 3).map { ($0, UInt64(100)) }
        let after = burst(Dictionary(uniqueKeysWithValues: seconds), in: result(10, seed: 2))
        let figure = errors(result(10, seed: 1), after)
        #expect(figure.verdict == .worse && figure.bursts.isEmpty)
    }

    /// Errors that come together say less than as many that do not: their interval is wider.
    @Test func theIntervalOfErrorsKnowsTheirBursts() throws {
        let even = burst(Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, UInt64(10)) }), in: result(10, seed: 1))
        let uneven = burst([7: 200, 30: 200], in: result(10, seed: 1))
        let narrow = try #require(errors(even, even).before)
        let wide = try #require(errors(uneven, uneven).before)
        #expect(narrow.value == wide.value)
        #expect(wide.high - wide.low > 5 * (narrow.high - narrow.low))
    }

    /// A difference of 5 % is certain with these numbers. Whether it counts is the caller's word.
    @Test func aSmallChangeDoesNotCount() {
        let (before, after) = (result(10, seed: 1), result(10.5, seed: 2))
        #expect(verdicts(before, after)[2] == .worse)
        let coarse = LoadComparison(before: before, after: after, smallestChange: 0.1)
        #expect(coarse.rows[0].figures[2].verdict == .noDifference)
    }

    /// What times out after the end of the measured part is in no part of it. It counts all the same.
    @Test func aStallAtTheEndIsSeen() {
        let before = result(10, seed: 1)
        var after = result(10, seed: 2)
        var last = LoadInterval(index: 45)
        last.counts.timedOut = 1000
        last.counts.unfinished = 500
        last.counts.neverSent = 500
        var waits = LatencyHistogram()
        waits.record(20_000_000_000, count: 2000)
        last.latency = CompactHistogram(waits)
        after.requests[0].counts += last.counts
        after.requests[0].latency.add(waits)
        after.requests[0].intervals.append(last)
        // 2,000 of 22,000: the rate of the measured part is the same, and so is the median.
        #expect(verdicts(before, after)[0] == .noDifference)
        #expect(verdicts(before, after)[1] == .worse)
        #expect(verdicts(before, after)[4] == .worse && verdicts(before, after)[5] == .worse)
        #expect(verdicts(after, before)[1] == .better)
        // In flight at the end, and answered soon: part of the last part.
        var usual = result(10, seed: 2)
        var tail = LoadInterval(index: 40)
        tail.counts.answered = 60
        var latencies = LatencyHistogram()
        latencies.record(15_000_000, count: 60)
        tail.latency = CompactHistogram(latencies)
        usual.requests[0].counts += tail.counts
        usual.requests[0].latency.add(latencies)
        usual.requests[0].intervals.append(tail)
        let figures = LoadComparison(before: before, after: usual).rows[0].figures
        #expect(figures.allSatisfy { $0.verdict == .noDifference })
        #expect(figures[2].chance != nil && figures[4].chance != nil)
    }

    @Test func runsThatSayLessAreTold() {
        let before = result(10, seed: 1)
        var after = result(10, seed: 2)
        #expect(LoadComparison(before: before, after: after).remarks.isEmpty)
        after.isInterrupted = true
        var generator = GeneratorHealth()
        generator.limits = [.cpu(share: 1)]
        after.generators = [generator]
        let interrupted = LoadComparison(before: before, after: after)
        #expect(interrupted.remarks.count == 2 && !interrupted.isIncomplete)
        #expect(TextReport.text(interrupted).contains("note: the second run was interrupted by a signal\n"))
        #expect(HTMLReport(after, before: before).text.contains("the generator was the limit in the second run"))
        after.abortedBy = "p99<1ms"
        #expect(LoadComparison(before: before, after: after).isIncomplete)
        #expect(!LoadComparison(before: after, after: before).isIncomplete)
        var other = result(10, seed: 2)
        other.requests[0].name = "other"
        #expect(LoadComparison(before: before, after: other).isIncomplete)
    }

    @Test func theReportObeysTheSmallestChange() {
        let (before, after) = (result(10, seed: 1), result(10.5, seed: 2))
        #expect(HTMLReport(after, before: before).text.contains(">worse<"))
        let coarse = HTMLReport(after, before: before, smallestChange: 0.1).text
        #expect(!coarse.contains(">worse<") && coarse.contains("at least 10.0 %"))
    }

    @Test func shortRunsHaveNoVerdict() {
        let short = verdicts(result(10, seconds: 7, seed: 1), result(30, seconds: 7, seed: 2))
        #expect(short.allSatisfy { $0 == .tooLittleData })
        // 4,000 requests have four beyond the 99.9th percentile.
        let figures = verdicts(result(10, rate: 100, seed: 1), result(30, rate: 100, seed: 2))
        #expect(figures[5] == .tooLittleData && figures[4] == .worse)
        let empty = LoadComparison(before: SampleResult.empty, after: SampleResult.empty)
        #expect(empty.rows[0].figures.allSatisfy { $0.verdict == .tooLittleData && $0.before == nil })
    }

    @Test func namesOfOneResultAreListed() {
        let comparison = LoadComparison(
            before: SampleResult.result(), after: SampleResult.result(name: "new"))
        #expect(comparison.rows.map(\.name) == ["all", "login"])
        #expect(comparison.onlyBefore == ["shop/order"])
        #expect(comparison.onlyAfter == ["shop/new"])
        let text = TextReport.text(comparison)
        #expect(text.contains("only before: shop/order\nonly after: shop/new\n"))
    }

    /// The interval of a percentile is that of ranks: 1,000 values 1 to 1,000 have their median at 500 with ranks 459 to
    /// 542 (500 plus or minus 2.576 times the root of 250, outwards).
    @Test func confidenceIntervals() throws {
        var result = LoadResult(plan: "plan", start: SampleResult.start, duration: .seconds(10))
        var requests = RequestStatistics(scenario: "s", name: "n")
        for value in 1...1000 { requests.latency.record(UInt64(value)) }
        requests.counts.answered = 1000
        requests.rejected = 10
        for index in 0..<10 {
            var interval = LoadInterval(index: index)
            interval.counts.answered = 100
            interval.latency = CompactHistogram(requests.latency)
            requests.intervals.append(interval)
        }
        result.requests = [requests]
        let figures = LoadComparison(before: result, after: result).rows[0].figures
        let median = try #require(figures[2].before)
        #expect([median.value, median.low, median.high] == [500, 459, 542])
        // Wilson's interval of 10 of 1,000.
        let errors = try #require(figures[1].before)
        #expect(errors.value == 0.01)
        #expect(abs(errors.low - 0.00453) < 0.00001 && abs(errors.high - 0.02193) < 0.00001)
        #expect(figures[0].before?.value == 100)
    }
}
