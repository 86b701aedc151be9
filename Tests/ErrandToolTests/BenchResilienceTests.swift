import Errand
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// `errand bench` with `--retry`, `--hedge` and `--breaker`: what they did is counted.
@Suite struct BenchResilienceTests {
    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    private static let busy = ScriptedServer.Step.send("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")

    private typealias Outcome = (json: [String: Any], counts: [String: Any], run: ToolRun)

    private func bench(_ server: ScriptedServer, _ options: String..., seconds: Double = 120) throws -> Outcome {
        let run = try ToolRun(
            ["bench", server.url("/"), "-c", "1", "--warm-up", "0", "--json"] + options, seconds: seconds)
        let json = try run.json()
        return (json, try #require(json["resilience"] as? [String: Any], "\(run.errors)"), run)
    }

    @Test(arguments: ["closure", "closure-inline", "async", "async-on-queue", "batch"])
    func retriesAreCountedByTheirReason(_ mode: String) throws {
        let server = try ScriptedServer()
        let broken: [ScriptedServer.Step] = [.send("HTTP/1.1 200 OK\r\nConte"), .reset]
        for steps in [[Self.busy], [Self.ok], [Self.busy], [Self.busy], broken, [Self.ok]] { try server.on("/", steps) }
        let (json, counts, run) = try bench(server, "-n", "20", "--mode", mode, "--retry", "3")
        #expect(run.status == 0, "\(run.errors)")
        #expect(json["success_rate"] as? Double == 1 && json["status"] as? [String: Int] == ["200": 20])
        #expect(counts["transfers"] as? Int == 20 && counts["attempts"] as? Int == 24)
        #expect(counts["retries"] as? [String: Int] == ["brokenConnection": 1, "status503": 3])
        #expect(counts["hedges"] as? Int == 0 && counts["refused_by_breaker"] as? Int == 0)
        #expect(server.counts.requests == 24)
    }

    @Test func theBudgetLimitsRetries() throws {
        let server = try ScriptedServer()
        try server.on("/", [Self.busy])
        let limited = try bench(server, "-n", "100", "--retry", "1")
        // A tenth of the requests, the floor of a window of ten seconds or a little more, and one for each further second.
        let retries = try #require((limited.counts["retries"] as? [String: Int])?["status503"])
        let seconds = try #require(limited.json["seconds"] as? Double)
        #expect(retries >= 15 && Double(retries) <= 40 + seconds)
        #expect(limited.json["success_rate"] as? Double == 0)
        let unlimited = try bench(server, "-n", "20", "--retry", "1", "--no-retry-budget")
        #expect(unlimited.counts["retries"] as? [String: Int] == ["status503": 20])
    }

    @Test func theBreakerRefuses() throws {
        // The breaker lets requests through again after 4 s at the earliest, and forgets its calls after 10 s.
        var server = try ScriptedServer()
        let (json, counts, run) = try blockWithEnoughTime("a run took less than 4 s") { _ -> Outcome? in
            server = try ScriptedServer()
            try server.on("/", [Self.busy])
            let outcome = try bench(server, "-n", "200", "--breaker")
            return outcome.json["seconds"] as? Double ?? 0 < 4 ? outcome : nil
        }
        #expect(run.status == 0 && run.errors.hasPrefix("errand: first error: circuitOpen: "), "\(run.errors)")
        // Twenty calls are the least that a breaker judges.
        #expect(json["status"] as? [String: Int] == ["503": 20] && json["errors"] as? Int == 180)
        #expect(counts["refused_by_breaker"] as? Int == 180 && server.counts.requests == 20)
        #expect(json["success_rate"] as? Double == 0)
    }

    /// The stalled attempt is cancelled, and does not end by its time. The hedge has a place beside it.
    @Test func aHedgeAnswersForAStall() throws {
        // A hedge before that would get the stall.
        let (json, counts, run) = try blockWithEnoughTime("the first request had no hedge") { time -> Outcome? in
            let server = try ScriptedServer()
            for step in [Self.ok, .stall, Self.ok] { try server.on("/", [step]) }
            let outcome = try bench(
                server, "-n", "5", "--hedge", time.optionText, "--no-retry-budget", "--timeout", "3600s", seconds: 300)
            return outcome.counts["hedges_won"] as? Int == 1 ? outcome : nil
        }
        #expect(run.status == 0 && json["status"] as? [String: Int] == ["200": 5], "\(run.errors)")
        #expect(try #require(counts["hedges"] as? Int) >= 1)
        #expect(try #require(counts["attempts"] as? Int) >= 6)
    }

    @Test func theTableHasTheSame() throws {
        let server = try ScriptedServer()
        for step in [Self.busy, Self.ok] { try server.on("/", [step]) }
        let run = try ToolRun(["bench", server.url("/"), "-c", "1", "-n", "4", "--warm-up", "0", "--retry", "1"])
        for line in [
            "success      100.00 %", "attempts     5 for 4 requests, 1.25 per request, with the warm-up",
            "  retries    1: status503 1", "  hedges     0, of which 0 won", "  breaker    0 refused",
        ] {
            #expect(run.text.contains("\n\(line)\n"), "\(run.text)")
        }
        let plain = try ToolRun(["bench", server.url("/"), "-c", "1", "-n", "4", "--warm-up", "0"])
        #expect(plain.text.contains("success") && !plain.text.contains("retries"))
    }

    @Test func mistakes() throws {
        let core = " cannot be used with --mode core, which sends each request once"
        for (arguments, message) in [
            (["--retry", "1", "--mode", "core"], "--retry\(core)"),
            (["--breaker", "--mode", "core"], "--breaker\(core)"),
            (["--retry", "100"], "--retry is 100, expected 0 to 99"),
            (["--no-retry-budget"], "--no-retry-budget requires --retry or --hedge"),
            (["--no-retry-budget", "--breaker"], "--no-retry-budget requires --retry or --hedge"),
            (["--retry-budget"], "--retry-budget requires --retry or --hedge"),
        ] {
            let run = try ToolRun(["bench", "http://127.0.0.1:1/"] + arguments)
            #expect(run.status == 64 && run.errors == "errand: \(message)\n", "\(run.errors)")
        }
        for text in ["p49", "p100", "p", "px", "-1", "0", "p+90", "p1e2"] {
            #expect(HedgeArgument(argument: text) == nil, "\(text)")
        }
        guard case .percentile(let share, initial: nil) = HedgeArgument(argument: "p99.9")?.delay else {
            Issue.record("p99.9 is a percentile")
            return
        }
        #expect(abs(share - 0.999) < 1e-9)
        #expect(HedgeArgument(argument: "p50")?.delay == .percentile(0.5, initial: nil))
        #expect(HedgeArgument(argument: "20ms")?.delay == .fixed(.milliseconds(20)))
    }
}
