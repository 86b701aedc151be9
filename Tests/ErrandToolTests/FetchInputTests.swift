import ErrandTesting
import Foundation
import Testing

/// Bad input: a message of its own, its exit code, and no connection.
@Suite struct FetchInputTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let status: Int32
        let message: String

        init(_ status: Int32, _ message: String, _ arguments: String...) {
            self.arguments = arguments
            self.status = status
            self.message = message
        }

        var testDescription: String { arguments.joined(separator: " ").debugDescription }
    }

    static let cases: [Case] = [
        Case(64, "Missing expected argument"),
        Case(64, "Unknown option", "URL", "--nonsense"),
        Case(
            64,
            "errand: The value '0' is invalid for '--idle-timeout <idle-timeout>'\nLongest time without any data. See 'errand fetch",
            "URL", "--idle-timeout", "0"),
        Case(64, "invalidURL", "/nonsense"),
        Case(64, "invalidURL", "http://"),
        Case(64, "invalidURL", "http://a\nb/"),
        Case(64, "invalidURL", "http://127.0.0.1:99999/"),
        Case(64, "unsupportedScheme", "ftp://127.0.0.1/"),
        Case(64, "invalidURL", "file:///etc/passwd"),
        Case(64, "invalidMethod", "URL", "-X", "G T"),
        Case(64, "is invalid for '-H", "URL", "-H", "no colon"),
        Case(64, "invalidHeader", "URL", "-H", "a b: c"),
        Case(64, "invalidHeader", "URL", "-H", "a: b\r\nx: y"),
        Case(64, "is invalid for '-m", "URL", "-m", "0"),
        Case(64, "is invalid for '-m", "URL", "-m", "soon"),
        Case(64, "is invalid for '-m", "URL", "-m", "31d"),
        Case(64, "is invalid for '-m", "URL", "-m=-5s"),
        Case(64, "is invalid for '--max-body", "URL", "--max-body=-1"),
        Case(64, "is invalid for '--max-body", "URL", "--max-body", "9999999999g"),
        Case(64, "--parallel is 0, expected 1 to 1,000", "URL", "--parallel", "0"),
        Case(64, "--max-redirects is 101, expected 0 to 100", "URL", "--max-redirects", "101"),
        Case(64, "is invalid for '--http-version", "URL", "--http-version", "3"),
        Case(64, "-d and --json each set a body", "URL", "-d", "a", "--json", "1"),
        Case(64, "is not valid JSON", "URL", "--json", "{\"a\":"),
        Case(64, "-o is given 2 times for 1", "URL", "-o", "a", "-o", "b"),
        Case(64, "-o names the same file twice", "URL", "URL", "-o", "a", "-o", "a"),
        Case(64, "cannot be used with -o -", "URL", "--json-output", "-o", "-"),
        Case(66, "cannot read '/nonexistent/file': no such file", "URL", "-d", "@/nonexistent/file"),
        Case(66, "cannot read '/': is a directory", "URL", "-d", "@/"),
        Case(66, "cannot read '/nonexistent/file': no such file", "URL", "--json", "@/nonexistent/file"),
        Case(66, "errand: --cacert /nonexistent/file: no such file\n", "URL", "--cacert", "/nonexistent/file"),
        Case(66, "errand: --cert x.pem: no such file\n", "URL", "--cert", "x.pem", "-o", "/dev/null"),
        Case(66, "errand: --key /: is a directory\n", "URL", "--key", "/"),
        Case(66, "errand: -b 'jar.txt': no such file; to send a cookie, use NAME=VALUE\n", "URL", "-b", "jar.txt"),
        Case(66, "errand: -F: cannot read '/no': no such file\n", "URL", "-F", "a=@/no"),
        Case(64, "errand: -F 'a' does not have the form NAME=VALUE, NAME=@FILE or NAME=<FILE\n", "URL", "-F", "a"),
        Case(64, "errand: --digest requires -u USER:PASSWORD", "URL", "--digest"),
        Case(
            64, "errand: -I requests only the head and cannot be used with -d, which sets a body\n", "URL", "-I", "-d",
            "x"),
        Case(
            64, "errand: --proxy '127.0.0.1:8899' needs a scheme, such as http://\n", "URL", "--proxy",
            "127.0.0.1:8899"),
        Case(64, "--proxy 'ftp://h:1' is not an http, https, socks5 or socks5h URL\n", "URL", "--proxy", "ftp://h:1"),
        Case(64, "--resolve 'a:b' does not have the form host:port:address\n", "URL", "--resolve", "a:b"),
        Case(64, "did you mean http://localhost:8080/?\n", "htp://localhost:8080/"),
        Case(64, "did you mean http://localhost:8080/?\n", "http:/localhost:8080/"),
        Case(64, "did you mean http://localhost:8080/?\n", "http//localhost:8080/"),
        Case(64, "did you mean https://a/?\n", "htttps://a/"),
        Case(64, "did you mean http://localhost:8080/?\n", ":8080/"),
        Case(73, "cannot write '/nonexistent/file.part'", "URL", "-o", "/nonexistent/file.part"),
    ]

    @Test(arguments: cases) func isRefused(_ example: Case) throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let run = try ToolRun(["fetch"] + example.arguments.map { $0 == "URL" ? server.url("/") : $0 })
        #expect(run.status == example.status, "\(run.errors)")
        #expect(run.errors.contains(example.message), "\(run.errors)")
        #expect(run.output.isEmpty)
        // Not a list of all options.
        #expect(run.errors.split(separator: "\n").count <= 2, "\(run.errors)")
        // The output file is only opened once there is something to write.
        if example.status != 73 { #expect(server.counts.connections == 0) }
    }

    @Test func benchTellsTheRemedyToo() throws {
        for (arguments, message) in [
            (["htp://localhost/"], "did you mean http://localhost/?\n"),
            (["--cacert", "/no", "https://h/"], "errand: --cacert /no: no such file\n"),
        ] {
            let run = try ToolRun(["bench"] + arguments)
            #expect(run.status != 0 && run.output.isEmpty && run.errors.hasSuffix(message), "\(run.errors)")
        }
    }

    @Test func unknownSubcommandsAreTold() throws {
        let run = try ToolRun(["feth", "http://h/"])
        #expect(run.status == 64)
        #expect(
            run.errors
                == "errand: 'feth' is not a subcommand, expected fetch, download, batch, chain, bench or config\n"
                + "See 'errand --help'.\n")
        let mode = try ToolRun(["bench", "--mode", "x", "http://h/"])
        #expect(mode.status == 64 && mode.errors.split(separator: "\n").count == 2, "\(mode.errors)")
        #expect(mode.errors.contains("one of the following: core, closure, "), "\(mode.errors)")
    }
}
