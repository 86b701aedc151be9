import ErrandTesting
import Foundation
import Testing

/// `errand fetch --har`, and `errand batch` and `errand chain` of what it wrote.
@Suite struct HARTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("traffic.har").path }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func entries() throws -> [[String: Any]] {
        let data = try Data(contentsOf: folder.file("traffic.har"))
        let whole = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let log = try #require(whole?["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2")
        return try #require(log["entries"] as? [[String: Any]])
    }

    private func part(_ name: String, of entry: [String: Any]) -> [String: Any] {
        entry[name] as? [String: Any] ?? [:]
    }

    @Test func writesTheExchanges() throws {
        let server = try ScriptedServer()
        try server.on(
            "/a", [.send("HTTP/1.1 302 F\r\nLocation: /b?token=secret\r\nContent-Length: 0\r\n\r\n")])
        try server.on("/b", [HTTPFileRun.answer("200 OK", "hello", headers: "Content-Type: text/plain\r\n")])
        let run = try ToolRun(["fetch", "-L", "--har", path, "-u", "ada:secret", server.url("/a")])
        #expect(run.status == 0 && run.text == "hello" && run.errors.isEmpty, "\(run.errors)")
        let entries = try entries()
        try #require(entries.count == 2)
        let requests = entries.map { part("request", of: $0) }
        #expect(
            requests.map { $0["url"] as? String } == [server.url("/a"), server.url("/b?token=REDACTED")])
        let responses = entries.map { part("response", of: $0) }
        #expect(responses.map { $0["status"] as? Int } == [302, 200])
        #expect(part("content", of: responses[1])["text"] as? String == "hello")
        #expect(part("timings", of: entries[0])["connect"] as? Double ?? -1 >= 0)
        #expect(entries[0]["time"] as? Double ?? 0 > 0 && entries[0]["serverIPAddress"] as? String == "127.0.0.1")
        let text = try String(contentsOf: folder.file("traffic.har"), encoding: .utf8)
        #expect(!text.contains("secret") && !text.contains(Data("ada:secret".utf8).base64EncodedString()))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func writesRetriesOnceAndFailuresToo() throws {
        let server = try ScriptedServer()
        try server.on(nil, [HTTPFileRun.answer("503 No", "no")])
        try server.on(nil, [HTTPFileRun.answer("200 OK", "yes")])
        let run = try ToolRun(["fetch", "--retry", "2", "--retry-delay", "10ms", "--har", path, server.url("/")])
        #expect(run.status == 0 && run.text == "yes", "\(run.errors)")
        #expect(try entries().map { part("response", of: $0)["status"] as? Int } == [503, 200])
        let port = try FaultPort(.refused)
        let failed = try ToolRun(["fetch", "--har", path, "http://127.0.0.1:\(port.number)/"])
        #expect(failed.status == 11)
        let entry = try #require(try entries().first)
        #expect(part("response", of: entry)["status"] as? Int == 0)
        #expect(part("error", of: part("_errand", of: entry))["kind"] as? String == "connectFailed")
    }

    @Test func aFileThatCannotBeWrittenIsReportedFirst() throws {
        let server = try ScriptedServer()
        let run = try ToolRun(["fetch", "--har", "/nonexistent/a.har", server.url("/")])
        #expect(run.status == 73 && run.errors.hasPrefix("errand: --har: cannot write '/nonexistent/a.har': "))
        #expect(server.counts.connections == 0)
    }

    @Test(arguments: ["batch", "chain"]) func sendsTheRequestsAgain(_ subcommand: String) throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let fetch = try ToolRun([
            "fetch", "--har", path, "-X", "PUT", "-d", "a=1&b={{x}}", "-H", "X-Test: {{y}}", "-H", "X-Api-Key: secret",
            server.url("/one?c=%20d"),
        ])
        #expect(fetch.status == 0, "\(fetch.errors)")
        let again = try ToolRun([subcommand, path])
        #expect(again.status == 0 && again.text.hasSuffix("1 request: 1 ok, 0 failed\n"), "\(again.errors)")
        #expect(again.errors.contains("the value of 1 field was hidden"))
        let requests = server.requests
        try #require(requests.count == 2)
        #expect(requests[1].method == "PUT" && requests[1].target == requests[0].target)
        #expect(requests[1].body == requests[0].body)
        for name in ["x-test", "content-type", "user-agent", "accept", "content-length", "host"] {
            #expect(requests[1].values(of: name) == requests[0].values(of: name), "\(name)")
        }
        #expect(requests[1].values(of: "x-api-key").isEmpty)
    }

    @Test func sendsWhatABrowserHasWritten() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let base64 = Data([0, 0xFF]).base64EncodedString()
        let text = """
            {"log": {"version": "1.2", "creator": {"name": "Firefox"}, "entries": [
              {"startedDateTime": "2026-08-01T10:00:01Z", "request": {"method": "POST", "url": "\(server.url("/2"))",
               "headers": [{"name": "Host", "value": "elsewhere"}, {"name": "Content-Length", "value": "9"}],
               "postData": {"mimeType": "a/b", "text": "\(base64)", "encoding": "base64"}}, "response": {"status": 500}},
              {"startedDateTime": "2026-08-01T10:00:00Z", "request": {"method": "GET", "url": "\(server.url("/1"))",
               "headers": [{"name": ":path", "value": "/1"}]}, "response": {"status": 200}},
              {"startedDateTime": "2026-08-01T10:00:02Z", "request": {"method": "GET", "url": "wss://h/"}}
            ]}}
            """
        try Data(text.utf8).write(to: folder.file("traffic.har"))
        let run = try ToolRun(["chain", path, "--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("entry 3 is left out: its URL is neither http nor https"))
        #expect(try run.jsonArray().map { $0["name"] as? String } == ["#1", "#2"])
        #expect(server.requests.map { "\($0.method) \($0.target)" } == ["GET /1", "POST /2"])
        #expect(server.requests.last?.body.elementsEqual([0, 0xFF]) == true)
        #expect(server.requests.last?.values(of: "host") == ["127.0.0.1:\(server.port)"])
        let only = try ToolRun(["batch", path, "--only", "#2"])
        #expect(only.status == 0 && server.requests.last?.target == "/2", "\(only.errors)")
    }

    /// The server would get the word that stands for the secret.
    @Test func doesNotSendWhatWasHidden() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let address = "127.0.0.1:\(server.port)"
        func entry(_ request: String) -> String { "{\"request\": {\"method\": \"POST\", \(request)}}" }
        let entries = [
            entry("\"url\": \"http://\(address)/1?a=1&token=REDACTED\""),
            entry("\"url\": \"http://REDACTED@\(address)/2\""),
            entry(
                "\"url\": \"http://\(address)/3\", \"postData\": {\"mimeType\": \"text/plain\", \"text\": \"a=REDACTED\"}"
            ),
            entry(
                "\"url\": \"http://\(address)/4\", "
                    + "\"headers\": [{\"name\": \"Referer\", \"value\": \"http://h/?key=REDACTED\"}]"),
        ]
        let text = "{\"log\": {\"entries\": [\(entries.joined(separator: ", "))]}}"
        try Data(text.utf8).write(to: folder.file("traffic.har"))
        let run = try ToolRun(["chain", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.errors.contains("entry 1 is left out: the value of 'token' in its URL was hidden when it was recorded"))
        #expect(run.errors.contains("entry 2 is left out: the user in its URL was hidden"))
        #expect(run.errors.contains("entry 3 is left out: a value in its body was hidden"))
        #expect(run.errors.contains("the value of 1 field was hidden"))
        #expect(server.requests.map(\.target) == ["/4"])
        #expect(server.requests.first?.values(of: "referer").isEmpty == true)
    }

    @Test func saysWhatIsWrongWithAFile() throws {
        try Data("{}".utf8).write(to: folder.file("traffic.har"))
        let run = try ToolRun(["batch", path])
        #expect(run.status == 65 && run.errors.hasSuffix("traffic.har: the text has no 'log.entries' and is no HAR\n"))
    }
}
