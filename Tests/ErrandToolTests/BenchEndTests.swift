import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

@testable import errand

/// When a run ends, and what it says then: servers that stall, signals, the warm-up, outputs that fail.
@Suite struct BenchEndTests {
    static let modes = ["core", "closure", "async"]
    static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    private func stalled() throws -> ScriptedServer {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        return server
    }

    @Test(arguments: modes, [["-c", "4"], ["-c", "2", "--rate", "100"]])
    func timeEndsAStalledRun(_ mode: String, _ options: [String]) throws {
        let (run, json) = try blockWithEnoughTime("a request waits from the beginning of the run") { time in
            let server = try stalled()
            let run = try ToolRun(
                ["bench", server.url("/"), "-d", time.optionText, "--warm-up", "0", "--json", "--mode", mode]
                    + ["--timeout", "1h"] + options,
                seconds: 300)
            let json = try run.json()
            // It waits for the rest of the run, and a second more. On a busy machine the first one may begin late.
            let latency = json["latency_microseconds"] as? [String: Double]
            return latency?["max"] ?? 0 > time / .microseconds(1) * 0.9 + 1_000_000 ? (run, json) : nil
        }
        #expect(run.status == 13, "\(run.errors)")
        let requests = try #require(json["requests"] as? Int)
        #expect(requests >= 1 && json["errors"] as? Int == requests)
        #expect(json["requests_per_second"] as? Double == 0)
        #expect(json["unanswered"] as? Int == requests)
        #expect(run.errors.contains("no response at the end of the run"))
    }

    @Test(arguments: modes) func aSignalEndsAStalledRun(_ mode: String) throws {
        func interrupted(_ options: [String]) throws -> ToolRun {
            let server = try stalled()
            return try ToolRun(
                ["bench", server.url("/"), "-n", "1000", "-c", "2", "--mode", mode, "--json"] + options,
                interruptWhen: { server.counts.requests > 0 })
        }
        for options in [["--rate", "100", "--warm-up", "0"], ["--warm-up", "0"]] {
            let run = try interrupted(options)
            #expect(run.status == 130, "\(run.errors)")
            let json = try run.json()
            #expect(json["errors"] as? Int ?? 0 > 0)
        }
        let run = try interrupted(["--warm-up", "10"])
        #expect(run.status == 130 && run.output.isEmpty, "\(run.text)")
        #expect(run.errors.contains("nothing was measured"))
    }

    /// A server that stops in the middle of the run: what was due after it counts as what it is, unanswered, in percentiles
    /// and exit code.
    @Test(arguments: modes) func aStallAtTheEndIsTold(_ mode: String) throws {
        let (run, json) = try blockWithEnoughTime("nearly all requests that are not answered were sent") { time in
            let server = try ScriptedServer()
            for _ in 0..<150 { try server.on("/", [.send(BenchEndTests.answer)]) }
            try server.on("/", [.stall])
            let run = try ToolRun(
                ["bench", server.url("/"), "-d", time.optionText, "--rate", "\(300 / (time / .seconds(1)))"]
                    + ["-c", "1000", "--warm-up", "0", "--json", "--mode", mode, "--timeout", "1h"],
                seconds: 300)
            let json = try run.json()
            // What is not sent before the end of the run never is.
            return json["unanswered"] as? Int ?? 0 >= 135 ? (run, json) : nil
        }
        #expect(run.status == 13, "\(run.errors)")
        let count = { (key: String) in try #require(json[key] as? Int) }
        #expect(try count("due") == 300)
        #expect(try count("requests") + count("never_sent") == 300)
        let unanswered = try count("unanswered")
        #expect(try unanswered == count("errors"))
        // What was due in the half that the server did not answer waited for its rest, and for the drain of a second.
        let latency = try #require(json["latency_microseconds"] as? [String: Double])
        #expect(latency["p90"] ?? 0 > 1_000_000 && latency["p99"] ?? 0 > 1_000_000)
        #expect(run.errors.contains("\(unanswered) of 300 requests had no response"))
    }

    /// Requests that a full queue refuses were due, and wait for the end of the run.
    @Test func whatAFullQueueRefusesWaited() throws {
        let (load, length) = try blockWithEnoughTime("all six requests have begun before the end") {
            time -> (BenchLoad, UInt64)? in
            let load = BenchLoad(BenchEndTests.plan(6, in: time))
            let length = UInt64(time / .nanoseconds(1))
            let origin = load.origin
            for number in 0..<6 as Range<UInt64> {
                let due = origin + number * (length / 6)
                MonotonicTime.sleep(until: due)
                guard case .ticket(let ticket) = load.begin(intendedAt: due, origin: origin) else { return nil }
                load.end(ticket, number < 2 ? .init(ErrandError.queueFull) : .init(status: 200))
            }
            return (load, length)
        }
        let end = load.origin + length
        MonotonicTime.sleep(until: end)
        guard case .over = load.begin(intendedAt: end, origin: load.origin) else {
            Issue.record("the run is not over")
            return
        }
        let result = try #require(load.snapshot()).result
        #expect(result.due == 6 && result.refused == 2 && result.errors == 2)
        #expect(result.timed == 6 && result.latency(at: 100) >= length)
        // The fifth of them: the second one that was refused was due after a sixth of the time.
        #expect(result.latency(at: 80) >= length / 100 * 82)
    }

    /// A run of the core that sends so many requests in that time, one after the other.
    private static func plan(_ requests: Double, in time: Duration) -> BenchPlan {
        var plan = BenchPlan(
            requests: nil, warmUp: 0, connections: 5, loops: 1, mode: .core, method: .get, url: "", headers: [:],
            timeout: .seconds(1), httpVersion: .automatic, insecure: false)
        plan.duration = time
        plan.rate = requests / (time / .seconds(1))
        return plan
    }

    /// A generator that comes too late sends no more than was due, and tells what it never sent.
    @Test func whatWasNeverSentIsDueToo() throws {
        let (load, length) = try blockWithEnoughTime("a request has ended before the end") {
            time -> (BenchLoad, UInt64)? in
            let load = BenchLoad(BenchEndTests.plan(300_000, in: time))
            let length = UInt64(time / .nanoseconds(1))
            guard case .ticket(let ticket) = load.begin(intendedAt: load.origin, origin: load.origin) else {
                return nil
            }
            load.end(ticket, .init(status: 200))
            return MonotonicTime.now < load.origin + length ? (load, length) : nil
        }
        MonotonicTime.sleep(until: load.origin + length)
        guard case .over = load.begin(intendedAt: load.origin + 1000, origin: load.origin) else {
            Issue.record("the run is not over")
            return
        }
        let snapshot = try #require(load.snapshot())
        #expect(snapshot.result.due == 300_000 && snapshot.result.neverSent == 299_999)
        #expect(snapshot.result.timed == 300_000)
        #expect(abs(snapshot.answeredPerSecond * Double(length) / 1e9 - 1) < 0.001)
    }

    /// The rate is that of the measured part: what is answered in the wait after it is counted, and not in the rate.
    @Test func theRateIsWithoutTheDrain() throws {
        let server = try ScriptedServer()
        try server.on("/", [.send(BenchEndTests.answer)])
        try server.on("/", [.sleep(milliseconds: 2800), .send(BenchEndTests.answer)])
        let run = try ToolRun(
            ["bench", server.url("/"), "-d", "2s", "-c", "1", "--warm-up", "1", "--mode", "core", "--json"])
        let json = try run.json()
        #expect(abs(try #require(json["seconds"] as? Double) - 2) < 0.001, "\(run.errors)")
        #expect(json["requests_per_second"] as? Double == 0)
        #expect(json["requests"] as? Int == 1 && json["errors"] as? Int ?? 0 <= 1)
    }

    /// Bodies are dropped as they come: an endless one takes no memory.
    @Test(arguments: modes) func bodiesAreNotKept(_ mode: String) throws {
        let server = try ScriptedServer()
        let size = 64 << 20
        try server.on(
            nil,
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
                .sendRepeated("0123456789abcdef", times: size / 16),
            ])
        let run = try ToolRun(
            ["bench", server.url("/"), "-n", "6", "-c", "3", "--warm-up", "0", "--mode", mode, "--json"])
        let json = try run.json()
        #expect(run.status == 0 && json["bytes_received"] as? Int == 6 * size, "\(run.errors)")
        #expect(try #require(json["peak_resident_bytes"] as? Int) < size)
    }

    @Test func waitsOfCenturiesHaveAMean() {
        var result = BenchLoad.Result()
        result.countNeverSent(0, upTo: 600_000_000, from: 0, rate: 1_000_000)
        result.endWaiting(at: 600_000_000_000)
        let run = BenchLoad.Snapshot(
            result, ProcessUsage(time: 0, user: 0, system: 0),
            ProcessUsage(time: 600_000_000_000, user: 0, system: 0), nil)
        let report = BenchReport(run: run, mode: .core, inFlight: 1, connections: 0, loops: 1, rate: 1_000_000)
        #expect(report.table.contains("600,000,000 never sent"))
        #expect(abs(run.result.meanLatency / 300e9 - 1) < 0.01)
    }

    /// The children of a batch that is stopped have no closures, and count all the same.
    @Test func aSignalEndsAStalledBatch() throws {
        let server = try stalled()
        let run = try ToolRun(
            [
                "bench", server.url("/"), "--mode", "batch", "-n", "100", "-c", "4", "--warm-up", "0",
                "--timeout", "1h", "--json",
            ], interruptWhen: { server.counts.requests == 4 })
        #expect(run.status == 130, "\(run.errors)")
        let json = try run.json()
        #expect(json["requests"] as? Int == 4 && json["unanswered"] as? Int == 4)
    }

    @Test func timeEndsASlowRate() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(BenchEndTests.answer)])
        // The second one would be sent after 500 s, or 1,000 s.
        for rate in ["0.002", "0.001"] {
            let (json, status) = try blockWithEnoughTime("the first request was answered") {
                time throws -> ([String: Any], Int32)? in
                let run = try ToolRun(
                    ["bench", server.url("/"), "-d", time.optionText, "--rate", rate, "--json"], seconds: 300)
                let json = try run.json()
                return run.status == 13 || json["requests"] as? Int == 0 ? nil : (json, run.status)
            }
            #expect(status == 0)
            #expect(json["requests"] as? Int == 1)
            #expect(json["seconds"] as? Double ?? 0 < 180)
        }
    }

    @Test(arguments: [
        ["-d", "3s", "-c", "2"], ["-n", "10", "-c", "2"], ["-d", "3s", "--rate", "10", "-c", "8"],
    ]) func warmUpIsLittle(_ options: [String]) throws {
        let server = try ScriptedServer()
        try server.on(nil, [.sleep(milliseconds: 500), .send(BenchEndTests.answer)])
        let run = try ToolRun(["bench", server.url("/"), "--json", "--mode", "core"] + options)
        let requests = try #require(try run.json()["requests"] as? Int)
        // Ten for each connection, did it not end by its time.
        #expect(requests >= 2 && server.requests.count - requests <= 10, "\(requests) of \(server.requests.count)")
    }

    /// The warm-up's time is over with more requests begun than are wanted: the first three count, once.
    @Test func aTimedWarmUpCountsExactly() {
        var plan = BenchPlan(
            requests: 3, warmUp: 10, connections: 5, loops: 1, mode: .core, method: .get, url: "", headers: [:],
            timeout: .seconds(1), httpVersion: .automatic, insecure: false)
        plan.warmUpTime = .nanoseconds(1)
        let load = BenchLoad(plan)
        let tickets = (0..<5).compactMap { _ in load.begin() }
        #expect(tickets.count == 5 && load.snapshot() == nil)
        guard case .next(nil) = load.tick() else {
            Issue.record("the warm-up is not over")
            return
        }
        #expect(load.begin() == nil && !load.isOver)
        for ticket in tickets { load.end(ticket, .init(status: 200)) }
        #expect(load.snapshot()?.result.requests == 3)
        guard case .done = load.tick() else {
            Issue.record("the run is not over")
            return
        }
    }

    @Test(arguments: modes) func failuresHaveNoLatency(_ mode: String) throws {
        let server = try ScriptedServer()
        try server.on("/", [.close])
        try server.on("/", [.sleep(milliseconds: 150), .send(BenchEndTests.answer)])
        let json = try ToolRun(
            ["bench", server.url("/"), "-n", "2", "-c", "1", "--warm-up", "0", "--mode", mode, "--json"]
        ).json()
        #expect(json["requests"] as? Int == 2 && json["errors"] as? Int == 1)
        let latency = try #require(json["latency_microseconds"] as? [String: Double])
        #expect(latency["min"] ?? 0 > 140_000)
        let seconds = try #require(json["seconds"] as? Double)
        let rate = try #require(json["requests_per_second"] as? Double)
        #expect(abs(rate * seconds - 1) < 0.01)
    }

    @Test(arguments: modes) func theWarmUpsErrorIsNotTheRuns(_ mode: String) throws {
        let server = try ScriptedServer()
        try server.on("/", [.close])
        try server.on("/", [.send(BenchEndTests.answer)])
        for options in [[], ["--json"]] {
            let run = try ToolRun(
                ["bench", server.url("/"), "-n", "5", "-c", "1", "--warm-up", "1", "--mode", mode] + options)
            #expect(run.status == 0 && run.errors.isEmpty && !run.text.contains("first error"), "\(run.errors)")
        }
    }

    @Test func shortTimeoutsAreNotNone() throws {
        let port = try FaultPort(.silent)
        for mode in BenchEndTests.modes {
            let run = try ToolRun(
                ["bench", "http://127.0.0.1:\(port.number)/", "-n", "1", "--timeout", "0.4ms", "--mode", mode])
            #expect(run.status == 13, "\(mode) \(run.errors)")
        }
    }

    @Test func failedOutputIsToldAndFailedErrorsAreNot() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(BenchEndTests.answer)])
        let arguments = ["bench", server.url("/"), "-n", "5", "-c", "1"]
        for options in [[], ["--json"]] {
            let run = try ToolRun(arguments + options, outputTo: "/dev/full")
            #expect(run.status == 73 && run.errors.contains("cannot write '-'"), "\(run.errors)")
        }
        #expect(try ToolRun(["bench", "http://no host/"], errorsTo: "/dev/full").status == 64)
        let port = try FaultPort(.refused)
        #expect(try ToolRun(["fetch", "http://127.0.0.1:\(port.number)/"], errorsTo: "/dev/full").status == 11)
    }

    @Test func textThatLooksLikeATimeIsABodyByName() throws {
        let server = try ScriptedServer()
        try server.on(nil, [.readBody, .send(BenchEndTests.answer)])
        for options in [["--data", "31d"], ["--data", "30"], ["--data", "a=1s"]] {
            let run = try ToolRun(["bench", server.url("/"), "-n", "1", "--warm-up", "0"] + options)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["31d", "30", "a=1s"])
    }

    @Test(arguments: [
        ("/a?b=//c", "/a?b=//c"), ("//a", "//a"), ("?next=/foo", "/?next=/foo"), ("", "/"), ("/", "/"),
        ("#/x", "/"), ("/a:b", "/a:b"),
    ]) func everyModeSendsToTheSamePath(_ text: String, _ target: String) throws {
        let server = try ScriptedServer()
        try server.on(nil, [.send(BenchEndTests.answer)])
        let host = server.url("/").dropLast()
        for mode in BenchEndTests.modes {
            let run = try ToolRun(["bench", host + text, "-n", "1", "--warm-up", "0", "--mode", mode])
            #expect(run.status == 0, "\(mode) \(run.errors)")
        }
        #expect(server.requests.map(\.target) == [target, target, target])
    }
}
