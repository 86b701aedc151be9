import ErrandTesting
import Foundation
import Testing

/// Options that are curl's too mean what they mean there.
@Suite struct FetchOptionsTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func echo() throws -> ScriptedServer {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        return server
    }

    private func body(_ request: ScriptedServer.RecordedRequest) -> String {
        String(decoding: request.body, as: UTF8.self)
    }

    @Test func joinsDataAndTakesAttachedValues() throws {
        let server = try echo()
        let run = try ToolRun(["fetch", "-iXPUT", "-da=1", "-d", "b=2", "-HX-Test: 1", server.url("/"), "-m1h", "-o-"])
        #expect(run.status == 0 && run.text.hasPrefix("HTTP/1.1 200"), "\(run.errors)")
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT" && body(request) == "a=1&b=2" && request.values(of: "x-test") == ["1"])
        // Of every subcommand.
        let bench = try ToolRun(["bench", "-c2", "-n4", "--warm-up", "0", "-XPOST", server.url("/"), "--json"])
        #expect(bench.status == 0 && bench.text.contains("\"requests\": 4"), "\(bench.errors)")
        #expect(server.requests.suffix(4).map(\.method) == ["POST", "POST", "POST", "POST"])
        #expect(try ToolRun(["bench", "-q7", server.url("/")]).errors.contains("Unknown option '-q7'"))
    }

    @Test func sendsCredentials() throws {
        let server = try echo()
        let url = server.url("/")
        let withUser = url.replacingOccurrences(of: "http://", with: "http://ada:s%40crt@")
        _ = try ToolRun(["fetch", url, "-u", "ada:s@crt"])
        _ = try ToolRun(["fetch", withUser])
        _ = try ToolRun(["fetch", withUser, "-H", "Authorization: mine"])
        let basic = "Basic " + Data("ada:s@crt".utf8).base64EncodedString()
        #expect(server.requests.map { $0.values(of: "authorization") } == [[basic], [basic], ["mine"]])
    }

    @Test func answersDigest() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.digest(username: "ada", password: "secret"), .send(Self.ok)])
        let url = server.url("/")
        let withUser = url.replacingOccurrences(of: "http://", with: "http://ada:secret@")
        for arguments in [
            [withUser], [url, "-u", "ada:secret"], [url, "-u", "ada:secret", "--digest"], [withUser, "--digest"],
        ] {
            let run = try ToolRun(["fetch"] + arguments)
            #expect(run.text == "ok" && run.status == 0 && run.errors.isEmpty, "\(arguments) \(run.errors)")
        }
        // By Digest alone: no password goes over the wire.
        #expect(
            server.requests.suffix(2).allSatisfy {
                $0.values(of: "authorization").allSatisfy { $0.hasPrefix("Digest") }
            })
    }

    @Test func aChallengeIsNotSilent() throws {
        let server = try ScriptedServer()
        let answer = "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n"
        try server.on(nil, [.send(answer)])
        let url = server.url("/")
        let plain = try ToolRun(["fetch", url])
        #expect(
            plain.errors == "errand: \(url): the server responded with status 401; it requests Basic realm=\"a\"; "
                + "use -u USER:PASSWORD to send credentials\n")
        #expect(plain.status == 0)
        let refused = try ToolRun(["fetch", url, "-u", "ada:secret"])
        #expect(refused.errors.contains("401 and rejected the credentials of 'ada'; it requests Basic realm=\"a\"\n"))
        #expect(try ToolRun(["fetch", "-f", url]).status == 22)
        // Where a redirect led to another origin, which was not shown them, nobody refused them.
        let other = try ScriptedServer()
        try other.on(nil, [.send("HTTP/1.1 302 F\r\nLocation: \(url)\r\nContent-Length: 0\r\n\r\n")])
        let led = try ToolRun(["fetch", "-L", other.url("/"), "-u", "ada:secret"])
        #expect(
            led.errors.hasSuffix(
                "the server responded with status 401; it requests Basic realm=\"a\"; the credentials of 'ada' were not sent, because a "
                    + "redirect led to another origin\n"), "\(led.errors)")
        #expect(server.requests.last?.values(of: "authorization").isEmpty == true)
    }

    @Test func aRefusedStatusHasItsFigures() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send("HTTP/1.1 404 N\r\nContent-Length: 1000000\r\n\r\n"), .stall])
        let run = try ToolRun(["fetch", "-f", "--json-output", server.url("/")])
        let record = try #require(
            JSONSerialization.jsonObject(with: Data(run.text.utf8)) as? [String: Any], "\(run.text)")
        let timings = try #require(record["timings_microseconds"] as? [String: Any])
        #expect(run.status == 22)
        #expect(timings.values.contains { ($0 as? Double ?? 0) > 0 }, "\(run.text)")
        server.release()
    }

    @Test func sendsForms() throws {
        let server = try echo()
        let folder = try TemporaryFolder()
        try Data("of a file".utf8).write(to: folder.file("a.png"))
        let file = folder.file("a.png").path
        let run = try ToolRun(
            [
                "fetch", server.url("/"), "-F", "a=b;c", "-F", "f=@\(file)", "-F",
                "g=@\(file);type=text/x;filename=\"q;r\"",
                "-F", "h=<\(file)",
            ])
        #expect(run.status == 0, "\(run.errors)")
        let request = try #require(server.requests.first)
        let type = try #require(request.values(of: "content-type").first)
        let boundary = try #require(type.components(separatedBy: "boundary=").last)
        let parts = [
            "Content-Disposition: form-data; name=\"a\"\r\n\r\nb;c",
            "Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nof a file",
            "Content-Disposition: form-data; name=\"g\"; filename=\"q;r\"\r\nContent-Type: text/x\r\n\r\nof a file",
            "Content-Disposition: form-data; name=\"h\"\r\n\r\nof a file",
        ]
        #expect(request.method == "POST")
        let whole = parts.map { "--\(boundary)\r\n\($0)\r\n" }.joined()
        #expect(body(request) == whole + "--\(boundary)--\r\n")
    }

    @Test func uploads() throws {
        let server = try echo()
        let folder = try TemporaryFolder()
        try Data("content".utf8).write(to: folder.file("a b"))
        _ = try ToolRun(["fetch", "-T", folder.file("a b").path, server.url("/x/"), server.url("/y")])
        _ = try ToolRun(["fetch", "-T-", server.url("/z")], input: "input")
        let requests = server.requests.sorted { $0.target < $1.target }
        #expect(requests.map { "\($0.method) \($0.target)" } == ["PUT /x/a%20b", "PUT /y", "PUT /z"])
        #expect(requests.map(body) == ["content", "content", "input"])
        #expect(requests.allSatisfy { $0.values(of: "content-type").isEmpty })
        // A file that is standard input has a length.
        #expect(requests.last?.values(of: "content-length") == ["5"])
    }

    @Test func asksForTheHeadAlone() throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")])
        let run = try ToolRun(["fetch", "-I", server.url("/")])
        #expect(run.text == "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n" && run.status == 0)
        #expect(server.requests.map(\.method) == ["HEAD"])
    }

    @Test func tellsWhatIsSentAndReceived() throws {
        let server = try ScriptedServer()
        try server.on("/a", [.send("HTTP/1.1 302 F\r\nLocation: /b?token=x\r\nContent-Length: 0\r\n\r\n")])
        try server.on("/b", [.send(Self.ok)])
        let run = try ToolRun(["fetch", "-vL", server.url("/a"), "-u", "ada:secret", "-H", "X-Test: 1"])
        #expect(run.text == "ok")
        let lines = run.errors.split(separator: "\n").map(String.init)
        for line in [
            "> GET \(server.url("/a"))", "> X-Test: 1", "> Authorization: REDACTED", "< HTTP/1.1 302 F",
            "< Location: /b?token=REDACTED", "* redirected to \(server.url("/b?token=REDACTED"))", "< HTTP/1.1 200 OK",
        ] {
            #expect(lines.contains(line), "\(line) in \(run.errors)")
        }
        #expect(lines.last?.contains(", HTTP/1.1, connection reused") == true)
        // The connection comes before the request that is sent on it.
        let place = "127.0.0.1 (127.0.0.1) port \(server.port)"
        #expect(lines.first?.hasPrefix("* Connected to \(place)") == true, "\(run.errors)")
        #expect(lines.contains("* Re-using existing connection to \(place)"), "\(run.errors)")
    }

    @Test func keepsCookies() throws {
        let server = try echo()
        let set = "HTTP/1.1 302 F\r\nLocation: /b\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: h=2; Path=/b; HttpOnly\r\n"
        try server.on("/a", [.send(set + "Content-Length: 0\r\n\r\n")])
        let folder = try TemporaryFolder()
        let jar = folder.file("jar")
        let first = try ToolRun(["fetch", "-L", "-c", jar.path, server.url("/a")])
        #expect(first.status == 0, "\(first.errors)")
        let saved = try String(contentsOf: jar, encoding: .utf8)
        #expect(saved.contains("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n"))
        #expect(saved.contains("#HttpOnly_127.0.0.1\tFALSE\t/b\tFALSE\t0\th\t2\n"))
        #expect(try FileManager.default.attributesOfItem(atPath: jar.path)[.posixPermissions] as? Int == 0o600)
        _ = try ToolRun(["fetch", "-b", jar.path, server.url("/c")])
        _ = try ToolRun(["fetch", "-b", "x=1; y=2", "-bz=3", server.url("/d")])
        let cookies = server.requests.map { $0.values(of: "cookie").joined().split(separator: "; ").sorted() }
        #expect(cookies == [[], ["a=1", "h=2"], ["a=1"], ["x=1", "y=2", "z=3"]])
        // As curl does: those of -b NAME=VALUE go beside the jar's, and are not kept.
        try server.on("/e", [.send("HTTP/1.1 200 OK\r\nSet-Cookie: b=5; Path=/\r\nContent-Length: 0\r\n\r\n")])
        let beside = try ToolRun(
            [
                "fetch", "-b", "x=1; y=2", "-b", jar.path, "-c", jar.path, server.url("/e"), server.url("/d"),
                "--parallel=1",
            ])
        #expect(beside.status == 0, "\(beside.errors)")
        #expect(
            server.requests.suffix(2).map { $0.values(of: "cookie").joined().split(separator: "; ").sorted() } == [
                ["a=1", "x=1", "y=2"], ["a=1", "b=5", "x=1", "y=2"],
            ])
        let names = try String(contentsOf: jar, encoding: .utf8).split(separator: "\n").compactMap { line in
            line.contains("\t") ? line.split(separator: "\t").suffix(2).joined(separator: "=") : nil
        }
        #expect(names.sorted() == ["a=1", "b=5", "h=2"])
    }

    @Test func aURLWithoutASchemeIsHTTP() throws {
        let server = try echo()
        let bare = server.url("/x").replacingOccurrences(of: "http://", with: "")
        #expect(try ToolRun(["fetch", bare]).status == 0)
        #expect(try ToolRun(["fetch", bare + "?u=http://ada:pw@y/"]).status == 0)
        #expect(server.requests.last?.target == "/x?u=http://ada:pw@y/")
        #expect(try ToolRun(["fetch", "ada:secret@" + bare]).status == 0)
        #expect(try ToolRun(["fetch", "--connect-timeout", "100s", "nobody.invalid"]).status == 10)
    }

    /// A password in a URL is nobody's to read: in errors, in JSON, of any subcommand.
    @Test func hidesPasswordsOfURLs() throws {
        let port = try FaultPort(.refused)
        let url = "http://ada:secret@127.0.0.1:\(port.number)/?token=hidden"
        let folder = try TemporaryFolder()
        for arguments in [
            ["fetch", url], ["fetch", "--json-output", url], ["fetch", "-v", url], ["fetch", "-o", "/dev/null", url],
            ["download", url, "-o", folder.file("a").path, "--retries", "0"], ["bench", "-n1", url],
            ["bench", "-n1", "--mode", "core", "--json", url],
            ["fetch", "http:///ada:secret@h/?token=hidden"], ["fetch", "http:/ada:secret@h/?token=hidden"],
            ["fetch", "http:\\\\ada:secret@h/?token=hidden"], [url], ["bench", "-n1", "http://h/", url],
            ["fetch", "http://h/", "-H", "Authorization Bearer secret"],
            ["fetch", "htp://ada:secret@h/?token=hidden"],
            ["download", "htp://ada:secret@h/?token=hidden"], ["bench", "htp://ada:secret@h/?token=hidden"],
            ["bench", "http://ada:secret@h:x/?token=hidden"],
            ["fetch", "http://h/", "--proxy", "ada:secret@127.0.0.1:1"],
            ["fetch", "http://127.0.0.1:1/", "--proxy", "http://ada:secret@127.0.0.1:\(port.number)"],
        ] {
            let run = try ToolRun(arguments)
            #expect(run.status != 0 && !run.errors.isEmpty)
            #expect(!(run.errors + run.text).contains("secret"), "\(arguments): \(run.errors)\(run.text)")
            #expect(!(run.errors + run.text).contains("hidden"), "\(arguments): \(run.errors)\(run.text)")
        }
    }

    @Test func exitCodesComeLast() throws {
        for arguments in [["--help"], ["fetch", "--help"], ["help", "bench"]] {
            let run = try ToolRun(arguments)
            #expect(run.status == 0)
            #expect(run.text.hasSuffix("If several URLs or requests fail, the first one on the command line counts.\n"))
            #expect(run.text.components(separatedBy: "EXIT CODES").count == 2)
        }
    }
}
