import ErrandTesting
import Foundation
import Testing

/// Bad servers: one ending, its exit code, in memory as in a file; and never half a file.
@Suite struct FetchFailureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let kind: String
        let status: Int32
        let steps: [ScriptedServer.Step]
        let options: [String]

        init(_ kind: String, _ status: Int32, _ steps: [ScriptedServer.Step], _ options: String...) {
            self.kind = kind
            self.status = status
            self.steps = steps
            self.options = options
        }

        var testDescription: String { "\(kind) \(options.joined(separator: " "))" }
    }

    static let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

    static let cases: [Case] = [
        Case("connectionLost", 14, [.close]),
        Case("receiveFailed", 14, [.send("HTTP/1.1 200 OK\r\nConte"), .reset]),
        Case("partialBody", 14, [.send(head + "abc"), .finish]),
        Case("malformedResponse", 15, [.send("SSH-2.0-OpenSSH\r\n\r\n"), .finish]),
        Case("timeoutTotal", 13, [.stall], "-m", "200ms"),
        Case("timeoutFirstByte", 13, [.stall], "--first-byte-timeout", "200ms"),
        Case("timeoutIdle", 13, [.send(head + "abc"), .stall], "--idle-timeout", "200ms"),
        Case("limitBodyBytes", 16, [.send(head + "0123456789")], "--max-body", "9"),
        Case("httpStatus", 22, [.send("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")], "--fail"),
        Case("tooManyRedirects", 17, [.send("HTTP/1.1 302 F\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")], "-L"),
        Case("redirectRefused", 17, [.send("HTTP/1.1 302 F\r\nLocation: ftp://x/\r\nContent-Length: 0\r\n\r\n")], "-L"),
        Case(
            "redirectRefused", 17, [.send("HTTP/1.1 302 F\r\nLocation: javascript:a()\r\nContent-Length: 0\r\n\r\n")],
            "-L"),
        Case(
            "redirectRefused", 17, [.send("HTTP/1.1 303 F\r\nLocation: file:///a\r\nContent-Length: 0\r\n\r\n")], "-L"),
    ]

    @Test(arguments: cases) func endsOnce(_ example: Case) throws {
        let server = try ScriptedServer()
        try server.on("/", example.steps)
        let folder = try TemporaryFolder()
        for output in [[], ["-o", folder.file("body").path]] {
            let run = try ToolRun(["fetch", server.url("/"), "--json-output"] + example.options + output)
            #expect(run.status == example.status, "\(output) \(run.errors)")
            let error = try run.json()["error"] as? [String: Any]
            #expect(error?["kind"] as? String == example.kind, "\(output) \(run.text)")
            #expect(error?["exit_code"] as? Int32 == example.status)
            #expect(run.errors.contains(server.url("/")))
            #expect(folder.names.isEmpty)
        }
    }

    @Test func refusedConnection() throws {
        let port = try FaultPort(.refused)
        let run = try ToolRun(["fetch", "http://127.0.0.1:\(port.number)/"])
        #expect(run.status == 11)
        #expect(run.errors.contains("connectFailed"))
    }

    @Test func connectTimeout() throws {
        let port = try FaultPort(.silent)
        let run = try ToolRun(["fetch", "http://127.0.0.1:\(port.number)/", "--connect-timeout", "200ms"])
        #expect(run.status == 13)
        #expect(run.errors.contains("timeoutConnect"))
    }

    @Test func unknownHost() throws {
        let run = try ToolRun(["fetch", "http://nobody.invalid/", "--connect-timeout", "100s"])
        #expect(run.status == 10)
        #expect(run.errors.contains("resolveFailed"))
    }

    /// The deadline of `-m` is one for all hops of a download.
    @Test func totalTimeoutSpansRedirects() throws {
        let server = try ScriptedServer()
        let hop = "HTTP/1.1 302 F\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
        try server.on("/", [.sleep(milliseconds: 150), .send(hop)])
        for output in [[], ["-o", "/dev/null"]] {
            let run = try ToolRun(["fetch", server.url("/"), "-L", "-m", "400ms"] + output)
            #expect(run.status == 13, "\(output) \(run.errors)")
        }
    }

    @Test(arguments: [SIGINT, SIGHUP, SIGTERM])
    func signalsLeaveNoFile(_ signal: Int32) throws {
        let server = try ScriptedServer()
        try server.on("/", [.send(FetchFailureTests.head + "abc"), .stall])
        let folder = try TemporaryFolder()
        let run = try ToolRun(
            ["fetch", server.url("/"), "-o", folder.file("body").path], interruptWhen: { !folder.names.isEmpty },
            signal: signal)
        #expect(run.status == 128 + signal, "\(run.errors)")
        #expect(folder.names.isEmpty)
    }

    /// What did it, and what would have let it go on.
    @Test func tellsTheOption() throws {
        let server = try ScriptedServer()
        try server.on("/loop", [.send("HTTP/1.1 302 F\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n")])
        try server.on("/stall", [.stall])
        let loop = try ToolRun(["fetch", "-L", "--max-redirects", "2", server.url("/loop")])
        #expect(loop.status == 17)
        let none = try ToolRun(["fetch", "-L", "--max-redirects", "0", server.url("/loop")])
        #expect(none.errors.hasSuffix("tooManyRedirects: stopped after 0 redirects; see --max-redirects\n"))
        #expect(none.status == loop.status)
        #expect(loop.errors.hasSuffix("tooManyRedirects: stopped after 2 redirects; see --max-redirects\n"))
        let late = try ToolRun(["fetch", "-m", "100ms", server.url("/stall")])
        #expect(
            late.errors.hasSuffix("the total timeout expired before the request ended; see --timeout\n"),
            "\(late.errors)")
    }

    @Test func firstFailedURLDecides() throws {
        let server = try ScriptedServer()
        try server.on("/ok", [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        try server.on("/lost", [.close])
        try server.on("/bad", [.send("garbage\r\n\r\n"), .finish])
        let run = try ToolRun(["fetch", server.url("/ok"), server.url("/bad"), server.url("/lost")])
        #expect(run.status == 15)
        #expect(run.text == "ok")
    }
}
