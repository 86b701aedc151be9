import CoreMetrics
import Errand
import ErrandTesting
import MetricsTestKit
import Testing

@testable import ErrandMetrics

/// Which servers have series, and for how long.
@Suite(.timeLimit(.minutes(20))) struct ServerTableTests {
    private static let duration = "http.client.request.duration"
    private static let active = "http.client.active_requests"
    /// When every server was idle for long.
    private static let later = Int64.max / 2

    private func count(_ measured: MeasuredClient, _ address: String) -> Int {
        measured.backend.recorders(label: Self.duration, dimensions: [("server.address", address)])
            .map(\.values.count).reduce(0, +)
    }

    /// The names of a service's instances change for ever.
    @Test func idleServersGiveTheirPlaces() async throws {
        let measured = MeasuredClient(
            StubTransport { _ in .response(status: 200, body: "text") }, ClientMetrics.Options(labelSetLimit: 2))
        func ask(_ host: String) async { _ = await measured.client.result(of: RawCommand(url: "http://\(host)/")) }
        for host in ["a", "b", "c", "c"] { await ask(host) }
        #expect(count(measured, "a") == 1 && count(measured, "c") == 0 && count(measured, "_OTHER") == 2)
        #expect(measured.metrics.recording.makeRoom(at: Self.later))
        // Nothing is kept of the run that was found for `c` before.
        await ask("c")
        #expect(count(measured, "c") == 1 && count(measured, "_OTHER") == 2)
        #expect(measured.backend.recorders(label: Self.duration, dimensions: [("server.address", "a")]).isEmpty)
        #expect(measured.backend.meters(label: Self.active, dimensions: [("server.address", "a")]).isEmpty)
        // A server that comes back has series again.
        await ask("a")
        #expect(count(measured, "a") == 1)
        await measured.client.shutdown()
    }

    @Test func whereThereIsRoomAllStay() async throws {
        let measured = MeasuredClient(
            StubTransport { _ in .response(status: 200, body: "text") }, ClientMetrics.Options(labelSetLimit: 2))
        _ = await measured.client.result(of: RawCommand(url: "http://a/"))
        #expect(!measured.metrics.recording.makeRoom(at: Self.later))
        #expect(count(measured, "a") == 1)
        await measured.client.shutdown()
    }

    /// A stream may take hours.
    @Test func aServerInUseStays() async throws {
        let stub = StubTransport()
        let measured = MeasuredClient(stub, ClientMetrics.Options(labelSetLimit: 1))
        let request = measured.client.start(RawCommand(url: "http://a/"))
        try await waitUntil("the transfer is open") { !stub.open.isEmpty }
        #expect(!measured.metrics.recording.makeRoom(at: Self.later))
        #expect(measured.meter(Self.active, [("server.address", "a")]) == 1)
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(measured.meter(Self.active, [("server.address", "a")]) == 0 && count(measured, "a") == 1)
        await measured.client.shutdown()
    }

    /// Two clients ask one server. One of them gives its series up.
    @Test func seriesOfAnotherClientStay() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        let backend = TestMetrics()
        let options = ClientMetrics.Options(labelSetLimit: 1)
        let (one, two) = (
            MeasuredClient(stub, options, backend: backend), MeasuredClient(stub, options, backend: backend)
        )
        for client in [one.client, two.client] { _ = await client.result(of: RawCommand(url: "http://a/")) }
        #expect(one.metrics.recording.makeRoom(at: Self.later))
        _ = await two.client.result(of: RawCommand(url: "http://a/"))
        #expect(count(two, "a") == 3)
        await one.client.shutdown()
        await two.client.shutdown()
    }

    /// A server that answers with every status there is.
    @Test func statusesAreBounded() async throws {
        let stub = StubTransport { .response(status: Int($0.url.suffix(3)) ?? 200) }
        let measured = MeasuredClient(stub)
        let limit = HandleList<AttemptKey, AttemptHandles>.limit
        for status in 400..<(400 + limit + 20) {
            _ = await measured.client.result(of: RawCommand(url: "http://a/\(status)"))
        }
        #expect(measured.backend.recorders(label: Self.duration).count == limit + 1)
        let other = try measured.recorder(Self.duration, [("error.type", "_OTHER")])
        #expect(other.values.count == 20 && words(other.dimensions).contains("http.response.status_code="))
        await measured.client.shutdown()
    }
}
