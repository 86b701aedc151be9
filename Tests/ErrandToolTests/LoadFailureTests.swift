import ErrandLoad
import ErrandTesting
import Foundation
import Testing

@testable import errand

/// Load tests that send nothing, or fail all the time; and those over TLS and HTTP/2.
@Suite struct LoadFailureTests {
    private let load: LoadToolRun

    init() throws {
        load = try LoadToolRun()
    }

    /// What the first iteration cannot make, no iteration can.
    @Test(arguments: [
        ("POST HOST/a\n\n< missing.bin", 66, "a.http:3:"), ("GET HOST/a\nX-A: {{a}}", 65, "a.http:2:"),
        ("GET HOST/a\n###\nGET HOST/b\nAuthorization: NTLM a b", 65, "a.http:4:"),
    ]) func whatCannotBeMadeIsToldBefore(_ text: String, _ status: Int, _ place: String) throws {
        try load.write("a.http", text)
        try load.write("d.csv", "a\n\"x\ny\"\n")
        let run = try ToolRun(["bench", load.path("a.http"), "--users", "1", "--feed", load.path("d.csv")])
        #expect(run.status == Int32(status) && run.errors.contains(place), "\(run.errors)")
        #expect(load.server.counts.connections == 0)
    }

    /// The first row is good; the others cannot be sent. The run goes on, and does not spin.
    @Test func aRowThatCannotBeSentFailsItsIteration() throws {
        try load.write("a.http", "GET HOST/a\nX-A: {{a}}")
        try load.write("d.csv", "a\n1\n\"x\ny\"\n")
        let (tool, result) = try load.run([
            load.path("a.http"), "-n", "3", "--users", "1", "--feed", load.path("d.csv"),
        ])
        #expect(tool.status == 0 && result.total.counts.answered == 3, "\(tool.errors)")
        #expect(result.scenarios[0].failed == 2 && tool.text.contains("2 of 5 iterations failed"), "\(tool.text)")
        let strict = try load.run([
            load.path("a.http"), "-n", "3", "--users", "1", "--feed", load.path("d.csv"), "--threshold",
            "iterations<10%",
        ])
        #expect(strict.tool.status == 99 && strict.tool.errors.contains("iterations<10% is not met: 40.00 %"))
    }

    @Test func nothingSentIsAFailure() throws {
        // The first arrival of a Poisson process at this rate is due long after the end.
        let (tool, result) = try load.run([
            load.server.url("/"), "--rate", "0.001", "--poisson", "-d", "100ms",
        ])
        #expect(tool.status == 98 && tool.errors.contains("no request was sent"), "\(tool.errors)")
        #expect(result.total.counts.due == 0)
    }

    @Test func aRunWhoseIterationsAllFailedIsAFailure() throws {
        try load.write("a.http", "# @expect 404\nGET HOST/a")
        let (tool, result) = try load.run([load.path("a.http"), "-n", "3", "--users", "1"])
        #expect(tool.status == 98 && tool.errors.contains("all iterations failed: "), "\(tool.errors)")
        #expect(result.scenarios[0].failed == 3)
    }

    /// Three requests are divided among four parts: the last one has nothing to do, which is no failure.
    @Test func aPartWithoutRequestsEndsAtOnce() throws {
        var due: UInt64 = 0
        for number in 1...4 {
            let (tool, result) = try load.run([
                load.server.url("/"), "-n", "3", "--users", "4", "--warm-up", "50ms", "--share", "\(number)/4",
            ])
            #expect(tool.status == 0, "\(tool.errors)")
            #expect(tool.errors.contains("has none of its 3 requests") == (number == 4), "\(tool.errors)")
            due += result.total.counts.due
        }
        #expect(due == 3)
    }

    @Test func rowsOfUsersMustSuffice() throws {
        try load.write("ids.csv", "id\n1\n2\n")
        let options = [
            load.server.url("/{{id}}"), "--users", "3", "--feed", load.path("ids.csv"), "--feed-order", "unique",
        ]
        let run = try ToolRun(["bench"] + options + ["-n", "3"])
        #expect(run.status == 64 && run.errors.contains("3 users need a row each"), "\(run.errors)")
        // The third user ends.
        let targets = try blockWithEnoughTime("both users with a row have sent a request") { time in
            let before = load.server.requests.count
            _ = try load.run(options + ["--feed-end", "fail", "-d", time.optionText])
            let targets = Set(load.server.requests.dropFirst(before).map(\.target))
            return targets.count >= 2 ? targets : nil
        }
        #expect(targets == ["/1", "/2"])
    }

    @Test func thresholdsOfUnknownNamesAreRefused() throws {
        try load.write("a.http", "### a\n# @expect 200\nGET HOST/a")
        for (threshold, isGood) in [
            ("a:p99<1min", true), ("a:checks>=100%", true), ("b:p99<1s", false), ("b:checks>=100%", false),
            ("a:iterations<1%", false),
        ] {
            let run = try ToolRun(["bench", load.path("a.http"), "-n", "1", "--users", "1", "--threshold", threshold])
            #expect(run.status == (isGood ? 0 : 64), "\(threshold): \(run.errors)")
        }
        #expect(load.server.requests.count == 2)
    }

    @Test func tlsAndHTTP2() throws {
        let nginx = try NginxServer()
        let secure = try load.run([
            nginx.url("/12b", port: .tls, host: "localhost"), "--cacert", nginx.certificateAuthorityPath,
            "--http-version", "2", "-n", "40", "--users", "4",
        ])
        #expect(secure.tool.status == 0 && secure.result.total.statuses == [200: 40], "\(secure.tool.errors)")
        #expect(secure.result.total.phases.tls.count >= 1 && secure.result.total.traffic.bodyBytesReceived == 480)
        let untrusted = try load.run([
            nginx.url("/12b", port: .tls, host: "localhost"), "-n", "4", "--users", "1",
        ])
        #expect(untrusted.tool.status == 12 && untrusted.result.total.counts.failed == 4, "\(untrusted.tool.errors)")
        #expect(untrusted.result.total.errors.keys.allSatisfy { $0.phase == .tls })
    }

    /// Before 8.0 libcurl cannot send a second request on such a connection.
    @Test func http2InClearText() throws {
        let nginx = try NginxServer()
        let (tool, result) = try load.run([
            nginx.url("/12b", port: .h2c), "--http-version", "2-prior-knowledge", "-n", "40", "--users", "4",
        ])
        #expect(tool.status == 0 && result.total.statuses == [200: 40], "\(tool.errors)")
        #expect(result.total.phases.tls.count == 0)
        let arrivals = try load.runSendingAll([
            nginx.url("/12b", port: .h2c), "--http-version", "2-prior-knowledge", "--rate", "100", "-d", "500ms",
            "--max-users", "60",
        ])
        #expect(arrivals.tool.status == 0 && arrivals.result.total.counts.answered == 50, "\(arrivals.tool.errors)")
    }
}
