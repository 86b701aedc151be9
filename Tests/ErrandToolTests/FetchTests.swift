import ErrandTesting
import Foundation
import Testing

/// What `errand fetch` sends and what it does with what comes back.
@Suite struct FetchTests {
    private func echo() throws -> ScriptedServer {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        return server
    }

    @Test func printsTheBody() throws {
        let server = try echo()
        let run = try ToolRun(["fetch", server.url("/a?b=c")])
        #expect(run.status == 0)
        #expect(run.text.hasPrefix("GET /a?b=c HTTP/1.1\r\n"))
        #expect(run.errors.isEmpty)
    }

    @Test func includesTheHead() throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok")])
        #expect(
            try ToolRun(["fetch", "-i", server.url("/")]).text
                == "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok")
    }

    @Test func sendsBodies() throws {
        let server = try echo()
        let folder = try TemporaryFolder()
        try Data("from a file".utf8).write(to: folder.file("body"))
        let file = "@" + folder.file("body").path
        _ = try ToolRun(["fetch", server.url("/"), "-d", "a=1"])
        _ = try ToolRun(["fetch", server.url("/"), "-X", "PUT", "-d", file, "-H", "Content-Type: text/plain"])
        _ = try ToolRun(["fetch", server.url("/"), "-d", "@-"], input: "from input")
        _ = try ToolRun(["fetch", server.url("/"), "--json", "{\"a\": [1]}"])
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "PUT", "POST", "POST"])
        let bodies = requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == ["a=1", "from a file", "from input", "{\"a\": [1]}"])
        #expect(
            requests.map { $0.values(of: "content-type") } == [
                ["application/x-www-form-urlencoded"], ["text/plain"], ["application/x-www-form-urlencoded"],
                ["application/json"],
            ])
        #expect(requests[3].values(of: "accept") == ["application/json"])
    }

    @Test func sendsWhatIsNoRegularFile() throws {
        let server = try echo()
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let text = String(repeating: "from a pipe ", count: 20_000)
        // A tool that does not read to the end is a failed test, not the end of all tests.
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { try? Data(text.utf8).write(to: URL(fileURLWithPath: pipe)) }
        #expect(try ToolRun(["fetch", server.url("/"), "-d", "@" + pipe]).status == 0)
        #expect(try ToolRun(["fetch", server.url("/"), "-d", "@/dev/stdin"], input: "input").status == 0)
        #expect(try ToolRun(["fetch", server.url("/"), "-d", "@/proc/sys/kernel/ostype"]).status == 0)
        let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == [text, "input", "Linux\n"])
    }

    @Test func sendsHeadersOnce() throws {
        let server = try echo()
        _ = try ToolRun(["fetch", server.url("/"), "-H", "Accept: a/b", "-H", "X-Test: 1", "-H", "User-Agent: me"])
        let request = try #require(server.requests.first)
        #expect(request.values(of: "accept") == ["a/b"])
        #expect(request.values(of: "x-test") == ["1"])
        #expect(request.values(of: "user-agent") == ["me"])
    }

    @Test func printsInOrder() throws {
        let server = try ScriptedServer()
        for (number, delay) in [300, 150, 0].enumerated() {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)"
            try server.on("/\(number)", [.stall, .sleep(milliseconds: delay), .send(answer)])
        }
        // Not before all have come: one that is answered by then would leave its connection to the next.
        server.release(afterRequests: 3)
        let run = try ToolRun(["fetch"] + (0..<3).map { server.url("/\($0)") })
        #expect(run.text == "012")
        #expect(server.counts.connections == 3)
    }

    @Test func savesFiles() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let saved = folder.file("1m")
        let run = try ToolRun(["fetch", nginx.url("/1m"), nginx.url("/12b"), "-o", saved.path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.count == 12)
        #expect(try Data(contentsOf: saved) == Data(contentsOf: URL(fileURLWithPath: nginx.directory + "/www/1m")))
        #expect(folder.names == ["1m"])
    }

    @Test func savesWhatIsNotGet() throws {
        let server = try echo()
        let folder = try TemporaryFolder()
        let run = try ToolRun(["fetch", server.url("/"), "-d", "x", "-o", folder.file("a").path])
        #expect(run.status == 0 && run.output.isEmpty)
        #expect(try String(contentsOf: folder.file("a"), encoding: .utf8).hasPrefix("POST / HTTP/1.1"))
    }

    @Test func followsRedirectsWhenAsked() throws {
        let nginx = try NginxServer()
        let plain = try ToolRun(["fetch", "--json-output", nginx.url("/redirect")]).json()
        #expect(plain["status"] as? Int == 302)
        for output in [[], ["-o", "/dev/null"]] {
            let json = try ToolRun(["fetch", "-L", "--json-output", nginx.url("/redirect")] + output).json()
            #expect(json["status"] as? Int == 200)
            #expect(json["redirects"] as? Int == 1)
            #expect(json["final_url"] as? String == nginx.url("/12b"))
        }
    }

    /// Its head has decided, whatever became of its body.
    @Test func followsRedirectsWithBrokenBodies() throws {
        let server = try echo()
        let head = "HTTP/1.1 302 F\r\nLocation: /b\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n"
        try server.on("/garbage", [.send(head + "no gzip!!")])
        try server.on("/cut", [.send(head), .sendBytes([0x1f]), .finish])
        for path in ["/garbage", "/cut"] {
            for output in [[], ["-o", "/dev/null"]] {
                let json = try ToolRun(["fetch", "-L", "--compressed", "--json-output", server.url(path)] + output)
                    .json()
                #expect(json["status"] as? Int == 200, "\(path) \(output)")
            }
        }
    }

    /// In memory and into a file, by the library's rules.
    @Test(arguments: [("/b#c", "/b"), ("b", "/b"), ("/e?d", "/e?d"), ("/x y", "/x%20y"), ("/./c/../b", "/b")])
    func followsRedirectsAlike(_ location: String, _ target: String) throws {
        let server = try echo()
        try server.on("/a", [.send("HTTP/1.1 302 F\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")])
        for output in [[], ["-o", "/dev/null"]] {
            let json = try ToolRun(["fetch", "-L", "--json-output", server.url("/a")] + output).json()
            #expect(json["final_url"] as? String == server.url(target), "\(output)")
            #expect(json["redirects"] as? Int == 1)
        }
        #expect(server.requests.map(\.target) == ["/a", target, "/a", target])
    }

    @Test func keepsCredentialsFromOtherOrigins() throws {
        let other = try echo()
        let server = try ScriptedServer()
        let hop = "HTTP/1.1 302 F\r\nLocation: \(other.url("/"))\r\nContent-Length: 0\r\n\r\n"
        try server.on("/", [.send(hop)])
        for output in [[], ["-o", "/dev/null"]] {
            let run = try ToolRun(
                ["fetch", "-L", server.url("/"), "-H", "Authorization: x", "-H", "Cookie: y", "-H", "X-Test: z"]
                    + output)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(server.requests.allSatisfy { $0.values(of: "authorization") == ["x"] })
        #expect(other.requests.count == 2)
        for request in other.requests {
            #expect(request.values(of: "authorization").isEmpty && request.values(of: "cookie").isEmpty)
            #expect(request.values(of: "x-test") == ["z"])
        }
    }

    @Test func keepsTheClientCertificateFromOtherOrigins() throws {
        let nginx = try NginxServer()
        let target = nginx.url("/12b", port: .clientCertificate, host: "localhost")
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 302 F\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")])
        let identity = [
            "--cacert", nginx.certificateAuthorityPath, "--cert", nginx.certificate("client.pem"), "--key",
            nginx.certificate("client.key"),
        ]
        for output in [[], ["-o", "/dev/null"]] {
            let arguments = ["fetch", "-L", "--json-output"] + identity + output
            #expect(try ToolRun(arguments + [target]).json()["status"] as? Int == 200)
            let led = try ToolRun(arguments + [server.url("/")]).json()
            #expect(led["final_url"] as? String == target && led["status"] as? Int == 400, "\(output)")
        }
    }

    @Test func tellsTimingsAsJSON() throws {
        let nginx = try NginxServer()
        let run = try ToolRun(["fetch", "--json-output", nginx.url("/12b"), nginx.url("/status/404")])
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 2)
        let first = try #require(
            try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(
            Set(first.keys) == [
                "url", "final_url", "status", "http_version", "headers", "body_bytes", "wire_bytes_received",
                "wire_bytes_sent", "redirects", "retries", "connection_reused", "remote_address",
                "timings_microseconds", "output", "error",
            ])
        let timings = try #require(first["timings_microseconds"] as? [String: Any])
        #expect(
            Set(timings.keys) == ["queue", "resolved", "connected", "secured", "sent", "first_byte", "total"])
        #expect(timings["total"] as? Int ?? 0 > 0)
        #expect(timings["secured"] is NSNull)
        #expect(first["body_bytes"] as? Int == 12 && first["http_version"] as? String == "1.1")
        #expect(first["remote_address"] as? String == "127.0.0.1:\(nginx.number(of: .http))")
    }

    /// Before 8.0 libcurl cannot send a second request on such a connection.
    @Test func speaksHTTP2InClearText() throws {
        let nginx = try NginxServer()
        let url = nginx.url("/12b", port: .h2c)
        let run = try ToolRun(
            ["fetch", "--http-version", "2-prior-knowledge", "--json-output", "--parallel", "1", url, url])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text.components(separatedBy: "\"http_version\": \"2\"").count == 3, "\(run.text)")
        let bench = try ToolRun(["bench", "--http-version", "2-prior-knowledge", "-n", "40", "-c", "4", url])
        #expect(bench.status == 0 && bench.text.contains("40 in"), "\(bench.text) \(bench.errors)")
    }

    @Test func speaksTLSAndHTTP2() throws {
        let nginx = try NginxServer()
        let url = nginx.url("/12b", port: .tls, host: "localhost")
        #expect(try ToolRun(["fetch", url]).status == 12)
        let json = try ToolRun(
            ["fetch", url, "--cacert", nginx.certificateAuthorityPath, "--http-version", "2", "--json-output"]
        ).json()
        #expect(json["status"] as? Int == 200)
        #expect(json["http_version"] as? String == "2")
        for port in [NginxServer.Port.expired, .selfSigned, .wrongHost] {
            let bad = nginx.url("/12b", port: port, host: "localhost")
            #expect(try ToolRun(["fetch", bad, "--cacert", nginx.certificateAuthorityPath]).status == 12)
            #expect(try ToolRun(["fetch", bad, "--insecure"]).status == 0)
        }
    }

    @Test func tellsTheConnection() throws {
        let nginx = try NginxServer()
        let url = nginx.url("/12b", port: .tls, host: "localhost")
        let run = try ToolRun(["fetch", "-v", url, "--cacert", nginx.certificateAuthorityPath])
        let lines = run.errors.split(separator: "\n").map(String.init)
        for line in [
            "* Server certificate:", "*  subject: CN=errand test valid", "*  issuer: CN=errand test CA",
            "*  names: DNS:localhost, DNS:errand.test, IP:127.0.0.1", "*  certificate is trusted",
        ] {
            #expect(lines.contains(line), "\(line) in \(run.errors)")
        }
        #expect(lines.contains { $0.hasPrefix("* Connected to localhost (127.0.0.1) port ") }, "\(run.errors)")
        #expect(lines.contains { $0.hasPrefix("* SSL connection using TLSv1.3 / TLS_") }, "\(run.errors)")
        #expect(lines.contains { $0.hasPrefix("* ALPN: server accepted h") }, "\(run.errors)")
        #expect(lines.contains { $0.hasPrefix("*  expire date: ") && $0.hasSuffix(" GMT") }, "\(run.errors)")
        let bad = nginx.url("/12b", port: .selfSigned, host: "localhost")
        let insecure = try ToolRun(["fetch", "-vk", bad]).errors
        #expect(insecure.contains("*  certificate is not trusted, and accepted all the same: self"), "\(insecure)")
    }

    /// The tool does not end before a slow reader of standard error has all lines.
    @Test(arguments: [[], ["--retry", "1"]]) func everyLineIsTold(_ options: [String]) throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])
        let folder = try TemporaryFolder()
        let pipe = try FullPipe(folder.file("errors").path)
        try Data().write(to: folder.file("output"))
        let run = try ProgramRun(
            ToolRun.executable.path, ["fetch", "-v", server.url("/")] + options, output: folder.file("output").path,
            errors: pipe.path)
        try blockUntil("the body is printed") { try Data(contentsOf: folder.file("output")) == Data("ok".utf8) }
        // Time for the fault.
        let early = run.wait(seconds: 0.2)
        try #require(early == nil)
        let (text, status) = pipe.drained(untilEndOf: run)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(status == 0)
        for prefix in ["* Connected to ", "> GET ", "< HTTP/1.1 200 OK", "< Content-Length: 2"] {
            #expect(lines.contains { $0.hasPrefix(prefix) }, "\(prefix) in \(lines)")
        }
        #expect(lines.last?.hasSuffix(", new connection") == true, "\(lines)")
    }

    /// The environment alone writes no keys.
    @Test func logsKeysWhereAsked() throws {
        let nginx = try NginxServer()
        let folder = try TemporaryFolder()
        let keys = folder.file("keys")
        let arguments = [
            "fetch", nginx.url("/12b", port: .tls, host: "localhost"), "--cacert", nginx.certificateAuthorityPath,
        ]
        let shell = "export SSLKEYLOGFILE='\(keys.path)'; \"$@\""
        #expect(try ToolRun(arguments, shell: shell).status == 0)
        #expect(try Data(contentsOf: keys).isEmpty)
        #expect(try ToolRun(arguments + ["--key-log"], shell: shell).status == 0)
        #expect(try String(contentsOf: keys, encoding: .utf8).contains("CLIENT_HANDSHAKE_TRAFFIC_SECRET "))
        #expect(try ToolRun(arguments + ["--key-log"], shell: "unset SSLKEYLOGFILE; \"$@\"").status == 64)
    }
}
