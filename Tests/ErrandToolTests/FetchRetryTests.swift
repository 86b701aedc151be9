import ArgumentParser
import Errand
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// `errand fetch --retry` and its companions mean what they mean with curl.
@Suite struct FetchRetryTests {
    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private static let half: [ScriptedServer.Step] = [
        .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .finish,
    ]

    private static func status(_ code: Int, _ fields: String = "") -> ScriptedServer.Step {
        .send("HTTP/1.1 \(code) X\r\n\(fields)Content-Length: 4\r\n\r\nsick")
    }

    /// A server that answers one request after the other by these scripts, and the last one for ever.
    private func server(at path: String = "/", _ scripts: [ScriptedServer.Step]...) throws -> ScriptedServer {
        let server = try ScriptedServer()
        for steps in scripts { try server.on(path, steps) }
        return server
    }

    private func fetch(_ server: ScriptedServer, _ options: String..., seconds: Double = 120) throws -> ToolRun {
        try ToolRun(["fetch", server.url("/"), "--retry-delay", "10ms"] + options, seconds: seconds)
    }

    @Test func saysWhyAndWhen() throws {
        let server = try server([Self.status(503)], [Self.status(429)], [Self.ok])
        let run = try fetch(server, "--retry", "3", "-i")
        #expect(run.status == 0 && run.text.hasSuffix("\r\n\r\nok") && !run.text.contains("sick"))
        let begin = "errand: \(server.url("/")): status"
        #expect(
            run.errors == "\(begin) 503; retry 1 of 3 in 10.0 ms\n\(begin) 429; retry 2 of 3 in 10.0 ms\n",
            "\(run.errors)")
        #expect(server.counts.requests == 3)
    }

    @Test func theLastResponseStands() throws {
        let server = try server([Self.status(500)], [Self.status(503)])
        let run = try fetch(server, "--retry", "2", "--json-output")
        #expect(run.status == 0 && server.counts.requests == 3)
        let json = try run.json()
        #expect(json["status"] as? Int == 503 && json["retries"] as? Int == 2 && json["body_bytes"] as? Int == 4)
        let plain = try fetch(server, "--retry", "1")
        #expect(plain.text == "sick" && plain.status == 0)
        #expect(try fetch(server, "--retry", "1", "-f").status == 22)
        #expect(server.counts.requests == 7)
    }

    @Test(
        arguments: [
            (408, 2), (429, 2), (500, 2), (502, 2), (503, 2), (504, 2), (522, 2), (524, 2), (200, 1), (404, 1),
            (425, 1), (501, 1), (505, 1), (521, 1), (523, 1),
        ])
    func statusesOfCurl(code: Int, requests: Int) throws {
        let server = try server([Self.status(code)])
        _ = try fetch(server, "--retry", "1")
        #expect(server.counts.requests == requests)
        _ = try fetch(server, "--retry", "1", "--retry-all-errors")
        #expect(server.counts.requests == 2 * requests)
        _ = try fetch(server, "--retry", "1", "--retry-all-errors", "-f")
        #expect(server.counts.requests == 2 * requests + (code < 400 ? 1 : 2))
    }

    /// Whatever the method, as with curl.
    @Test func aBodyIsSentAgain() throws {
        let server = try server([.readBody, Self.status(503)], [.readBody, Self.ok])
        let run = try fetch(server, "--retry", "1", "-d", "a=b")
        #expect(run.text == "ok", "\(run.errors)")
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["a=b", "a=b"])
        let folder = try TemporaryFolder()
        try Data("from a file".utf8).write(to: folder.file("body"))
        // The name of the file is added to the path.
        let other = try self.server(at: "/body", [.readBody, Self.status(503)], [.readBody, Self.ok])
        #expect(try fetch(other, "--retry", "1", "-T", folder.file("body").path).text == "ok")
        #expect(other.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["from a file", "from a file"])
    }

    @Test func aPipeIsSentOnce() throws {
        for script in [[ScriptedServer.Step.readBody, Self.status(503)], [.readBody] + Self.half] {
            let server = try server(script)
            let folder = try TemporaryFolder()
            let run = try ToolRun(
                ["fetch", server.url("/"), "-T", "-", "--retry", "3", "--retry-all-errors", "--retry-delay", "10ms"]
                    + ["-o", folder.file("out").path], shell: "echo once | \"$@\"")
            #expect(server.counts.requests == 1 && !run.errors.contains("retry"), "\(run.errors)")
        }
    }

    @Test func retryAfterIsObeyed() throws {
        let busy = Self.status(503, "Retry-After: 1\r\n")
        let began = ContinuousClock.now
        let run = try fetch(try server([busy], [Self.ok]), "--retry", "1")
        #expect(run.text == "ok" && run.errors.hasSuffix("status 503; retry 1 of 1 in 1.00 s\n"), "\(run.errors)")
        #expect(ContinuousClock.now - began >= .seconds(1))
        let server = try server([busy], [Self.ok])
        let short = try fetch(server, "--retry", "1", "--retry-max-time", "500ms")
        #expect(short.text == "sick" && short.errors.isEmpty && server.counts.requests == 1)
    }

    @Test func theTimeForRetries() throws {
        let server = try server([Self.status(503)])
        let run = try ToolRun(
            ["fetch", server.url("/"), "--retry", "99", "--retry-delay", "100ms", "--retry-max-time", "250ms"])
        #expect(run.text == "sick" && (1...3).contains(server.counts.requests), "\(run.errors)")
        #expect(try fetch(server, "--retry", "2", "--retry-max-time", "0").errors.contains("retry 2 of 2"))
    }

    @Test func refusedConnections() throws {
        let port = try FaultPort(.refused)
        let arguments = ["fetch", "http://127.0.0.1:\(port.number)/", "--retry", "2", "--retry-delay", "10ms"]
        let plain = try ToolRun(arguments)
        #expect(plain.status == 11 && !plain.errors.contains("retry"), "\(plain.errors)")
        for option in ["--retry-connrefused", "--retry-all-errors"] {
            let run = try ToolRun(arguments + [option])
            #expect(run.status == 11 && run.errors.contains("no connection; retry 2 of 2 in"), "\(run.errors)")
        }
    }

    @Test func aLookupThatFailsIsRepeated() throws {
        let run = try ToolRun(
            ["fetch", "http://nobody.invalid/", "--retry", "1", "--retry-delay", "10ms", "--connect-timeout", "50s"])
        #expect(run.status == 10 && run.errors.contains("no connection; retry 1 of 1"), "\(run.errors)")
    }

    /// `-m` is the time of each attempt.
    @Test func timeouts() throws {
        for option in ["-m", "--first-byte-timeout"] {
            let run = try blockWithEnoughTime("the third attempt was answered in its time") { time in
                let server = try server([.stall], [.stall], [.sleep(milliseconds: 20), Self.ok])
                let run = try ToolRun(
                    ["fetch", server.url("/"), "--retry", "2", "--retry-delay", "10ms", option, time.optionText],
                    seconds: 600)
                return run.status == 13 ? nil : run
            }
            #expect(run.status == 0 && run.text == "ok")
            #expect(run.errors.contains("timeout; retry 2 of 2"), "\(run.errors)")
        }
        let port = try FaultPort(.silent)
        let run = try ToolRun(
            ["fetch", "http://127.0.0.1:\(port.number)/", "--connect-timeout", "100ms", "--retry", "1"]
                + ["--retry-delay", "10ms"])
        #expect(run.status == 13 && run.errors.contains("no connection; retry 1 of 1"), "\(run.errors)")
    }

    @Test func brokenConnectionsOnlyWithAllErrors() throws {
        let once = try server([.close], [Self.ok])
        #expect(try fetch(once, "--retry", "3").status == 14)
        let again = try server([.reset], [.send("garbage\r\n\r\n"), .finish], [Self.ok])
        let run = try fetch(again, "--retry", "3", "--retry-all-errors")
        #expect(run.text == "ok" && run.errors.contains("malformed response; retry 2 of 3"), "\(run.errors)")
    }

    /// A file of `-o` begins anew: no byte of the response that broke off is left.
    @Test func aFileBeginsAnew() throws {
        let folder = try TemporaryFolder()
        let server = try server(Self.half, Self.half, [Self.ok])
        let run = try fetch(
            server, "--retry", "2", "--retry-all-errors", "-o", folder.file("body").path, "--json-output")
        let json = try run.json()
        #expect(run.status == 0 && json["retries"] as? Int == 2 && json["body_bytes"] as? Int == 2, "\(run.errors)")
        #expect(run.errors.contains("broken connection; retry 1 of 2 in 10.0 ms"))
        #expect(try String(contentsOf: folder.file("body"), encoding: .utf8) == "ok" && folder.names == ["body"])
        // A timeout needs no further option.
        let other = try blockWithEnoughTime("the second attempt was answered in its time") { time in
            let half = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            let slow = try self.server([half, .stall], [Self.ok])
            let other = try fetch(
                slow, "--retry", "1", "-m", time.optionText, "-o", folder.file("body").path, seconds: 600)
            return other.status == 13 ? nil : other
        }
        #expect(other.status == 0)
        #expect(other.errors.contains("timeout; retry 1 of 1"), "\(other.errors)")
    }

    @Test func whatWasPrintedIsNotRequestedAgain() throws {
        let server = try server(Self.half)
        let run = try fetch(server, "--retry", "3", "--retry-all-errors")
        #expect(run.status == 14 && run.text == "abc" && server.counts.requests == 1)
        let head = try self.server([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), .finish], [Self.ok])
        #expect(try fetch(head, "--retry", "3", "--retry-all-errors", "-i").status == 14)
        #expect(head.counts.requests == 1)
        let nothing = try self.server([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), .finish], [Self.ok])
        #expect(try fetch(nothing, "--retry", "3", "--retry-all-errors").text == "ok")
    }

    /// A pipe keeps what was written, as standard output does. `/dev/null` keeps nothing.
    @Test func whatAPipeHasGotIsNotRequestedAgain() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        // Open for reading and writing, so that the tool never waits for a reader, and no end is seen.
        let reader = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        #expect(reader >= 0)
        defer { close(reader) }
        let server = try server(Self.half, [Self.ok])
        let run = try fetch(server, "--retry", "3", "--retry-all-errors", "-o", pipe)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(reader, &bytes, bytes.count)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "abc")
        #expect(run.status == 14 && !run.errors.contains("retry") && server.counts.requests == 1, "\(run.errors)")
        let empty = try self.server([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), .finish], [Self.ok])
        #expect(try fetch(empty, "--retry", "3", "--retry-all-errors", "-o", pipe).status == 14)
        #expect(empty.counts.requests == 1)
        let again = try self.server(Self.half, [Self.ok])
        let other = try fetch(again, "--retry", "3", "--retry-all-errors", "-o", "/dev/null")
        #expect(other.status == 0 && again.counts.requests == 2, "\(other.errors)")
    }

    /// Each hop has retries of its own. They begin at the hop, and the note names it.
    @Test func aHopIsRetriedAlone() throws {
        let server = try ScriptedServer()
        try server.on("/", [Self.status(503)])
        try server.on("/", [.send("HTTP/1.1 302 F\r\nLocation: /hop\r\nContent-Length: 0\r\n\r\n")])
        for steps in [[Self.status(503)], [Self.ok]] { try server.on("/hop", steps) }
        let run = try fetch(server, "--retry", "1", "-L", "--json-output")
        #expect(server.requests.map(\.target) == ["/", "/", "/hop", "/hop"], "\(run.errors)")
        #expect(try run.json()["retries"] as? Int == 2)
        let notes = run.errors.split(separator: "\n").filter { $0.contains("; retry ") }
        #expect(
            notes == ["/", "/hop"].map { "errand: \(server.url($0)): status 503; retry 1 of 1 in 10.0 ms" },
            "\(run.errors)")
    }

    /// The retries before a head and those after a body that broke off are counted together.
    @Test(arguments: 0...4)
    func allRetriesCountTogether(limit: Int) throws {
        let sick = [Self.status(503)]
        let server = try server(sick, Self.half, sick, Self.half, sick, Self.half)
        let folder = try TemporaryFolder()
        let run = try fetch(
            server, "--retry", "\(limit)", "--retry-all-errors", "-o", folder.file("body").path, "--json-output")
        #expect(server.counts.requests == limit + 1, "\(run.errors)")
        #expect(try run.json()["retries"] as? Int == limit)
        let notes = run.errors.split(separator: "\n").filter { $0.contains("; retry ") }
        #expect(notes.count == limit)
        for (index, note) in notes.enumerated() { #expect(note.contains("retry \(index + 1) of \(limit)")) }
        #expect(run.status == (limit.isMultiple(of: 2) ? 0 : 14))
    }

    /// The cookie jar and the connections are those of the run, whichever attempt filled them.
    @Test func cookiesOfAFailedAttemptAreSent() throws {
        let server = try server([Self.status(503, "Set-Cookie: a=1\r\n")], Self.half, [Self.ok])
        let folder = try TemporaryFolder()
        let run = try fetch(
            server, "--retry", "2", "--retry-all-errors", "-c", folder.file("jar").path, "-o",
            folder.file("body").path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(server.requests.map { $0.values(of: "cookie") } == [[], ["a=1"], ["a=1"]])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheWait(_ signal: Int32) throws {
        for script in [[Self.status(503)], Self.half] {
            let server = try server(script)
            let folder = try TemporaryFolder()
            let run = try ToolRun(
                ["fetch", server.url("/"), "--retry", "3", "--retry-delay", "3600", "--retry-all-errors"]
                    + ["-o", folder.file("body").path],
                interruptWhen: { server.counts.requests == 1 }, signal: signal)
            #expect(run.status == 128 + signal && folder.names.isEmpty, "\(run.errors)")
        }
    }

    @Test func mistakes() throws {
        for (arguments, message) in [
            (["--retry", "100"], "--retry is 100, expected 0 to 99"),
            (["--retry-delay", "1"], "--retry-delay requires --retry"),
            (["--retry-max-time", "1"], "--retry-max-time requires --retry"),
            (["--retry-all-errors"], "--retry-all-errors requires --retry"),
            (["--retry-connrefused"], "--retry-connrefused requires --retry"),
        ] {
            let run = try ToolRun(["fetch", "http://127.0.0.1:1/"] + arguments)
            #expect(run.status == 64 && run.errors == "errand: \(message)\n", "\(run.errors)")
        }
        #expect(try ToolRun(["fetch", "http://127.0.0.1:1/", "--retry", "1", "--retry-delay", "soon"]).status == 64)
    }

    /// One second, then twice as long before each further retry, up to ten minutes.
    @Test func theWaitsOfCurl() throws {
        func policy(_ arguments: String...) throws -> RetryPolicy {
            try #require(try RetryArguments.parse(arguments).policy(timeout: nil, fails: false))
        }
        let waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
        for given in [try policy("--retry", "12"), try policy("--retry", "12", "--retry-delay", "0")] {
            #expect((1...12).map { given.backoff.wait(retry: $0, random: 0.5) } == waits.map { .seconds($0) })
            #expect(given.maxAttempts == 13 && given.maxRetryTime == nil && given.attemptTimeout == nil)
        }
        let fixed = try policy("--retry", "2", "--retry-delay", "1.5", "--retry-max-time", "2m")
        #expect((1...2).map { fixed.backoff.wait(retry: $0, random: 0.5) } == [.seconds(1.5), .seconds(1.5)])
        #expect(fixed.maxRetryTime == .seconds(120))
        #expect(try RetryArguments.parse([]).policy(timeout: nil, fails: false) == nil)
        #expect(try RetryArguments.parse(["--retry", "0"]).policy(timeout: nil, fails: false) == nil)
        // The waits go on after a body that broke off.
        var retries = FetchRetries(try policy("--retry", "9", "--retry-all-errors"))
        #expect(retries.next(after: .partialBody) == .seconds(1))
        #expect(retries.next(after: .timeoutIdle) == .seconds(2))
        #expect(retries.next(after: .limitBodyBytes) == nil)
        #expect(retries.left.maxAttempts == 8 && retries.left.backoff.wait(retry: 1, random: 0.5) == .seconds(4))
    }
}
