import ErrandTesting
import Foundation
import Testing

/// The live view of a load test on a terminal.
@Suite(.timeLimit(.minutes(20))) struct LoadTerminalTests {
    private let load: LoadToolRun
    private let terminal: PseudoTerminal

    /// Every response is an error, whose number is red.
    init() throws {
        load = try LoadToolRun([.sleep(milliseconds: 5), LoadToolRun.broken])
        terminal = try PseudoTerminal(columns: 100)
    }

    private func start(_ options: [String], _ variables: [String: String] = [:]) throws -> ProgramRun {
        var environment = ProcessInfo.processInfo.environment
        for name in ["NO_COLOR", "LC_ALL", "LC_CTYPE"] { environment[name] = nil }
        environment["TERM"] = "xterm"
        environment["LANG"] = "C.UTF-8"
        environment.merge(variables) { _, given in given }
        try Data().write(to: load.folder.file("output"))
        return try ProgramRun(
            ToolRun.executable.path, ["bench", load.server.url("/"), "--users", "2"] + options,
            environment: environment, output: load.path("output"), errors: terminal.path)
    }

    /// The text without colours.
    private func plain(_ line: String) -> String { line.replacing(/\u{1B}\[[0-9;]*m/, with: "") }

    private var output: String { (try? String(contentsOfFile: load.path("output"), encoding: .utf8)) ?? "" }

    @Test func theLineFitsAndIsClearedAfterAnInterrupt() throws {
        let run = try start(["-d", "600s"])
        defer { run.kill() }
        try blockUntil("the line has its rates") { terminal.drawn.dropLast().contains { plain($0).count > 45 } }
        #expect(terminal.drawn.allSatisfy { plain($0).count < 100 })
        #expect(terminal.drawn.contains { $0.contains(" of 10:00  ") })
        // Counted afterwards: a busy machine may draw more lines between the count and the change.
        terminal.setColumns(40)
        run.signal(SIGWINCH)
        let wide = terminal.drawn.count
        try blockUntil("the line was drawn anew") { terminal.drawn.count >= wide + 4 }
        // One line may have been under way.
        let narrow = terminal.drawn.dropFirst(wide + 1).dropLast().map(plain)
        #expect(narrow.allSatisfy { $0.count < 40 && $0.count > 10 }, "\(narrow)")
        run.signal(SIGINT)
        #expect(run.wait(seconds: 300) == 130)
        let text = terminal.read()
        #expect(terminal.drawn.last == "errand: interrupted\r\n", "\(text.suffix(300))")
        // The colour ends in each line, and the cursor is never hidden.
        #expect(text.contains("\u{1B}[31m"))
        #expect(text.components(separatedBy: "\u{1B}[31m").count == text.components(separatedBy: "\u{1B}[0m").count)
        #expect(!text.contains("\u{1B}[?"))
        #expect(output.contains("answered") && !output.contains("\u{1B}"), "\(output)")
    }

    @Test func theLineIsClearedAtTheEnd() throws {
        // The number of lines depends on the machine.
        let text = try blockWithEnoughTime("a line was drawn") { time throws -> String? in
            let status = try start(["-d", time.optionText]).end()
            // 98: nothing was sent in this time.
            guard status != 98 else { return nil }
            #expect(status == 0)
            let text = terminal.read()
            return terminal.drawn.contains { !$0.isEmpty } ? text : nil
        }
        #expect(text.hasSuffix("\r\u{1B}[K"), "\(text)")
    }

    @Test func colorsCanBeTurnedOff() throws {
        let run = try start(["-d", "600s"], ["NO_COLOR": "1"])
        defer { run.kill() }
        try blockUntil("the line has errors") { terminal.drawn.dropLast().contains { $0.contains("0 errors") } }
        try blockUntil("the line has its rates") { terminal.drawn.dropLast().contains { $0.contains("p99") } }
        run.signal(SIGINT)
        #expect(run.wait(seconds: 300) == 130)
        let text = terminal.read()
        #expect(text.contains("errors") && !text.contains("\u{1B}[31m"), "\(text)")
    }

    @Test func aTerminalWithoutControlCodesGetsNone() throws {
        let status = try blockWithEnoughTime("a request was sent") { time throws -> Int32? in
            let status = try start(["-d", time.optionText], ["TERM": "dumb"]).end()
            return status == 98 ? nil : status
        }
        #expect(status == 0)
        let text = terminal.read()
        #expect(!text.contains("\u{1B}") && !text.contains("\r\u{1B}"), "\(text)")
    }

    @Test func whatIsNoTerminalGetsNone() throws {
        let run = try blockWithEnoughTime("a request was sent") { time throws -> ToolRun? in
            let run = try ToolRun(["bench", load.server.url("/"), "--users", "2", "-d", time.optionText])
            return run.status == 98 ? nil : run
        }
        #expect(run.status == 0 && !run.errors.contains("\u{1B}") && !run.text.contains("\u{1B}"), "\(run.errors)")
    }
}
