import ErrandLoad
import FoundationEssentials

/// A result made by hand, whose figures the tests of reports compute anew.
enum SampleResult {
    /// 14 November 2023, 22:13:20.5 UTC.
    static let start = Date(timeIntervalSince1970: 1_700_000_000.5)

    /// Two names in a scenario, ten seconds, ten requests in each second of each name; milliseconds as latencies. `name`
    /// is that of the second name; `millisecond` is the nanoseconds that stand for one.
    static func result(
        name: String = "order", seconds: Int = 10, share: LoadShare = .whole, millisecond: UInt64 = 1_000_000
    ) -> LoadResult {
        var result = LoadResult(plan: "shop plan", start: start, duration: .seconds(seconds))
        result.shares = [share]
        result.requests = [
            requests("login", seconds, 10, millisecond), requests(name, seconds, 200, millisecond),
        ]
        var scenario = ScenarioStatistics(name: "shop")
        scenario.started = 12
        scenario.completed = 9
        scenario.failed = 1
        scenario.interrupted = 2
        scenario.neverStarted = 3
        scenario.peakUsers = 4
        result.scenarios = [scenario]
        var check = CheckStatistics(scenario: "shop", name: "status is 200")
        check.passed = 198
        check.failed = 2
        result.checks = [check]
        var generator = GeneratorHealth()
        generator.userSeconds = 1.25
        generator.systemSeconds = 0.5
        generator.cores = 2
        generator.loops = 1
        generator.peakResidentBytes = 30_000_000
        generator.lag.record(millisecond, count: 1000)
        generator.descriptorLimit = 1024
        generator.peakDescriptors = 40
        generator.connections = 8
        result.generators = [generator]
        return result
    }

    /// Nine answered requests and one that timed out after a second, in each second.
    private static func requests(
        _ name: String, _ seconds: Int, _ milliseconds: UInt64, _ millisecond: UInt64
    ) -> RequestStatistics {
        var requests = RequestStatistics(scenario: "shop", name: name)
        let count = UInt64(seconds)
        requests.counts.answered = 9 * count
        requests.counts.timedOut = count
        requests.statuses = [200: 8 * count, 500: count]
        requests.errors = [LoadError(kind: "timeoutTotal", phase: .firstByte): count]
        requests.rejected = count
        requests.attempts = 11 * count
        requests.traffic.headBytesSent = 1000 * count
        requests.traffic.bodyBytesReceived = 5000 * count
        requests.latency.record(milliseconds * millisecond, count: 9 * count)
        requests.latency.record(1000 * millisecond, count: count)
        requests.serviceTime.record(milliseconds * millisecond, count: 9 * count)
        requests.sendDelay.record(millisecond / 50, count: 10 * count)
        requests.phases.firstByte.record(milliseconds * millisecond / 10 * 9, count: 9 * count)
        var second = LatencyHistogram()
        second.record(milliseconds * millisecond, count: 9)
        second.record(1000 * millisecond)
        let latency = CompactHistogram(second)
        for index in 0..<seconds {
            var interval = LoadInterval(index: index)
            interval.counts.answered = 9
            interval.counts.timedOut = 1
            interval.rejected = 1
            interval.traffic.bodyBytesReceived = 5000
            interval.latency = latency
            requests.intervals.append(interval)
        }
        return requests
    }

    /// An empty result.
    static var empty: LoadResult { LoadResult(plan: "nothing", start: start, duration: .zero) }

    /// Everything in a result that the JSON has a member for.
    static func full() throws -> LoadResult {
        var result = result(name: "GET /\"quoted\",\n<b>")
        result.fingerprint = "0123456789abcdef"
        result.requests[0].userWait.record(5_000_000, count: 90)
        result.requests[0].userWait.record(0, count: 10)
        result.isInterrupted = true
        result.abortedBy = "p99<1ms"
        result.failures = ["one", "two\u{1B}[31m"]
        var resilience = LoadResilience()
        resilience.retries = ["status503": 12, "noConnection": 1234]
        resilience.hedges = 9
        resilience.hedgesWon = 4
        resilience.refusedByBreaker = 7
        result.scenarios[0].resilience = resilience
        result.generators[0].limits = [
            .cpu(share: 0.97), .lateSends(p99: 5_000_000), .loopLag(max: 80_000_000),
            .descriptors(refused: 3, limit: 1024), .neverSent(count: 7), .users(scenario: "shop", count: 11),
        ]
        for text in ["p99<1s", "shop/login:errors<0.1%", "rate>1000", "checks>=98%"] {
            var threshold = try LoadThreshold(parsing: text)
            threshold.aborts = text.hasPrefix("rate")
            result.thresholds.append(threshold.outcome(in: result))
        }
        return result
    }
}
