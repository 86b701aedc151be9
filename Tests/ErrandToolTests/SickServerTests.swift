import ErrandTesting
import Foundation
import Testing

/// The example of a server that falls ill, in a few seconds. Whether its differences show depends on the load of the
/// machine: `scripts/demo` checks that, with nothing beside it.
@Suite struct SickServerTests {
    private static let executable = ToolRun.executable.deletingLastPathComponent()
        .appendingPathComponent("errand-sick-server").path

    /// - Parameter openFiles: The limit of open files; `nil`: that of the tests.
    private func run(
        _ arguments: [String], openFiles: Int? = nil
    ) throws -> (status: Int32?, output: String, errors: String) {
        let folder = try TemporaryFolder()
        for name in ["output", "errors"] { try Data().write(to: folder.file(name)) }
        let limited = openFiles.map { ["-c", "ulimit -n \($0) && exec \"$@\"", "bash", Self.executable] + arguments }
        let run = try ProgramRun(
            limited == nil ? Self.executable : "/bin/bash", limited ?? arguments,
            output: folder.file("output").path, errors: folder.file("errors").path)
        guard let status = run.end() else { throw ToolRun.Stuck(arguments: arguments) }
        return (
            status, try String(contentsOf: folder.file("output"), encoding: .utf8),
            try String(contentsOf: folder.file("errors"), encoding: .utf8)
        )
    }

    @Test(.timeLimit(.minutes(20))) func writesItsPage() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("page.html")
        let (status, output, errors) = try run(["--seconds", "4", file.path])
        #expect(status == 0, "\(errors)")
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines.last?.hasSuffix(file.path) == true, "\(output)")
        let page = try String(contentsOf: file, encoding: .utf8)
        // Self-contained.
        for word in ["<script", "http:", "https:", "src=", "@import"] { #expect(!page.contains(word), "\(word)") }
        #expect(page.firstMatch(of: /\b(nan|inf)\b/) == nil)
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(page.components(separatedBy: "role=\"img\"").count == 4)
        // The swatch of the legend and a line in each chart.
        for colour in ["grey", "red", "blue", "purple", "green"] {
            let lines = page.components(separatedBy: "class=\"line s-\(colour)\"").dropFirst()
            #expect(lines.count == 4)
            for line in lines.dropFirst() { #expect(line.contains(" d=\"M") && line.contains("L")) }
        }
        for phase in ["healthy", "2 % stall", "20 % stall", "50 % errors", "dead", "healthy again"] {
            #expect(page.contains("text-anchor=\"middle\">\(phase)</text>"))
            #expect(page.contains("<th scope=\"col\">\(phase)</th>"))
        }
    }

    @Test func mistakes() throws {
        for (arguments, message) in [
            (["--seconds", "1"], "--seconds is '1', expected 2 to 600"),
            (["--seconds"], "--seconds is missing, expected 2 to 600"),
            (["--what"], "unknown option '--what'"),
            (["a", "b"], "2 files are given, expected one"),
            (
                ["--check", "--seconds", "17"],
                "--check needs a script of at least 18 s, in which the differences show"
            ),
        ] {
            let (status, output, errors) = try run(arguments)
            #expect(status == 1 && output.isEmpty, "\(arguments)")
            #expect(errors.hasPrefix("errand-sick-server: \(message)\nusage: errand-sick-server"), "\(errors)")
        }
        for (file, reason) in [
            ("/nonexistent/page.html", "No such file or directory"), ("/tmp", "Is a directory"),
        ] {
            let (status, _, errors) = try run(["--seconds", "2", file])
            #expect(status == 1 && errors == "errand-sick-server: cannot write '\(file)': \(reason)\n", "\(errors)")
        }
    }

    @Test(arguments: ["-h", "--help"])
    func help(_ option: String) throws {
        let (status, output, errors) = try run([option])
        #expect(status == 0 && output.hasPrefix("usage: errand-sick-server") && errors.isEmpty, "\(errors)")
    }

    /// A page whose figures mean nothing is not written.
    @Test(.timeLimit(.minutes(20))) func aLackOfDescriptorsIsAnError() throws {
        let folder = try TemporaryFolder()
        let page = folder.file("page.html")
        try Data("old".utf8).write(to: page)
        let (status, output, errors) = try run(["--seconds", "4", page.path], openFiles: 100)
        #expect(status == 1 && output.isEmpty, "\(output)")
        #expect(errors.hasPrefix("errand-sick-server: ") && errors.contains("open files"), "\(errors)")
        #expect(try String(contentsOf: page, encoding: .utf8) == "old" && folder.names == ["page.html"])
    }

    /// The former page stays until the new one is complete.
    @Test func anInterruptLeavesThePage() throws {
        let folder = try TemporaryFolder()
        let page = folder.file("page.html")
        try Data("old".utf8).write(to: page)
        let run = try ProgramRun(Self.executable, ["--seconds", "600", page.path])
        // Long enough for the check of the file, which comes first.
        #expect(run.wait(seconds: 2) == nil)
        run.signal(SIGINT)
        #expect(run.end() == 128 + SIGINT)
        #expect(try String(contentsOf: page, encoding: .utf8) == "old" && folder.names == ["page.html"])
    }
}
