import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandLoad
@testable import errand

/// What `errand bench` writes, and how it ends: files, thresholds, exit codes.
@Suite struct LoadOutputTests {
    @Test func writesEveryFormat() throws {
        let load = try LoadToolRun()
        let (tool, result) = try load.run([
            load.server.url("/"), "-n", "20", "--users", "2", "--csv", load.path("a.csv"), "--html",
            load.path("a.html"),
            "--junit", load.path("a.xml"), "--hlog", load.path("a.hlog"), "--open-metrics", load.path("a.prom"),
            "--threshold", "errors<1%", "--json",
        ])
        #expect(tool.status == 0 && tool.errors.isEmpty, "\(tool.errors)")
        // Standard output has the same JSON as the file.
        #expect(try LoadResult(json: tool.output) == result)
        func text(_ name: String) throws -> String {
            try String(contentsOf: load.folder.file(name), encoding: .utf8)
        }
        #expect(try text("a.csv") == CSVReport(result).text)
        #expect(try text("a.html") == HTMLReport(result).text)
        #expect(try text("a.xml") == JUnitLoadReport(result).text && text("a.xml").contains("errors"))
        #expect(try text("a.hlog").hasPrefix("#[Histogram log format version 1.3]"))
        #expect(try text("a.prom").hasSuffix("# EOF\n"))
        #expect(load.folder.names == ["a.csv", "a.hlog", "a.html", "a.prom", "a.xml", "result.json"])
    }

    @Test func pushesMetrics() throws {
        let load = try LoadToolRun()
        let gateway = try ScriptedServer()
        try gateway.on("/metrics/job/load", [.readBody, LoadToolRun.ok])
        let url = gateway.url("/metrics/job/load")
        let run = try ToolRun(["bench", load.server.url("/"), "-n", "3", "--users", "1", "--open-metrics", url])
        #expect(run.status == 0, "\(run.errors)")
        let request = try #require(gateway.requests.first)
        let text = String(decoding: request.body, as: UTF8.self)
        #expect(request.method == "PUT" && text.contains("# TYPE errand_load_requests_total counter\n"))
        #expect(!text.contains("# EOF"))
        #expect(request.values(of: "content-type") == ["text/plain; version=0.0.4; charset=utf-8"])
        // The result is printed although it could not be sent.
        let refused = try ToolRun([
            "bench", load.server.url("/"), "-n", "3", "--users", "1", "--open-metrics", gateway.url("/other"),
        ])
        #expect(refused.status == 73 && refused.errors.contains("the answer is 404"), "\(refused.errors)")
        #expect(refused.text.contains("answered"), "\(refused.text)")
    }

    @Test func aFileThatCannotBeWrittenIsTold() throws {
        let load = try LoadToolRun()
        let missing = try ToolRun(["bench", load.server.url("/"), "-n", "3", "--html", load.path("no/a.html")])
        #expect(missing.status == 73 && missing.errors.contains("--html: cannot write"), "\(missing.errors)")
        #expect(load.server.counts.connections == 0)
        let full = try ToolRun([
            "bench", load.server.url("/"), "-n", "3", "--csv", "/dev/full", "-o", load.path("a.json"),
        ])
        #expect(full.status == 73 && full.errors.contains("--csv: cannot write '/dev/full'"), "\(full.errors)")
        // The other file is complete, and the result is printed.
        #expect(try load.result("a.json").total.counts.due == 3 && full.text.contains("answered"))
    }

    @Test func thresholdsDecideTheExitCode() throws {
        let load = try LoadToolRun()
        let options = [load.server.url("/"), "-n", "20", "--users", "2"]
        let met = try load.run(options + ["--threshold", "errors<1%", "--threshold", "rate>0"])
        #expect(met.tool.status == 0 && met.result.thresholds.map(\.isMet) == [true, true], "\(met.tool.errors)")
        let unmet = try load.run(options + ["--threshold", "errors<1%", "--threshold", "p99<1ns"])
        #expect(unmet.tool.status == 99 && unmet.result.thresholds.map(\.isMet) == [true, false])
        #expect(unmet.tool.errors.contains("errand: the threshold p99<1ns is not met: "), "\(unmet.tool.errors)")
        #expect(unmet.tool.errors.hasSuffix("errand: a threshold is not met\n"))
    }

    @Test func errorsAreNoFailureOfTheirOwnWhereThresholdsAreMet() throws {
        let load = try LoadToolRun([.close])
        let run = try load.run([load.server.url("/"), "-n", "5", "--users", "1", "--threshold", "errors>=100%"])
        #expect(run.tool.status == 0, "\(run.tool.errors)")
        let plain = try load.run([load.server.url("/"), "-n", "5", "--users", "1"])
        #expect(plain.tool.status == 14 && plain.tool.errors.contains("no request got a response"))
        #expect(plain.result.total.counts.failed == 5)
    }

    @Test func aThresholdEndsTheRunEarly() throws {
        let load = try LoadToolRun([LoadToolRun.broken])
        let (tool, result) = try load.run([
            load.server.url("/"), "-d", "600s", "--users", "1", "--abort-on", "errors<10%",
        ])
        #expect(tool.status == 99 && tool.errors.contains("ended the run early"), "\(tool.errors)")
        #expect(result.abortedBy == "errors<10%" && result.duration < .seconds(600))
    }

    @Test func anInterruptKeepsTheResult() throws {
        let load = try LoadToolRun([.sleep(milliseconds: 5), LoadToolRun.ok])
        let (tool, result) = try load.run(
            [load.server.url("/"), "-d", "600s", "--users", "2"],
            interruptWhen: { load.server.counts.requests >= 40 })
        #expect(tool.status == 130 && tool.errors.hasSuffix("errand: interrupted\n"), "\(tool.errors)")
        #expect(result.isInterrupted && result.total.counts.due > 0 && result.duration < .seconds(600))
        #expect(tool.text.contains("answered"))
    }

    // MARK: Live view

    private func snapshot() -> LoadSnapshot {
        var snapshot = LoadSnapshot(
            phase: .measuring, elapsed: .seconds(75), planned: .seconds(120), interval: .seconds(1))
        snapshot.counts.answered = 10
        snapshot.counts.failed = 1200
        snapshot.users = 1
        snapshot.recent = ([0, 7, 3] as [UInt64]).enumerated().map { index, answered in
            LoadSnapshot.Interval(index: index, answered: answered, errors: 0, p50: 1_500_000, p99: 25_000_000)
        }
        return snapshot
    }

    private let plan = LoadPlan(
        "x",
        scenarios: [
            LoadScenario(
                "x",
                shape: .users([
                    LoadStage(from: 0, to: 1, for: .seconds(60)), LoadStage(from: 1, to: 1, for: .seconds(60)),
                ]), configuration: .init(), requests: [])
        ])

    @Test func theLineHasTheLastInterval() {
        let line = LoadLine(snapshot(), plan)
        #expect(
            line.text(width: 200, .init())
                == "1:15 of 2:00  stage 2/2  3/s  p50 1.50 ms  p99 25.0 ms  1,200 errors  1 user")
        #expect(line.text(width: 200, .init(hasUnicode: true)).hasSuffix("  1 user  ▁█▄"))
        #expect(line.text(width: 200, .init(hasColor: true)).contains("\u{1B}[31m1,200 errors\u{1B}[0m"))
    }

    @Test func theLineOfANumberOfRequests() {
        var plan = plan
        plan.requestLimit = 5000
        var snapshot = snapshot()
        snapshot.planned = LoadPlan.longest
        #expect(LoadLine(snapshot, plan).text(width: 200, .init()).hasPrefix("1:15  1,210 of 5,000 requests  stage"))
    }

    @Test(arguments: 1...100) func theLineFitsTheTerminal(_ width: Int) {
        let line = LoadLine(snapshot(), plan).text(width: width, .init(hasUnicode: true))
        #expect(line.count <= width)
    }

    @Test(arguments: [(0, "0:00"), (59, "0:59"), (61, "1:01"), (3600, "1:00:00"), (36_061, "10:01:01")])
    func timesOfTheLine(_ seconds: Int, _ text: String) {
        #expect(LoadLine.time(.seconds(seconds)) == text)
    }
}
