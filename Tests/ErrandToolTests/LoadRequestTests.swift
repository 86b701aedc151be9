import ErrandLoad
import ErrandTesting
import Foundation
import Testing

/// Which requests `errand bench` sends in a load test, and how it reaches the server.
@Suite struct LoadRequestTests {
    private let load: LoadToolRun

    init() throws {
        load = try LoadToolRun()
    }

    private func run(_ options: [String], _ path: String = "/") throws -> (tool: ToolRun, result: LoadResult) {
        let run = try load.run([load.server.url(path), "--users", "1"] + options)
        #expect(run.tool.status == 0, "\(run.tool.errors)")
        return run
    }

    /// Also where the default type is that of a form, and the body has spaces and line feeds.
    @Test func aBodyWithDataIsSentAsItIs() throws {
        try load.write("ids.csv", "id\n1\n")
        let body = "{\"id\": \"{{id}}\", \"n\": 2}\n"
        _ = try load.run(
            ["-n", "1", "--feed", load.path("ids.csv"), "--data", body, load.server.url("/")])
        #expect(
            load.server.requests.first.map { String(decoding: $0.body, as: UTF8.self) }
                == "{\"id\": \"1\", \"n\": 2}\n")
    }

    /// Bodies that are dropped take no memory: the limit of 64 MiB does not apply.
    @Test func largeBodiesAreDropped() throws {
        let large = try LoadToolRun([
            .send("HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\nConnection: close\r\n\r\n"), .close,
        ])
        try large.write("ids.csv", "id\n1\n")
        try large.write("a.http", "GET HOST/\n")
        for arguments in [["--feed", large.path("ids.csv"), large.server.url("/")], [large.path("a.http")]] {
            let (_, result) = try large.run(["-n", "1", "--users", "1"] + arguments)
            #expect(!result.total.errors.isEmpty)
            #expect(!result.total.errors.keys.contains { $0.kind == "limitBodyBytes" }, "\(result.total.errors)")
        }
    }

    @Test func weightsChooseAmongURLs() throws {
        let urls = [load.server.url("/never"), load.server.url("/a?b=1"), load.server.url("/b")]
        let (tool, result) = try load.run(
            urls + ["--weight", "0", "--weight", "3", "-n", "400", "--users", "2", "--seed", "5"])
        #expect(tool.status == 0, "\(tool.errors)")
        let counts = Dictionary(grouping: load.server.requests, by: \.target).mapValues(\.count)
        #expect(counts["/never"] == nil && (counts["/a?b=1"] ?? 0) + (counts["/b"] ?? 0) == 400)
        #expect((240...360).contains(counts["/a?b=1"] ?? 0), "\(counts)")
        // Names have no query.
        #expect(result.requests.map(\.name) == ["/never", "/a", "/b"].map { "GET " + load.server.url($0) })
    }

    /// The measurement of one URL and a load test of it have the same totals.
    @Test func bothWaysCountTheSame() throws {
        let server = try ScriptedServer()
        for number in 0..<40 {
            let status = [200, 404, 200, 500][number % 4]
            try server.on("/", [.send("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\nok")])
        }
        let options = [server.url("/"), "-n", "20", "-c", "1"]
        let one = try ToolRun(["bench"] + options + ["--warm-up", "0", "--json"]).json()
        let (tool, result) = try load.run(options + ["--users", "1"])
        let total = result.total
        #expect(tool.status == 0 && server.requests.count == 40, "\(tool.errors)")
        #expect(one["due"] as? Int == 20 && total.counts.due == 20)
        #expect(one["requests"] as? Int == 20 && total.counts.answered == 20)
        #expect(one["status"] as? [String: Int] == ["200": 10, "404": 5, "500": 5])
        #expect(total.statuses == [200: 10, 404: 5, 500: 5])
        #expect(one["errors"] as? Int == 0 && total.counts.unanswered == 0)
        let share = Double(total.errorCount) / Double(total.counts.due)
        #expect(one["success_rate"] as? Double == 1 - share)
        #expect(one["bytes_received"] as? Int == Int(total.traffic.bodyBytesReceived))
    }

    @Test func sendsWhatWasAsked() throws {
        _ = try run(["-n", "2", "-X", "PUT", "-H", "X-Test: 1", "--data", "a=b", "--bearer", "t"])
        for request in load.server.requests {
            #expect(request.method == "PUT" && request.body == Array("a=b".utf8))
            #expect(request.values(of: "x-test") == ["1"] && request.values(of: "authorization") == ["Bearer t"])
        }
        #expect(load.server.requests.count == 2)
    }

    @Test func aBodyComesFromAFile() throws {
        try load.write("body", "from a file")
        _ = try run(["-n", "1", "--data", "@" + load.path("body")])
        #expect(load.server.requests.map(\.body) == [Array("from a file".utf8)])
    }

    @Test func aUserIsSentAsBasic() throws {
        _ = try run(["-n", "1", "-u", "ada:x:y"])
        let url = load.server.url("/").replacing("http://", with: "http://bob:z@")
        let (tool, result) = try load.run([url, "-n", "1", "--users", "1"])
        #expect(tool.status == 0 && !tool.text.contains("bob") && !result.requests[0].name.contains("bob"))
        let sent = load.server.requests.flatMap { $0.values(of: "authorization") }
        #expect(sent == ["ada:x:y", "bob:z"].map { "Basic " + Data($0.utf8).base64EncodedString() })
        // So it is for the layers.
        let layer = try ToolRun(["bench", load.server.url("/"), "-n", "1", "--warm-up", "0", "--bearer", "t"])
        #expect(layer.status == 0 && load.server.requests.last?.values(of: "authorization") == ["Bearer t"])
    }

    @Test func compressedResponsesAreAskedFor() throws {
        _ = try run(["-n", "1", "--compressed"])
        #expect(load.server.requests[0].values(of: "accept-encoding").joined().contains("gzip"))
        _ = try run(["-n", "1"])
        #expect(load.server.requests[1].values(of: "accept-encoding").isEmpty)
    }

    @Test func namesAndSocketsHaveAddresses() throws {
        let url = "http://load.test:\(load.server.port)/x"
        let resolved = try load.run([
            url, "-n", "1", "--users", "1", "--resolve", "load.test:\(load.server.port):127.0.0.1",
        ])
        #expect(resolved.tool.status == 0, "\(resolved.tool.errors)")
        let server = try ScriptedServer(unixSocketPath: load.path("socket"))
        try server.on("/y", [LoadToolRun.ok])
        let unix = try load.run([
            "http://load.test/y", "-n", "1", "--users", "1", "--unix-socket", load.path("socket"),
        ])
        #expect(unix.tool.status == 0 && server.requests.map(\.target) == ["/y"], "\(unix.tool.errors)")
    }

    @Test func aProxyIsUsed() throws {
        let proxy = try ScriptedServer()
        try proxy.on(nil, [LoadToolRun.ok])
        _ = try run(["-n", "1", "--proxy", "http://127.0.0.1:\(proxy.port)"])
        #expect(proxy.requests.count == 1 && load.server.counts.connections == 0)
    }

    @Test func retriesAmplify() throws {
        let busy = ScriptedServer.Step.send("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")
        try load.server.on("/busy", [busy])
        try load.server.on("/busy", [LoadToolRun.ok])
        let (_, result) = try run(["-n", "1", "--retry", "1"], "/busy")
        #expect(result.total.attempts == 2 && result.total.counts.answered == 1 && result.total.rejected == 0)
    }

    @Test func statusesAreErrors() throws {
        try load.server.on("/broken", [LoadToolRun.broken])
        let (tool, result) = try load.run([load.server.url("/broken"), "-n", "3", "--users", "1"])
        #expect(tool.status == 0 && result.total.rejected == 3 && result.total.statuses == [500: 3])
    }

    @Test(arguments: ["ids.csv", "ids.jsonl"]) func rowsOfDataAreVariables(_ name: String) throws {
        try load.write("ids.csv", "id,word\n1,a b\n2,\"x,y\"\n")
        try load.write("ids.jsonl", "{\"id\": 1, \"word\": \"a b\"}\n{\"id\": 2, \"word\": \"x,y\"}\n")
        _ = try run(["-n", "3", "--feed", load.path(name), "-H", "X-Word: {{word}}", "--data", "{{id}}"], "/{{id}}")
        let requests = load.server.requests
        #expect(requests.map(\.target) == ["/1", "/2", "/1"])
        #expect(requests.map { $0.values(of: "x-word") } == [["a b"], ["x,y"], ["a b"]])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "2", "1"])
    }

    @Test func aUserHasARowOfItsOwn() throws {
        // Both users have sent a request before one of them sends all.
        let load = try LoadToolRun([.stall, .readBody, LoadToolRun.ok])
        load.server.release(afterRequests: 2)
        try load.write("ids.csv", "id\n1\n2\n3\n")
        let (tool, _) = try load.run([
            load.server.url("/{{id}}"), "-n", "30", "--users", "2", "--feed", load.path("ids.csv"), "--feed-order",
            "unique",
        ])
        #expect(tool.status == 0 && Set(load.server.requests.map(\.target)) == ["/1", "/2"], "\(tool.errors)")
    }

    @Test func usersEndWithTheData() throws {
        try load.write("ids.csv", "id\n1\n2\n")
        let options = [
            load.server.url("/{{id}}"), "--users", "1", "--feed", load.path("ids.csv"), "--feed-end", "fail",
        ]
        // The run ends when its user has left.
        let (tool, _) = try load.run(options + ["-d", "600s"])
        #expect(tool.status == 0 && load.server.requests.map(\.target) == ["/1", "/2"], "\(tool.errors)")
        let endless = try ToolRun(["bench"] + options)
        #expect(endless.status == 64 && endless.errors.contains("--feed-end fail requires -d or --stages"))
    }

    @Test(arguments: [
        ("a.csv", "id\n1,2\n", 65, "line 2: 2 fields"), ("a.csv", "id\n", 65, "has no rows"),
        ("a.jsonl", "{}\n[1]\n", 65, "line 2: not a JSON object"), ("a.txt", "id\n1\n", 64, "neither a .csv nor"),
        ("a.csv", "word\n1\n", 65, "the variable 'id' is not defined"),
        ("a.csv", "id,a b\n1,2\n", 65, "the column 'a b' cannot be the name of a variable"),
    ]) func dataAreChecked(_ name: String, _ text: String, _ status: Int, _ message: String) throws {
        try load.write(name, text)
        let run = try ToolRun(["bench", load.server.url("/{{id}}"), "-n", "1", "--feed", load.path(name)])
        #expect(run.status == Int32(status) && run.errors.contains(message), "\(run.errors)")
        #expect(load.server.counts.connections == 0)
    }
}
