import ErrandLoad
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// How much `errand bench` sends: users, rates, stages, warm-up, grace, shares.
@Suite struct LoadShapeTests {
    private let load: LoadToolRun

    init() throws {
        load = try LoadToolRun()
    }

    @Test func usersSendExactlyTheNumber() throws {
        let (tool, result) = try load.run([load.server.url("/a"), "-n", "50", "--users", "4"])
        #expect(tool.status == 0 && tool.errors.isEmpty, "\(tool.errors)")
        #expect(result.total.counts.due == 50 && result.total.counts.answered == 50)
        #expect(result.requests.map(\.name) == ["GET " + load.server.url("/a")])
        #expect(result.scenarios.map(\.peakUsers) == [4])
        #expect(load.server.requests.count == 50)
        #expect(result.total.traffic.bodyBytesReceived == 100)
        #expect(tool.text.contains("answered"), "\(tool.text)")
    }

    @Test func aRateMakesItsArrivals() throws {
        let (tool, result) = try load.run([load.server.url("/"), "--rate", "100", "-d", "1s", "--max-users", "200"])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(result.total.counts.due == 100)
    }

    @Test func stagesAreARamp() throws {
        let (tool, result) = try load.run([
            load.server.url("/"), "--rate", "0", "--stages", "500ms:100,500ms:0", "--max-users", "200",
        ])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(result.total.counts.due == 50 && result.duration == .seconds(1))
    }

    @Test func aRampComesBeforeTheTime() throws {
        let (tool, result) = try load.run([
            load.server.url("/"), "--rate", "100", "--ramp", "1s", "-d", "500ms", "--max-users", "200",
        ])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(result.total.counts.due == 100 && result.duration == .milliseconds(1500))
    }

    @Test func poissonArrivalsDependOnTheSeedAlone() throws {
        let options = [load.server.url("/"), "--rate", "200", "-d", "1s", "--max-users", "500", "--poisson", "--seed"]
        let first = try load.run(options + ["7"]).result.total.counts.due
        let second = try load.run(options + ["7"]).result.total.counts.due
        // 200 in the mean; the deviation is 14.
        #expect(first == second && (100...300).contains(first))
    }

    @Test func theWarmUpIsNotCounted() throws {
        let (tool, result) = try blockWithEnoughTime("the warm-up has sent a request") { time in
            let before = load.server.counts.requests
            let run = try load.run(
                [load.server.url("/"), "-n", "5", "--users", "1", "--warm-up", time.optionText], seconds: 300)
            return load.server.counts.requests > before + 5 ? run : nil
        }
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(result.total.counts.due == 5)
    }

    @Test func whatDoesNotEndCounts() throws {
        let (tool, result) = try blockWithEnoughTime("both users have sent a request") { time in
            let stalling = try LoadToolRun([.stall])
            let run = try stalling.run([
                stalling.server.url("/"), "-d", time.optionText, "--users", "2", "--grace", "0", "--timeout", "1h",
            ])
            return stalling.server.counts.requests == 2 ? run : nil
        }
        #expect(tool.status == 13, "\(tool.errors)")
        #expect(tool.errors.contains("2 of 2 requests had no response"), "\(tool.errors)")
        #expect(result.total.counts.unfinished == 2 && result.total.latency.count == 2)
    }

    @Test func sharesSumToThePlan() throws {
        let options = [load.server.url("/"), "--rate", "100", "-d", "1s", "--max-users", "200"]
        var parts: [LoadResult] = []
        for number in 1...4 {
            parts.append(try load.run(options + ["--share", "\(number)/4"], to: "\(number).json").result)
        }
        #expect(parts.map(\.total.counts.due) == [25, 25, 25, 25])
        let all = (1...4).map { load.path("\($0).json") }
        // They ran one after the other.
        let apart = try ToolRun(["bench", "merge"] + all)
        #expect(apart.status == 65 && apart.errors.contains("did not run together; see --apart"), "\(apart.errors)")
        let merge = try ToolRun(
            ["bench", "merge", "--apart", "-o", load.path("all.json"), "--csv", load.path("all.csv")] + all)
        #expect(merge.status == 0 && merge.errors.isEmpty, "\(merge.errors)")
        let merged = try load.result("all.json")
        var sum = LatencyHistogram()
        for part in parts { sum.add(part.total.latency) }
        #expect(merged.total.counts.due == 100 && merged.total.latency == sum && merged.shares.count == 4)
        #expect(merged.missingShares.isEmpty && load.folder.names.contains("all.csv"))
        let fewer = try ToolRun(["bench", "merge", "--apart"] + all.dropLast())
        #expect(fewer.status == 0 && fewer.errors.contains("of 4 parts these are missing: 4"), "\(fewer.errors)")
        let twice = try ToolRun(["bench", "merge", all[0], all[0]])
        #expect(twice.status == 65 && twice.errors.contains("two results contain share 1 of 4"), "\(twice.errors)")
        let strict = try ToolRun(["bench", "merge", "--apart", "--threshold", "rate>1000000"] + all)
        #expect(strict.status == 99 && strict.errors.contains("rate>1000000 is not met"), "\(strict.errors)")
    }

    /// The second part has no user after the first stage.
    @Test func aPartThatCannotSendItsRequestsSaysSo() throws {
        let part = try blockWithEnoughTime("the part has sent a request in the first stage") { time in
            let stages = "\(time.optionText):2,0s:1,300ms:1"
            let part = try load.run(
                [load.server.url("/"), "--users", "2", "--stages", stages, "-n", "2000000", "--share", "2/2"],
                seconds: 300)
            return part.result.total.counts.due > 0 ? part : nil
        }
        let due = part.result.total.counts.due
        #expect(part.tool.status == 0, "\(part.tool.errors)")
        #expect(
            part.tool.errors.contains(
                "this part of the plan sent \(due.grouped) of its 1,000,000 requests before its time"),
            "\(part.tool.errors)")
    }

    /// Which request of a mix an arrival sends does not depend on the user that is free, or on the share.
    @Test func sharesOfAMixSumToThePlan() throws {
        try load.write(
            "mix.http",
            """
            ### often
            # @weight 3
            GET HOST/often?id={{$randomInt 1 9}}
            ### seldom
            GET HOST/seldom
            """)
        let options = [load.path("mix.http"), "--rate", "200", "-d", "500ms", "--max-users", "200"]
        func due(_ result: LoadResult) -> [String: UInt64] {
            Dictionary(result.requests.map { ($0.name, $0.counts.due) }) { first, _ in first }
        }
        let whole = due(try load.run(options).result)
        var sum: [String: UInt64] = [:]
        for number in 1...4 {
            let part = try load.run(options + ["--share", "\(number)/4"], to: "\(number).json").result
            sum.merge(due(part)) { $0 + $1 }
        }
        #expect(whole.values.reduce(0, +) == 100 && sum == whole, "\(sum) \(whole)")
    }

    @Test func beginsAtATime() throws {
        let (tool, start) = try blockWithEnoughTime("the tool is ready before the time") { time in
            let start = Date().timeIntervalSince1970 + time / .seconds(1)
            let tool = try ToolRun(
                ["bench", "-o", load.path("result.json"), load.server.url("/"), "-n", "1", "--users", "1"]
                    + ["--start-at", "\(start)"],
                seconds: 300)
            return tool.errors.contains("the start of the plan has passed") ? nil : (tool, start)
        }
        #expect(tool.status == 0, "\(tool.errors)")
        let result = try load.result("result.json")
        #expect(result.start.timeIntervalSince1970 > start - 0.1)
        let late = try ToolRun(["bench", load.server.url("/"), "--start-at", "2020-01-01T00:00:00Z"])
        #expect(late.status == 64 && late.errors.contains("--start-at: the start of the plan has passed"))
    }

    @Test(arguments: [
        (["--users", "0"], "--users is 0, expected 1 to 1,000,000"), (["--poisson"], "--poisson requires --rate"),
        (["--max-users", "5"], "--max-users requires --rate"),
        (["--users", "5", "--rate", "5"], "--users and --rate exclude each other"),
        (["--stages", "1s:5", "-d", "1s"], "-d and --stages exclude each other"),
        (["--stages", "5:"], "is invalid for '--stages"), (["--share", "5/4"], "is invalid for '--share"),
        (["--share", "1/2", "--mode", "async"], "--mode measures one URL, and cannot be used together with --share"),
        (["--users", "2", "--tick", "1ms"], "--tick measures one URL"),
        (["--users", "2", "--warm-up", "10"], "--warm-up 10: a load test requires a time"),
        (["--threshold", "p99<"], "--threshold \"p99<\": "), (["--threshold", "p101<1ms"], "at character 1"),
        (["--start-at", "soon"], "is invalid for '--start-at"), (["--weight", "1", "--weight", "2"], "for 1 URLs"),
        (["--stages", "1s:0"], "the stages last no time"), (["--only", "a"], "--only requires a .http file"),
        (["--threshold", "shop/*:p99<1s"], "names the scenario 'shop', which the plan does not have"),
        (["--users", "3", "--share", "1/4"], "4 shares need at least 4 users, and the plan has 3"),
        (["--threshold", "login:p99<1s"], "names the request 'login', which the plan does not have"),
        (["--threshold", "checks>99%"], "checks>99% can never be met: there is no such check"),
        (["--ramp", "1h", "-d", "720h"], "-d and --ramp together are more than 30 days"),
        (["--csv", "-"], "--csv requires a file"), (["-u", "a:b", "--bearer", "t"], "exclude each other"),
    ]) func refusesBadInput(_ options: [String], _ message: String) throws {
        let run = try ToolRun(["bench", load.server.url("/"), "--name", "x"] + options)
        #expect(run.status == 64, "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(load.server.counts.connections == 0)
    }

    @Test(arguments: [
        ("10s:50,1m:0", [10.0, 60.0]), ("0s:5,500ms:5", [0.0, 0.5]),
    ]) func stagesAreRead(_ text: String, _ seconds: [Double]) throws {
        let stages = try #require(StagesArgument(argument: text)).stages(from: 1)
        #expect(stages.map(\.duration) == seconds.map { .seconds($0) })
        // A step begins at its own level.
        #expect(stages[0].from == (seconds[0] == 0 ? 5 : 1) && stages[1].from == stages[0].to)
    }

    @Test func startsAreRead() {
        #expect(StartArgument(argument: "1790000000.5")?.date.timeIntervalSince1970 == 1_790_000_000.5)
        #expect(StartArgument(argument: "2026-11-26T08:00:00+02:00")?.date.timeIntervalSince1970 == 1_795_672_800)
        #expect(StartArgument(argument: "2026-11-26T06:00:00.25Z")?.date.timeIntervalSince1970 == 1_795_672_800.25)
        for text in ["", "now", "2026-11-26", "2026-11-26T08:00:00", "-5", "2026-11-26T08:00:00Zx"] {
            #expect(StartArgument(argument: text) == nil, "\(text)")
        }
    }
}
