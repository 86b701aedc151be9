import CoreMetrics
import Errand
import ErrandTesting
import MetricsTestKit
import Synchronization
import Testing

@testable import ErrandMetrics

/// A backend that counts the instruments that it is asked for.
private final class CountingMetrics: MetricsFactory {
    let base = TestMetrics()
    private let made = Atomic<Int>(0)

    var count: Int { made.load(ordering: .relaxed) }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        made.wrappingAdd(1, ordering: .relaxed)
        return base.makeCounter(label: label, dimensions: dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        made.wrappingAdd(1, ordering: .relaxed)
        return base.makeMeter(label: label, dimensions: dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        made.wrappingAdd(1, ordering: .relaxed)
        return base.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        base.makeTimer(label: label, dimensions: dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { base.destroyCounter(handler) }
    func destroyMeter(_ handler: any MeterHandler) { base.destroyMeter(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { base.destroyRecorder(handler) }
    func destroyTimer(_ handler: any TimerHandler) { base.destroyTimer(handler) }
}

private struct PutText: Command {
    var method: HTTPRequest.Method { .put }
    var path: String { "text" }
    typealias Response = String
}

/// The instruments of a request are made for the first one of its kind, and kept.
@Suite(.timeLimit(.minutes(20))) struct KeptInstrumentsTests {
    private static let duration = "http.client.request.duration"
    private static let request = "errand.request.duration"

    private let backend = CountingMetrics()
    /// Answers 503 to paths with `bad`, fails those with `late`, and refuses those with `full`.
    private let stub = StubTransport { description in
        if description.url.hasSuffix("bad") { return .response(status: 503) }
        if description.url.hasSuffix("late") { return .failure(.timeoutIdle) }
        return description.url.hasSuffix("full") ? .refuse(.queueFull) : .response(status: 200, body: "text")
    }

    private func client(_ metrics: ClientMetrics) -> Client {
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.metrics = metrics
        return Client(configuration: configuration, transport: stub)
    }

    /// How many instruments the backend was asked for while `body` ran.
    private func made(_ body: () async -> Void) async -> Int {
        let before = backend.count
        await body()
        return backend.count - before
    }

    private func values(_ label: String, _ dimensions: [(String, String)] = []) -> Int {
        backend.base.recorders(label: label, dimensions: dimensions).map(\.values.count).reduce(0, +)
    }

    @Test func equalRequestsMakeNoFurtherInstruments() async throws {
        let client = client(ClientMetrics(factory: backend))
        // The duration of the attempt and of the request, and the meter of active requests.
        #expect(await made { _ = await client.result(of: GetUser(id: 1)) } == 3)
        #expect(await made { for id in 2..<50 { _ = await client.result(of: GetUser(id: id)) } } == 0)
        #expect(values(Self.duration) == 49 && values(Self.request) == 49)
        #expect(values("errand.request.attempts") == 49)
        await client.shutdown()
    }

    /// Each difference has instruments of its own, once.
    @Test func differentRequestsHaveDifferentInstruments() async throws {
        let client = client(ClientMetrics(factory: backend))
        func all() async {
            _ = await client.result(of: GetText())
            _ = await client.result(of: GetText(path: "bad"))
            _ = await client.result(of: GetText(path: "late"))
            _ = await client.result(of: GetText(path: "full"))
            _ = await client.result(of: GetUser())
            _ = await client.result(of: PutText())
            for url in ["http://tes/", "http://test:81/", "http://testt/", "https://test/?x", "http://test?x"] {
                _ = await client.result(of: RawCommand(url: url))
            }
        }
        #expect(await made { await all() } > 20)
        #expect(await made { for _ in 0..<3 { await all() } } == 0)
        let test = [("server.address", "test"), ("server.port", "80"), ("url.template", "")]
        let get = test + [("http.request.method", "GET")]
        #expect(values(Self.duration, get + [("http.response.status_code", "200")]) == 8)
        #expect(values(Self.duration, get + [("error.type", "503")]) == 4)
        #expect(values(Self.duration, get + [("error.type", "timeoutIdle")]) == 4)
        #expect(values(Self.duration, get + [("error.type", "queueFull")]) == 4)
        #expect(values(Self.duration, test + [("http.request.method", "PUT")]) == 4)
        #expect(values(Self.duration, [("url.template", "/users/{id}")]) == 4)
        for (address, port) in [("tes", "80"), ("test", "81"), ("testt", "80"), ("test", "443")] {
            let server = [("server.address", address), ("server.port", port)]
            #expect(values(Self.duration, server) == 4 && values(Self.request, server) == 4)
        }
        #expect(values(Self.duration) == 44 && values(Self.request) == 44)
        await client.shutdown()
    }

    /// A redirect to another path, and to another server, leaves the series of the request.
    @Test func redirectsHaveSeriesOfTheirOwn() async throws {
        let stub = StubTransport { description in
            if description.url.hasSuffix("1") { return .response(status: 302, headers: [.location: "/next"]) }
            return description.url.hasSuffix("next")
                ? .response(status: 302, headers: [.location: "http://other/users/1?x"])
                : .response(status: 200, body: "text")
        }
        let measured = MeasuredClient(stub, backend: backend.base)
        for _ in 0..<2 { _ = try await measured.client.run(GetUser()) }
        let template = ("url.template", "/users/{id}")
        #expect(values(Self.duration, [("server.address", "test"), template]) == 2)
        #expect(values(Self.duration, [("server.address", "test"), ("url.template", "")]) == 2)
        // The path is that of the command again.
        #expect(values(Self.duration, [("server.address", "other"), template]) == 2)
        #expect(values(Self.request, [("server.address", "test"), template]) == 2 && values(Self.request) == 2)
        await measured.client.shutdown()
    }

    /// What is kept is bounded as the labels are.
    @Test func moreServersThanAllowed() async throws {
        let metrics = ClientMetrics(.init(labelSetLimit: 2), factory: backend)
        let client = client(metrics)
        func all() async {
            for host in 0..<20 { _ = await client.result(of: RawCommand(url: "http://host\(host)/")) }
        }
        // Two servers and one for all others.
        #expect(await made { await all() } == 9)
        #expect(await made { await all() } == 0)
        #expect(metrics.recording.keptCount == 4)
        #expect(values(Self.duration, [("server.address", "_OTHER")]) == 36)
        #expect(values(Self.duration, [("server.address", "host1")]) == 2)
        await client.shutdown()
    }

    /// One server in two spellings has one series. Credentials are not kept.
    @Test func spellingsOfAServer() async throws {
        let metrics = ClientMetrics(factory: backend)
        let client = client(metrics)
        for url in ["http://test:80/", "http://TEST/", "http://user:secret@test/"] {
            _ = await client.result(of: RawCommand(url: url))
        }
        #expect(backend.base.recorders(label: Self.duration).count == 1 && values(Self.duration) == 3)
        #expect(metrics.recording.keptCount <= 2)
        await client.shutdown()
    }

    /// Each object asks for instruments of its own. The backend adds up what has the same labels.
    @Test func twoClients() async throws {
        let (one, two) = (ClientMetrics(factory: backend), ClientMetrics(factory: backend))
        let (first, second) = (client(one), client(two))
        #expect(await made { _ = await first.result(of: GetText()) } == 3)
        #expect(await made { _ = await second.result(of: GetText()) } == 3)
        #expect(await made { _ = await first.result(of: GetText()) } == 0)
        #expect(values(Self.duration) == 3 && backend.base.recorders(label: Self.duration).count == 1)
        await first.shutdown()
        await second.shutdown()
    }

    /// Requests of several kinds begin and end on several threads.
    @Test func requestsAtTheSameTime() async throws {
        let metrics = ClientMetrics(factory: backend)
        let client = client(metrics)
        let paths = ["text", "bad", "late", "full"]
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<40 {
                        let path = paths[(task + number) % 4]
                        _ = await client.result(of: RawCommand(url: "http://host\(number % 5)/\(path)"))
                        _ = await client.result(of: GetUser(id: number))
                    }
                }
            }
        }
        #expect(values(Self.duration) == 640 && values(Self.request) == 640)
        #expect(values("errand.request.attempts") == 640)
        for (label, value) in [("http.response.status_code", "503"), ("error.type", "timeoutIdle")] {
            #expect(values(Self.duration, [(label, value)]) == 80)
        }
        #expect(values(Self.duration, [("url.template", "/users/{id}")]) == 320)
        // Each host and the server of the users, once.
        let active = backend.base.meters(label: "http.client.active_requests")
        #expect(active.count == 6 && active.allSatisfy { $0.lastValue == 0 })
        #expect(metrics.recording.keptCount == 6)
        await client.shutdown()
    }

    /// What is kept refers to what keeps it, until the metrics are gone.
    @Test func whatIsKeptIsReleased() async throws {
        struct Kept {
            weak let recording: AttemptRecording?
        }
        func record() async -> Kept {
            let metrics = ClientMetrics(factory: backend)
            var configuration = Client.Configuration(baseURL: "http://test/")
            configuration.metrics = metrics
            // A stub of its own, because it keeps what was submitted.
            let stub = StubTransport { _ in .response(status: 200, body: "text") }
            let client = Client(configuration: configuration, transport: stub)
            _ = await client.result(of: GetText())
            #expect(metrics.recording.keptCount == 1)
            await client.shutdown()
            return Kept(recording: metrics.recording)
        }
        let kept = await record()
        try await waitUntil("the recording is released") { kept.recording == nil }
    }
}
