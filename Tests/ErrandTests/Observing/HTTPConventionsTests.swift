import Errand
import ErrandTesting
import Testing

@testable import ErrandModel

/// OpenTelemetry's HTTP conventions, v1.44.
@Suite struct HTTPConventionsTests {
    @Test func knownMethods() {
        let standard = HTTPConventions.methods(inList: nil)
        #expect(standard.isSuperset(of: ["GET", "PATCH", "QUERY"]) && standard.count == 10)
        #expect(HTTPConventions.methods(inList: "") == standard && HTTPConventions.methods(inList: " , ") == standard)
        #expect(HTTPConventions.methods(inList: "GET, PURGE ,,") == ["GET", "PURGE"])
    }

    @Test(
        arguments: [
            ("http://a/x", "a", 80), ("https://A.test", "a.test", 443), ("http://a:8080?x=:1", "a", 8080),
            ("http://user:pass@a:81/", "a", 81), ("https://[::1]/", "::1", 443), ("http://[fe80::1]:8/", "fe80::1", 8),
            ("http://a:/", "a", 80),
        ])
    func servers(url: String, address: String, port: Int) {
        #expect(ServerPlace(URLReference(url)) == ServerPlace(address: address, port: port))
    }

    /// The engine's own measure, which the queue of callbacks does not delay, but never one that lies in the future.
    @Test func theTimeToAHead() {
        let timer = AttemptTimer()
        func head(_ firstByte: Duration?) -> Errand.Response {
            var metrics = TransferMetrics()
            metrics.queue = .nanoseconds(1)
            metrics.firstByte = firstByte
            return Errand.Response(statusCode: 200, headers: [:], body: Array("".utf8), metrics: metrics)
        }
        #expect(timer.timeToHead(head(.nanoseconds(2))) == 3)
        #expect(timer.timeToHead(head(nil)) > 3)
        #expect(timer.timeToHead(head(.seconds(3600))) < 3_600_000_000_000)
    }

    @Test func peers() {
        #expect(ServerPlace(endpoint: "127.0.0.1:80") == ServerPlace(address: "127.0.0.1", port: 80))
        #expect(ServerPlace(endpoint: "[::1]:443") == ServerPlace(address: "::1", port: 443))
        #expect(ServerPlace(endpoint: "") == nil && ServerPlace(endpoint: "host") == nil)
    }

    @Test func errorTypes() {
        func kind(_ status: Int) -> String? {
            HTTPConventions.errorType(of: .response(Response(statusCode: status)))
        }
        #expect(kind(200) == nil && kind(304) == nil && kind(400) == "400" && kind(503) == "503")
        #expect(HTTPConventions.errorType(of: .failure(.cancelled)) == nil)
        #expect(HTTPConventions.errorType(of: .failure(.tlsUntrusted)) == "tlsUntrusted")
    }

    @Test func templatesBelongToOnePath() throws {
        let template = try #require(URLTemplate("/users/{id}", of: "http://a/users/7?x=1"))
        #expect(template.text(for: URLReference("https://b/users/7?y")) == "/users/{id}")
        #expect(template.text(for: URLReference("http://a/users/8")) == nil)
        #expect(URLTemplate(nil, of: "http://a/") == nil)
    }

    @Test func versionsOfHeads() {
        func version(_ line: String) -> String? {
            HTTPConventions.protocolVersion(
                ofHead: Response(statusCode: 200, head: Array(line.utf8), body: [UInt8]()))
        }
        #expect(version("HTTP/1.1 200 OK\r\n") == "1.1" && version("HTTP/2 200\r\n") == "2")
        #expect(version("") == nil && version("HTTP/ 200") == nil && version("ICY 200 OK") == nil)
    }

    @Test func units() {
        #expect(Duration.milliseconds(1500).asSeconds == 1.5)
        #expect(Duration.seconds(ofNanoseconds: 1_500_000_000) == 1.5)
        #expect(Duration.milliseconds(1500).asNanoseconds == 1_500_000_000)
        #expect(Duration.seconds(-1).asNanoseconds == 0 && Duration.seconds(Int64.max).asNanoseconds == .max)
    }

    /// A transport without metrics, such as a stub, is measured by the clock.
    @Test func durations() {
        var metrics = TransferMetrics()
        metrics.queue = .seconds(1)
        metrics.total = .seconds(2)
        let timer = AttemptTimer()
        let known = Response(statusCode: 200, headers: [:], metrics: metrics)
        #expect(timer.duration(of: .response(known)) == 3_000_000_000)
        #expect((0..<3_600_000_000_000).contains(timer.duration(of: .failure(.cancelled))))
    }

    /// Of a response that the engine has received: the figures are read beside the metrics.
    @Test(.timeLimit(.minutes(20))) func figuresAreThoseOfTheMetrics() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.echo])
        let client = Client(
            configuration: .init(
                baseURL: server.url("/"), timeouts: Timeouts(connect: .seconds(240), idle: .seconds(3600)),
                connection: ConnectionOptions(idleConnectionSeconds: 3600), loops: 1))
        for isReused in [false, true] {
            let response = try await client.run(RawCommand(url: "a"))
            let metrics = response.metrics
            let summary = try #require(HTTPConventions.summary(of: .response(response)))
            #expect(.nanoseconds(summary.queue) == metrics.queue)
            #expect(.nanoseconds(summary.duration) == metrics.queue + metrics.total)
            #expect(summary.bytesSent == metrics.bytesSent && summary.bytesReceived == metrics.bytesReceived)
            let phases: [(Int64, Duration?)] = [
                (summary.resolved, metrics.resolved), (summary.connected, metrics.connected),
                (summary.secured, metrics.secured), (summary.sent, metrics.sent),
                (summary.firstByte, metrics.firstByte), (summary.total, metrics.total),
            ]
            for (figure, phase) in phases {
                #expect(phase == (figure == 0 ? nil : Duration.nanoseconds(figure)))
            }
            // Only load tests ask for the bytes of heads.
            #expect(metrics.headBytesSent == nil && metrics.headBytesReceived == nil)
            #expect(summary.headBytesSent == 0 && summary.headBytesReceived == 0)
            #expect(summary.hasConnected == (metrics.connected != nil))
            #expect(summary.isConnectionReused == isReused && metrics.isConnectionReused == isReused)
            #expect(summary.httpVersion == "1.1" && metrics.httpVersion == "1.1")
        }
        await client.shutdown()
    }

    /// A stub's response has none, and a failure has those of its metrics.
    @Test func figuresOfOtherResults() {
        #expect(HTTPConventions.summary(of: .response(Response(statusCode: 200))) == nil)
        #expect(HTTPConventions.summary(of: .failure(.cancelled)) == nil)
        var metrics = TransferMetrics()
        metrics.total = .milliseconds(2)
        metrics.httpVersion = "2"
        let response = Response(statusCode: 0, headers: [:], metrics: metrics)
        let summary = HTTPConventions.summary(of: .failure(.connectFailed.with(response: response)))
        #expect(summary?.duration == 2_000_000 && summary?.httpVersion == "2")
    }
}
