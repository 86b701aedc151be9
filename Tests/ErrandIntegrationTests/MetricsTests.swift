import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient

/// What a transfer is said to have cost: each phase that happened, none that did not, failures included.
@Suite(.timeLimit(.minutes(20))) struct MetricsTests {
    @Test func aNewConnectionHasEveryPhaseInOrder() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.sleep(milliseconds: 20), .echo])
        try await Client.with(Client(configuration: .patient(baseURL: server.url(), loops: 1))) { client in
            let metrics = try await client.run(Get(path: "/12b")).metrics
            #expect(!metrics.isConnectionReused)
            let phases = [metrics.resolved, metrics.connected, metrics.sent, metrics.firstByte, metrics.total]
            let times = phases.compactMap { $0 }
            #expect(times.count == phases.count)
            #expect(times == times.sorted())
            #expect(metrics.secured == nil)
            #expect(try #require(metrics.firstByte) >= .milliseconds(20))
            #expect(metrics.queue < .seconds(240))
            #expect(metrics.remoteAddress == "127.0.0.1:\(server.port)")
            let port = try #require(metrics.localAddress?.split(separator: ":").last.flatMap { Int($0) })
            #expect(metrics.localAddress == "127.0.0.1:\(port)" && port != server.port)

            let again = try await client.run(Get(path: "/12b")).metrics
            #expect(again.isConnectionReused)
            #expect(again.resolved == nil && again.connected == nil && again.secured == nil)
            #expect(try #require(again.firstByte) >= .milliseconds(20))
        }
    }

    /// Requests that wait for the one before them have that in `queue`.
    @Test func theQueueIsCounted() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall, .echo])
        var configuration = Client.Configuration.patient(baseURL: server.url(), loops: 1)
        configuration.inFlightLimit = 1
        try await Client.with(Client(configuration: configuration)) { client in
            let first = client.start(Get(path: "a"))
            let second = client.start(Get(path: "b"))
            #expect(await server.hasSeen(.init(requests: 1)))
            // Pause: the time that the second request spends in the queue.
            try await Task.sleep(for: .milliseconds(30))
            server.release()
            #expect(await server.hasSeen(.init(requests: 2)))
            try await waitUntil("both requests have ended") { first.state.isFinished && second.state.isFinished }
            #expect(try #require(second.metrics).queue >= .milliseconds(25))
        }
    }

    @Test func eachHopHasItsOwn() async throws {
        let server = try ScriptedServer()
        try server.on("/a", [.send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\nabc")])
        try server.on("/b", [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde")])
        try await Client.with(Client(configuration: .patient(baseURL: server.url(), loops: 1))) { client in
            let request = client.request(Get(path: "a"))
            _ = try await request.runWatched()
            #expect(request.attempts.map(\.metrics?.bytesReceived) == [3, 5])
            #expect(request.attempts.map(\.metrics?.isConnectionReused) == [false, true])
            #expect(request.metrics?.bytesReceived == 5)
        }
    }

    @Test func failuresHaveThemToo() async throws {
        let server = try ScriptedServer()
        try server.on("/silent", [.stall])
        try server.on("/half", [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close])
        try await Client.with(Client(configuration: .patient(baseURL: server.url(), loops: 1))) { client in
            let silent = client.request(Get(path: "silent", timeouts: Timeouts(firstByte: .milliseconds(30))))
            _ = try? await silent.runWatched()
            #expect(silent.error == .timeoutFirstByte)
            let metrics = try #require(silent.metrics)
            #expect(metrics.connected != nil && metrics.sent != nil && metrics.firstByte == nil)
            // The engine's deadlines are of whole milliseconds, its metrics of microseconds.
            #expect(metrics.total >= .milliseconds(29))
            #expect(silent.attempts.map { $0.metrics != nil } == [true])

            let half = client.request(Get(path: "half"))
            _ = try? await half.runWatched()
            #expect(half.error == .partialBody)
            #expect(half.error?.metrics?.bytesReceived == 3)

            let port = try FaultPort(.refused)
            let refused = client.request(Get(path: "http://127.0.0.1:\(port.number)/"))
            _ = try? await refused.runWatched()
            withExtendedLifetime(port) {}
            #expect(refused.error == .connectFailed)
            #expect(try #require(refused.metrics).connected == nil)
            #expect(try #require(refused.metrics).total > .zero)

            // Nothing was sent.
            let wrong = client.request(Get(path: "ftp://a/"))
            _ = try? await wrong.runWatched()
            #expect(wrong.error != nil && wrong.metrics == nil)
        }
    }
}
