import ErrandLoad
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// `errand bench compare` and `errand bench merge` with files that are no results.
@Suite struct BenchCompareTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A result of 30 s with 400 requests a second, whose latencies are around `milliseconds`.
    private func write(_ name: String, milliseconds: Double) throws -> String {
        var result = LoadResult(plan: "p", start: Date(timeIntervalSince1970: 1_790_000_000), duration: .seconds(30))
        var request = RequestStatistics(scenario: "s", name: "GET /")
        for index in 0..<30 {
            var interval = LoadInterval(index: index)
            var latency = LatencyHistogram()
            for number in 0..<400 {
                // Spread by a tenth, in another order in each second.
                let part = Double((number * 7 + index) % 400) / 4000
                latency.record(UInt64(milliseconds * 1e6 * (1 + part)))
            }
            interval.counts.answered = 400
            interval.latency = CompactHistogram(latency)
            request.counts.answered += 400
            request.latency.add(latency)
            request.statuses[200, default: 0] += 400
            request.intervals.append(interval)
        }
        request.attempts = request.counts.answered
        result.requests = [request]
        let file = folder.file(name)
        try result.json.write(to: file)
        return file.path
    }

    @Test func tellsWorseFromBetter() throws {
        let fast = try write("fast.json", milliseconds: 10)
        let slow = try write("slow.json", milliseconds: 15)
        let worse = try ToolRun(["bench", "compare", fast, slow, "--html", folder.file("c.html").path])
        #expect(worse.status == 99 && worse.errors == "errand: a figure is worse than before\n", "\(worse.errors)")
        #expect(worse.text.contains("worse") && folder.names.contains("c.html"), "\(worse.text)")
        let better = try ToolRun(["bench", "compare", slow, fast])
        #expect(better.status == 0 && better.text.contains("better") && !better.text.contains("worse"))
        let same = try ToolRun(["bench", "compare", fast, fast])
        #expect(same.status == 0 && !same.text.contains("worse") && !same.text.contains("better"), "\(same.text)")
        let lenient = try ToolRun(["bench", "compare", fast, slow, "--smallest-change", "60%"])
        #expect(lenient.status == 0, "\(lenient.text)")
    }

    @Test func printsJSON() throws {
        let fast = try write("fast.json", milliseconds: 10)
        let slow = try write("slow.json", milliseconds: 15)
        let json = try ToolRun(["bench", "compare", "--json", fast, slow]).json()
        #expect(
            Set(json.keys) == [
                "smallest_change", "worse", "incomplete", "remarks", "rows", "only_before", "only_after",
            ])
        #expect(json["worse"] as? Bool == true && json["smallest_change"] as? Double == 0.02)
        let row = try #require((json["rows"] as? [[String: Any]])?.first)
        let figures = try #require(row["figures"] as? [[String: Any]])
        let median = try #require(figures.first { $0["measure"] as? String == "p50" })
        #expect(median["verdict"] as? String == "worse")
        #expect(abs((median["change"] as? Double ?? 0) - 0.5) < 0.01)
    }

    @Test func aBurstOfErrorsIsShown() throws {
        let before = try write("before.json", milliseconds: 10)
        var result = try LoadResult(json: Data(contentsOf: folder.file("before.json")))
        result.requests[0].rejected = 150
        result.requests[0].intervals[12].rejected = 150
        try result.json.write(to: folder.file("burst.json"))
        let burst = folder.file("burst.json").path
        let run = try ToolRun(["bench", "compare", before, burst])
        #expect(run.status == 0 && run.text.contains("differs, in one burst"), "\(run.text)")
        let line = "errors: 0 of 12,000 -> 150 of 12,000, all within 1.00 s at 0:12 of the second run\n"
        #expect(run.text.contains(line), "\(run.text)")
        let json = try ToolRun(["bench", "compare", "--json", before, burst]).json()
        let row = try #require((json["rows"] as? [[String: Any]])?.first)
        let figures = try #require(row["figures"] as? [[String: Any]])
        let errors = try #require(figures.first { $0["measure"] as? String == "errors" })
        #expect(errors["verdict"] as? String == "differs_in_bursts" && json["worse"] as? Bool == false)
        let found = try #require((errors["bursts"] as? [[String: Any]])?.first)
        #expect(found.mapValues { $0 as? Int } == ["start_seconds": 12, "seconds": 1, "errors": 150, "requests": 400])
        let all = try #require(row["errors_after"] as? [String: Any])
        #expect(all.mapValues { $0 as? Int } == ["errors": 150, "requests": 12_000])
    }

    @Test func aRunThatWasEndedEarlyIsNoSuccess() throws {
        let before = try write("before.json", milliseconds: 10)
        var result = try LoadResult(json: Data(contentsOf: folder.file("before.json")))
        result.abortedBy = "p99<1ms"
        try result.json.write(to: folder.file("aborted.json"))
        let aborted = try ToolRun(["bench", "compare", before, folder.file("aborted.json").path])
        #expect(aborted.status == 99 && aborted.errors.contains("the second run is incomplete"), "\(aborted.errors)")
        #expect(aborted.text.contains("note: the second run was ended early by the threshold p99<1ms"))
        result.abortedBy = nil
        result.requests[0].name = "GET /other"
        try result.json.write(to: folder.file("other.json"))
        let other = try ToolRun(["bench", "compare", "--json", before, folder.file("other.json").path])
        let json = try other.json()
        #expect(other.status == 99 && json["incomplete"] as? Bool == true, "\(other.errors)")
    }

    @Test func aPartThatWasInterruptedIsTold() throws {
        _ = try write("one.json", milliseconds: 10)
        var result = try LoadResult(json: Data(contentsOf: folder.file("one.json")))
        var paths: [String] = []
        for number in 1...2 {
            result.shares = [try #require(LoadShare(number: number, of: 2))]
            result.isInterrupted = number == 2
            let file = folder.file("\(number).json")
            try result.json.write(to: file)
            paths.append(file.path)
        }
        let met = try ToolRun(["bench", "merge"] + paths + ["--threshold", "p99<1s"])
        #expect(met.status == 0 && met.errors.contains("warning: part 2/2 was interrupted"), "\(met.errors)")
        let unmet = try ToolRun(["bench", "merge"] + paths + ["--threshold", "p99<1ms"])
        #expect(unmet.status == 99, "\(unmet.errors)")
    }

    @Test(arguments: ["compare", "merge"]) func refusesWhatIsNoResult(_ word: String) throws {
        let good = try write("good.json", milliseconds: 1)
        let cases: [(name: String, text: String?, status: Int32, message: String)] = [
            ("none.json", nil, 66, "no such file"), ("text.json", "x", 65, "is not JSON"),
            ("other.json", "{\"format\": 9}", 65, "format: "), ("half.json", "{\"format\": 1}", 65, "is no result of"),
        ]
        for (name, text, status, message) in cases {
            let file = folder.file(name)
            if let text { try Data(text.utf8).write(to: file) }
            let run = try ToolRun(["bench", word, good, file.path])
            #expect(run.status == status && run.errors.contains(message), "\(name): \(run.errors)")
        }
    }

    @Test(arguments: [
        ("bench compare a b", "bench-compare a b"), ("bench merge", "bench-merge"),
        ("bench run p.json", "bench p.json"),
        ("bench run", "bench run"), ("bench http://compare", "bench http://compare"), ("bench", "bench"),
        ("help bench merge", "help bench-merge"), ("fetch bench compare", "fetch bench compare"), ("", ""),
    ]) func twoWordsAreOne(_ words: String, _ joined: String) {
        func list(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
        #expect(BenchWords.joined(list(words)) == list(joined))
    }

    @Test func theWordsAreThoseOfTheHelp() throws {
        let help = try ToolRun(["bench", "compare", "--help"])
        #expect(help.status == 0 && help.text.contains("USAGE: errand bench compare [<options>] <before> <after>"))
        let mistake = try ToolRun(["bench", "merge", "--nonsense"])
        #expect(
            mistake.status == 64 && mistake.errors.contains("See 'errand bench merge --help'."), "\(mistake.errors)")
        #expect(try ToolRun(["bench", "--help"]).text.contains("errand bench compare <before> <after>"))
    }
}
