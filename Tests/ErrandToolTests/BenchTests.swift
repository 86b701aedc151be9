import ErrandTesting
import Foundation
import Testing

@testable import errand

@Suite struct BenchTests {
    static let keys: Set<String> = [
        "due", "requests", "errors", "unanswered", "refused", "never_sent", "in_flight",
        "seconds", "requests_per_second", "bytes_received", "cpu_user_seconds",
        "cpu_system_seconds", "cpu_microseconds_per_request", "peak_resident_bytes", "latency_microseconds",
        "latency_spectrum", "status", "success_rate", "resilience", "mode", "connections", "loops",
    ]

    @Test(arguments: ["core", "closure", "closure-inline", "async", "async-on-queue", "batch"]) func countsExactly(
        _ mode: String
    ) throws {
        let nginx = try NginxServer()
        let run = try ToolRun(
            ["bench", nginx.url("/12b"), "-n", "500", "-c", "8", "--warm-up", "50", "--loops", "1", "--json"]
                + ["--mode", mode])
        #expect(run.status == 0, "\(run.errors)")
        let json = try run.json()
        #expect(Set(json.keys) == BenchTests.keys)
        #expect(json["requests"] as? Int == 500)
        #expect(json["errors"] as? Int == 0)
        #expect(json["bytes_received"] as? Int == 6000)
        #expect(json["status"] as? [String: Int] == ["200": 500])
        #expect(json["mode"] as? String == mode)
        #expect(json["in_flight"] as? Int == 8)
        #expect((1...8).contains(try #require(json["connections"] as? Int)))
        #expect(json["loops"] as? Int == 1)
        #expect(json["success_rate"] as? Double == 1 && json["resilience"] is NSNull)
        let latency = try #require(json["latency_microseconds"] as? [String: Double])
        #expect(Set(latency.keys) == ["min", "mean", "p50", "p90", "p99", "p999", "max"])
        let rising = ["min", "p50", "p90", "p99", "p999", "max"].compactMap { latency[$0] }
        #expect(rising == rising.sorted() && rising[0] > 0)
        let spectrum = try #require(json["latency_spectrum"] as? [[Double]])
        #expect(spectrum.first?.first == 0 && spectrum.last?.first == 100 && spectrum.count == 22)
        #expect(spectrum.map { $0[1] } == spectrum.map { $0[1] }.sorted())
        #expect(spectrum.last?[1] == latency["max"])
    }

    @Test(arguments: ["core", "closure", "closure-inline", "async", "async-on-queue", "batch"]) func sendsWhatWasAsked(
        _ mode: String
    )
        throws
    {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .send("HTTP/1.1 201 OK\r\nContent-Length: 0\r\n\r\n")])
        let run = try ToolRun(
            ["bench", server.url("/x"), "-n", "20", "-c", "2", "--warm-up", "0", "--mode", mode, "--json"]
                + ["-X", "PUT", "-H", "X-Test: 1", "--data", "a=b"])
        #expect(try run.json()["status"] as? [String: Int] == ["201": 20], "\(run.errors)")
        #expect(server.requests.count == 20)
        for request in server.requests {
            #expect(request.method == "PUT" && request.body == Array("a=b".utf8))
            #expect(request.values(of: "x-test") == ["1"])
        }
    }

    @Test func thePeakOfMemoryIsTheToolsAndNotItsParents() throws {
        let nginx = try NginxServer()
        let peak = {
            let run = try ToolRun(["bench", nginx.url("/12b"), "-n", "10", "-c", "1", "--mode", "core", "--json"])
            return try #require(try run.json()["peak_resident_bytes"] as? Int)
        }
        let before = try peak()
        let size = 256 << 20
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        memset(memory, 1, size)
        memory.deallocate()
        #expect(try peak() < before + size / 4)
        #expect(before > 1 << 20)
    }

    @Test(arguments: ["core", "closure", "async"]) func runsForATime(_ mode: String) throws {
        let nginx = try NginxServer()
        let (json, time) = try blockWithEnoughTime("a request was counted") { time in
            let run = try ToolRun(
                ["bench", nginx.url("/12b"), "-d", time.optionText, "-c", "4", "--mode", mode, "--json"], seconds: 300)
            let json = try run.json()
            return json["requests"] as? Int ?? 0 > 0 ? (json, time / .seconds(1)) : nil
        }
        let seconds = try #require(json["seconds"] as? Double)
        #expect(seconds > time - 0.001 && seconds < time + 60)
    }

    @Test func theWarmUpMayBeATime() throws {
        let run = try blockWithEnoughTime("the warm-up has sent a request") { time in
            let server = try ScriptedServer()
            try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
            let run = try ToolRun(
                ["bench", server.url("/"), "-n", "5", "-c", "1", "--warm-up", time.optionText, "--json"], seconds: 300)
            return server.requests.count > 5 ? run : nil
        }
        #expect(run.status == 0, "\(run.errors)")
        #expect(try run.json()["requests"] as? Int == 5)
    }

    /// A server that stalls once for 600 ms: every request that should have been sent meanwhile counts its wait.
    @Test(arguments: ["core", "closure", "async"]) func openLoopShowsAStall(_ mode: String) throws {
        let server = try ScriptedServer()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        try server.on("/", [.send(answer)])
        try server.on("/", [.sleep(milliseconds: 600), .send(answer)])
        try server.on("/", [.send(answer)])
        let run = try ToolRun(
            ["bench", server.url("/"), "--rate", "100", "-n", "40", "-c", "1", "--warm-up", "1", "--mode", mode]
                + ["--json"])
        let json = try run.json()
        #expect(json["requests"] as? Int == 40, "\(run.errors)")
        let latency = try #require(json["latency_microseconds"] as? [String: Double])
        #expect(latency["p50"] ?? 0 > 200_000)
    }

    /// Twenty requests are due in each 200 ms and wait for its end: their wait counts.
    @Test(arguments: ["core", "closure", "async"]) func ticksSendTogetherAndCountFromEachTime(_ mode: String) throws {
        let server = try ScriptedServer()
        try server.on("/", [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        let run = try ToolRun(
            ["bench", server.url("/"), "--rate", "100", "--tick", "200ms", "-n", "40", "--warm-up", "1"]
                + ["--mode", mode, "--json"])
        let json = try run.json()
        #expect(json["requests"] as? Int == 40, "\(run.errors)")
        let latency = try #require(json["latency_microseconds"] as? [String: Double])
        #expect(latency["p50"] ?? 0 > 80_000)
    }

    @Test func countsErrorsAndTellsTheFirst() throws {
        let server = try ScriptedServer()
        try server.on("/", [.close])
        for mode in ["core", "closure", "closure-inline", "async", "async-on-queue", "batch"] {
            let run = try ToolRun(["bench", server.url("/"), "-n", "30", "-c", "3", "--mode", mode, "--json"])
            #expect(run.status == 14, "\(mode) \(run.errors)")
            #expect(try run.json()["errors"] as? Int == 30)
            #expect(run.errors.contains("connectionLost"))
        }
    }

    @Test func interruptEndsTheRun() throws {
        let server = try ScriptedServer()
        try server.on("/", [.sleep(milliseconds: 5), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        // The first forty are the warm-up.
        let run = try ToolRun(
            ["bench", server.url("/"), "-d", "600s", "-c", "4", "--json"],
            interruptWhen: { server.counts.requests >= 200 })
        // What is in flight gets a second, which a busy machine may let pass by: then it is an error, told before.
        #expect(run.status == 130 && run.errors.hasSuffix("errand: interrupted\n"), "\(run.errors)")
        #expect(try run.json()["requests"] as? Int ?? 0 > 0)
    }

    @Test func printsATable() throws {
        let nginx = try NginxServer()
        let run = try ToolRun(["bench", nginx.url("/12b"), "-n", "100", "-c", "4"])
        for word in ["4 in flight", "4 open at the end", "requests/s", "us/request", "p999", "status 200   100"] {
            #expect(run.text.contains(word), "\(run.text)")
        }
    }

    /// Streams are no connections.
    @Test func tellsTheConnectionsOfHTTP2() throws {
        let nginx = try NginxServer()
        let url = nginx.url("/12b", port: .tls, host: "localhost")
        let run = try ToolRun(
            [
                "bench", url, "--cacert", nginx.certificateAuthorityPath, "--http-version", "2", "-n", "500", "-c",
                "64",
                "--loops", "1",
            ])
        for word in ["64 in flight", " 1 open at the end", "status 200   500"] {
            #expect(run.text.contains(word), "\(run.text) \(run.errors)")
        }
    }

    /// At 256 KiB a second all eight requests are under way at the same time.
    @Test(arguments: [[], ["--users", "8"]]) func streamsAreThoseOfAConnection(_ options: [String]) throws {
        let nginx = try NginxServer()
        let url = nginx.url("/slow/1m", port: .tls, host: "localhost")
        func connections(_ streams: String) throws -> Int {
            let run = try ToolRun(
                ["bench", url, "--cacert", nginx.certificateAuthorityPath, "--http-version", "2", "-n", "8", "-c", "8"]
                    + ["--warm-up", "0s", "--loops", "1", "--streams", streams, "--json"] + options)
            #expect(run.status == 0, "\(run.errors)")
            let json = try run.json()
            let generators = json["generators"] as? [[String: Any]]
            return try #require((generators?.first ?? json)["connections"] as? Int)
        }
        #expect(try connections("2") >= 4)
        #expect(try connections("8") <= 2)
    }

    @Test(arguments: [
        (1.006_108_7, "1.01 s"), (75, "75.0 s"), (0.999_6, "1.00 s"), (0.012_34, "12.3 ms"), (0.000_999_6, "1.00 ms"),
        (0.000_123_4, "123 us"), (0, "0.00 us"), (.infinity, "-"),
    ]) func timesHaveTheUnitThatFits(_ seconds: Double, _ text: String) {
        #expect(seconds.timeText == text)
    }

    @Test(arguments: [
        (["-c", "0"], "-c is 0, expected 1 to 100,000"), (["-n", "0"], "-n is 0, expected 1 or more"),
        (["--loops", "65"], "--loops is 65, expected 1 to 64"),
        (["--streams", "0"], "--streams is 0, expected 1 to 1,000,000"), (["--rate", "0"], "expected 0.001 to"),
        (["--rate", "1e-300"], "expected 0.001 to"), (["--rate", "nan"], "expected 0.001 to"),
        (["-d", "0s"], "-d '0s' is not a duration"), (["-d", "1000h"], "-d '1000h' is not a duration"),
        (["-d", "10"], "-d '10' is not a duration"), (["-d", "a=1"], "--data sets the body"),
        (["--mode", "fast"], "is invalid for '--mode"), (["-X", "A B"], "invalidMethod"),
        (["--tick", "1ms"], "--tick is limited to 1s and requires"),
        (["--rate", "5", "--tick", "2s"], "--tick is limited to 1s"),
        (["--mode", "batch", "--rate", "5"], "--mode batch requires -n"),
        (["--mode", "batch", "-n", "5", "--warm-up", "1s"], "--mode batch requires a number of requests"),
        (["--warm-up", "soon"], "is invalid for '--warm-up"),
        (["--mode", "batch", "-d", "1s"], "--mode batch requires -n"), (["-H", "a\u{1}: b"], "invalidHeader"),
        (["--timeout", "0"], "is invalid for '--timeout"),
    ]) func refusesBadInput(_ options: [String], _ message: String) throws {
        let server = try ScriptedServer()
        let run = try ToolRun(["bench", server.url("/")] + options)
        #expect(run.status == 64)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(server.counts.connections == 0)
    }

    @Test(arguments: ["core", "closure", "closure-inline", "async", "async-on-queue", "batch"]) func refusesBadURLs(
        _ mode: String
    ) throws {
        for url in ["ftp://127.0.0.1/", "http://no host/"] {
            let run = try ToolRun(["bench", url, "-n", "5", "--mode", mode])
            #expect(run.status == 64 && run.output.isEmpty, "\(run.errors)")
        }
    }
}
