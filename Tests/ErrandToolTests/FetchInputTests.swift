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
        Case(64, "invalidURL", "nonsense"),
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
        Case(64, "--parallel is 1 to 1,000, not 0", "URL", "--parallel", "0"),
        Case(64, "--max-redirects is 0 to 100, not 101", "URL", "--max-redirects", "101"),
        Case(64, "is invalid for '--http-version", "URL", "--http-version", "3"),
        Case(64, "--data and --json both", "URL", "-d", "a", "--json", "1"),
        Case(64, "this is not JSON", "URL", "--json", "{\"a\":"),
        Case(64, "-o is given 2 times for 1", "URL", "-o", "a", "-o", "b"),
        Case(64, "-o names the same file twice", "URL", "URL", "-o", "a", "-o", "a"),
        Case(64, "-o - cannot", "URL", "--json-output", "-o", "-"),
        Case(66, "cannot read '/nonexistent/file': no such file", "URL", "-d", "@/nonexistent/file"),
        Case(66, "cannot read '/': it is a directory", "URL", "-d", "@/"),
        Case(66, "cannot read '/nonexistent/file': no such file", "URL", "--json", "@/nonexistent/file"),
        Case(66, "fileUnreadable", "URL", "--cacert", "/nonexistent/file"),
        Case(66, "fileUnreadable", "URL", "--cert", "/nonexistent/file", "-o", "/dev/null"),
        Case(73, "cannot write '/nonexistent/file.part'", "URL", "-o", "/nonexistent/file.part"),
    ]

    @Test(arguments: cases) func isRefused(_ example: Case) throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let run = try ToolRun(["fetch"] + example.arguments.map { $0 == "URL" ? server.url("/") : $0 })
        #expect(run.status == example.status, "\(run.errors)")
        #expect(run.errors.contains(example.message), "\(run.errors)")
        #expect(run.output.isEmpty)
        // The output file is only opened once there is something to write.
        if example.status != 73 { #expect(server.counts.connections == 0) }
    }
}
