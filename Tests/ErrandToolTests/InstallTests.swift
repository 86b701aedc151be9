import ErrandTesting
import Foundation
import Testing

/// Man pages, completions, and `scripts/install`, which puts them where they belong. No test builds the release.
@Suite struct InstallTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let subcommands = [
        "fetch", "download", "batch", "chain", "bench", "bench-compare", "bench-merge", "config",
    ]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: folder.file(path), encoding: .utf8)
    }

    /// The names of the options that `--help` shows: what a reader can be told of them.
    private func options(_ arguments: [String]) throws -> Set<String> {
        let help = try ToolRun(arguments + ["--help"])
        #expect(help.status == 0)
        let section = try #require(help.text.components(separatedBy: "\nOPTIONS:\n").last)
        var names: Set<String> = []
        for line in section.split(separator: "\n") where line.hasPrefix("  -") {
            let head = line.dropFirst(2).components(separatedBy: "  ")[0]
            for word in head.split(whereSeparator: { " ,/".contains($0) }) where word.hasPrefix("-") {
                names.insert(String(word))
            }
        }
        #expect(names.contains("--help"))
        return names
    }

    @Test func manualsHaveEveryOption() throws {
        #expect(try ToolRun(["manual", folder.url.path]).status == 0)
        #expect(folder.names == (InstallTests.subcommands.map { "errand-\($0).1" } + ["errand.1"]).sorted())
        for subcommand in InstallTests.subcommands {
            let page = try text("errand-\(subcommand).1")
            let escaped = subcommand.replacing("-", with: "\\-")
            #expect(page.hasPrefix(".TH ERRAND\\-\(escaped.uppercased()) 1 \"\" \"errand "))
            for name in try options([subcommand]) {
                #expect(page.contains("\\fB\(name.replacing("-", with: "\\-"))\\fR"), "\(subcommand) \(name)")
            }
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
                #expect(page.contains("\n.SH \(section)\n"), "\(subcommand) \(section)")
            }
            // The exit codes have a section, and are not in the text beside it.
            #expect(page.contains("\n.B 130\ninterrupted") && !page.contains("EXIT CODES"))
            // A line that begins so is a request to roff, and the rest of it would be lost.
            let requests = page.split(separator: "\n").filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
            #expect(requests.allSatisfy { $0.prefixMatch(of: /\.(TH|SH|TP|PP|BR|B)( |$)/) != nil })
            #expect(page.utf8.allSatisfy { $0 < 0x80 && ($0 >= 0x20 || $0 == 0x0A) })
        }
        let batch = try text("errand-batch.1")
        #expect(batch.contains("\\fIfile\\fR...\n") && batch.contains("One of: fail\\-fast, collect\\-all."))
        let tool = try text("errand.1")
        for subcommand in InstallTests.subcommands {
            #expect(tool.contains(".BR errand\\-\(subcommand.replacing("-", with: "\\-")) (1)"))
        }
        #expect(!tool.contains("manual"))
    }

    @Test func saysWhereAPageCannotBeWritten() throws {
        let tool = try ToolRun(["manual", "/nonexistent"])
        #expect(tool.status == 73 && tool.errors.hasPrefix("errand: cannot write '/nonexistent/errand.1': "))
        #expect(try !ToolRun(["--help"]).text.contains("manual"))
    }

    struct Completion: Sendable, CustomTestStringConvertible {
        let words: [String]
        let expected: [String]
        var testDescription: String { words.joined(separator: " ") }
    }

    @Test(arguments: [
        Completion(words: ["ch"], expected: ["chain"]),
        Completion(words: ["batch", "s"], expected: ["suite", "suite.http"]),
        Completion(words: ["chain", "suite.http", "t"], expected: ["t.rest"]),
        Completion(words: ["batch", "--env-file", "e"], expected: ["env.json"]),
        Completion(words: ["batch", "--junit", "n"], expected: ["notes.txt"]),
        Completion(words: ["batch", "--policy", "f"], expected: ["fail-fast"]),
        Completion(words: ["batch", "--max-c"], expected: ["--max-concurrent"]),
        Completion(words: ["fetch", "--cacert", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "--cert", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "--key", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "--unix-socket", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "-o", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "-T", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "--cookie", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "-c", "n"], expected: ["notes.txt"]),
        Completion(words: ["fetch", "--har", "n"], expected: ["notes.txt"]),
        Completion(words: ["download", "-o", "s"], expected: ["suite", "suite.http"]),
        Completion(words: ["bench", "--cacert", "n"], expected: ["notes.txt"]),
        Completion(words: ["bench", "--feed", "u"], expected: ["users.csv"]),
        Completion(words: ["bench", "--html", "n"], expected: ["notes.txt"]),
        Completion(words: ["bench-merge", "-o", "n"], expected: ["notes.txt"]),
        Completion(words: ["be"], expected: ["bench"]),
        Completion(words: ["bench", "c"], expected: ["compare"]),
        Completion(words: ["bench", "m"], expected: ["merge"]),
        Completion(words: ["bench", "compare", "--s"], expected: ["--smallest-change"]),
        Completion(words: ["bench", "compare", "env.json", "--ht"], expected: ["--html"]),
        Completion(words: ["bench", "compare", "e"], expected: ["env.json"]),
        Completion(words: ["bench", "merge", "--ap"], expected: ["--apart"]),
        Completion(words: ["bench", "merge", "-o", "n"], expected: ["notes.txt"]),
    ]) func bashCompletes(_ example: Completion) throws {
        for name in ["suite.http", "t.rest", "env.json", "notes.txt", "users.csv"] {
            try Data().write(to: folder.file(name))
        }
        try FileManager.default.createDirectory(at: folder.file("suite"), withIntermediateDirectories: false)
        let script = try ToolRun(["--generate-completion-script", "bash"])
        #expect(script.status == 0)
        try script.output.write(to: folder.file(".completion"))
        // What bash does when the tab key is pressed. compopt works within a completion alone.
        let words = ["errand"] + example.words
        let line = words.joined(separator: " ")
        let driver = """
            cd '\(folder.url.path)' && compopt() { :; } && source ./.completion
            COMP_WORDS=(\(line)) COMP_CWORD=\(words.count - 1) COMP_LINE='\(line)' COMP_POINT=\(line.utf8.count)
            _errand errand '\(words[words.count - 1])' '\(words[words.count - 2])'
            printf '%s\\n' "${COMPREPLY[@]}" | sort -u
            """
        try Data().write(to: folder.file(".output"))
        let run = try ProgramRun("/bin/bash", ["-c", driver], output: folder.file(".output").path)
        #expect(run.end() == 0)
        #expect(try text(".output").split(separator: "\n").map(String.init) == example.expected)
    }

    @Test func zshAndFishCompleteFiles() throws {
        let zsh = try ToolRun(["--generate-completion-script", "zsh"]).text
        #expect(zsh.hasPrefix("#compdef errand\n") && zsh.contains("_files -g '\\''*.http *.rest *.har'\\''"), "\(zsh)")
        let fish = try ToolRun(["--generate-completion-script", "fish"]).text
        let lines = fish.split(separator: "\n").filter { $0.contains("-l 'cacert'") || $0.contains("-l 'junit'") }
        #expect(lines.count == 9 && lines.allSatisfy { $0.hasSuffix(" -rF") }, "\(fish)")
        #expect(fish.contains("set -l exts \\'http\\' \\'rest\\'"), "\(fish)")
    }

    /// The scripts of these shells are not run, because few machines have the shells.
    @Test func zshAndFishKnowTheTwoWords() throws {
        let zsh = try ToolRun(["--generate-completion-script", "zsh"]).text
        let offered = zsh.split(separator: "\n").map { $0.drop { $0 == " " } }
        for word in ["compare", "merge"] {
            #expect(offered.contains { $0.hasPrefix("'\(word):") }, "\(word)")
            #expect(!offered.contains { $0.hasPrefix("'bench-\(word):") }, "\(word)")
        }
        #expect(zsh.contains("\"${words[2]}\" = (compare|merge) ]]; then"))
        let fish = try ToolRun(["--generate-completion-script", "fish"]).text
        #expect(fish.contains("contains -- \"$unparsed_tokens[3]\" compare merge\n"))
        for word in ["compare", "merge"] {
            #expect(fish.contains("_for_positional \"errand bench\" -eq 1' -fa '\(word)' -d "), "\(word)")
            #expect(!fish.contains("-fa 'bench-\(word)'"), "\(word)")
        }
    }

    private func install(_ arguments: [String], destination: String) throws -> (status: Int32?, text: String) {
        try Data().write(to: folder.file("log"))
        let script = InstallTests.root.appendingPathComponent("scripts/install").path
        let run = try ProgramRun(
            "/usr/bin/env", ["DESTDIR=\(destination)", "/bin/sh", script] + arguments, output: folder.file("log").path)
        return (run.end(), try text("log"))
    }

    @Test func putsEverythingInItsPlace() throws {
        let target = folder.file("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        let (status, log) = try install(
            ["--prefix", "/opt/errand", "--program", ToolRun.executable.path], destination: target.path)
        #expect(status == 0, "\(log)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: target.path).filter { path in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: target.path + "/" + path, isDirectory: &isDirectory)
            return !isDirectory.boolValue
        }
        let pages = (["errand"] + InstallTests.subcommands.map { "errand-\($0)" }).map { "share/man/man1/\($0).1" }
        let others = [
            "bin/errand", "share/bash-completion/completions/errand", "share/zsh/site-functions/_errand",
            "share/fish/vendor_completions.d/errand.fish",
        ]
        #expect(Set(files) == Set((pages + others).map { "opt/errand/" + $0 }))
        #expect(
            log.hasSuffix(
                "install: \(target.path)/opt/errand/bin/errand, with \(pages.count) man pages and completions for bash, zsh and fish\n"
            ))
        #expect(FileManager.default.isExecutableFile(atPath: target.path + "/opt/errand/bin/errand"))
        #expect(
            try !String(contentsOfFile: target.path + "/opt/errand/share/zsh/site-functions/_errand", encoding: .utf8)
                .isEmpty)
    }

    @Test(arguments: [
        (["--prefix"], "install: --prefix requires a value"), (["--static"], "install: unknown option --static"),
        (["--program", "/nonexistent/errand"], "install: /nonexistent/errand is not a program"),
    ]) func refusesToInstall(_ arguments: [String], _ message: String) throws {
        let (status, log) = try install(arguments, destination: folder.url.path)
        #expect(status != 0 && log.hasPrefix(message), "\(log)")
        #expect(folder.names == ["log"])
    }
}
