import ErrandLoad
import ErrandTesting
import Foundation
import Testing

/// Starts that have passed or never come, and signals at the end of a run.
@Suite(.timeLimit(.minutes(20))) struct LoadInterruptTests {
    private let load: LoadToolRun

    init() throws {
        load = try LoadToolRun()
    }

    @Test(arguments: ["0", "1.5", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2020-01-01T00:00:00.5+02:00"])
    func aStartThatHasPassedSendsNothing(_ start: String) throws {
        let run = try ToolRun([
            "bench", load.server.url("/"), "-n", "1", "-o", load.path("a.json"), "--start-at", start,
        ])
        #expect(run.status == 64, "\(run.errors)")
        #expect(run.errors.contains("--start-at: the start of the plan has passed"), "\(run.errors)")
        #expect(load.server.counts.connections == 0 && load.folder.names.isEmpty)
    }

    /// The time until then is larger than the clock's nanoseconds.
    @Test(arguments: ["9999-12-31T23:59:59Z", "99999999999"])
    func aStartFarAwayWaitsUntilAnInterrupt(_ start: String) throws {
        let (tool, result) = try load.run(
            [load.server.url("/"), "-n", "1", "--users", "1", "--start-at", start], interruptWhen: { true })
        #expect(tool.status == 130 && tool.errors.hasSuffix("errand: interrupted\n"), "\(tool.errors)")
        #expect(result.isInterrupted && result.total.counts.due == 0 && load.server.counts.connections == 0)
        #expect(load.folder.names == ["result.json"])
    }

    /// The tool has written the first of its reports, and waits for the pipe that is the second one.
    private func writing(_ reports: FullPipe, log: TemporaryFolder) throws -> ProgramRun {
        for name in ["output", "errors"] { try Data().write(to: log.file(name)) }
        let run = try ProgramRun(
            ToolRun.executable.path,
            [
                "bench", load.server.url("/"), "-n", "3", "--users", "1", "-o", load.path("a.json"), "--csv",
                reports.path, "--html", load.path("a.html"),
            ], output: log.file("output").path, errors: log.file("errors").path)
        do {
            try blockUntil("the first report is complete") { load.folder.names.contains("a.json") }
        } catch {
            run.kill()
            throw error
        }
        return run
    }

    @Test func anInterruptWhileReportsAreWrittenCompletesThem() throws {
        let log = try TemporaryFolder()
        let pipe = try FullPipe(load.path("a.csv"))
        let run = try writing(pipe, log: log)
        run.signal(SIGINT)
        let (text, status) = pipe.drained(untilEndOf: run)
        #expect(status == 0)
        #expect(load.folder.names == ["a.csv", "a.html", "a.json"])
        let result = try load.result("a.json")
        #expect(result.total.counts.due == 3 && String(decoding: text, as: UTF8.self) == CSVReport(result).text)
        #expect(try String(contentsOf: load.folder.file("a.html"), encoding: .utf8) == HTMLReport(result).text)
        #expect(try String(contentsOf: log.file("output"), encoding: .utf8).contains("answered"))
    }

    /// The tool would wait for the pipe for ever.
    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func aSecondSignalEndsTheToolAtOnce(_ signal: Int32, _ expected: Int32) throws {
        let log = try TemporaryFolder()
        let pipe = try FullPipe(load.path("a.csv"))
        let run = try writing(pipe, log: log)
        var status: Int32?
        let deadline = Date() + 120
        // The first one changes nothing. Two that come together may be one.
        while status == nil, Date() < deadline {
            run.signal(signal)
            status = run.wait(seconds: 0.05)
        }
        if status == nil { run.kill() }
        #expect(status == expected)
        // Neither the report that was not begun nor a part of one.
        #expect(load.folder.names == ["a.csv", "a.json"])
        #expect(try load.result("a.json").total.counts.due == 3)
    }
}
