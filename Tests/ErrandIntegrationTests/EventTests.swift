import Errand
import ErrandTesting
import HTTPTypes
import Logging
import Synchronization
import Testing

/// What accessories hear of requests to real servers.
@Suite struct EventTests {
    private struct Replaying: ReplayingInterceptor {
        func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
            context.replays == 0
        }
    }

    private struct Again: Command {
        var path: String
        var interceptors: [any Interceptor] { [Replaying()] }
        typealias Response = Errand.Response
    }

    @Test func eventsAreToldInOrder() async throws {
        let recorder = EventRecorder()
        try await Client.with(Nginx.client { $0.accessories = [recorder] }) { client in
            _ = try await client.run(Get(path: "/1k"))
        }
        #expect(recorder.names == ["willStart", "queued", "started", "sent", "head 200", "willStop", "didStop"])
        #expect(recorder.progress.last?.bytesReceived == 1024 && recorder.progress.last?.bytesToReceive == 1024)
    }

    @Test func redirectsAndReplaysAreTold() async throws {
        let recorder = EventRecorder()
        try await Client.with(Nginx.client { $0.accessories = [recorder] }) { client in
            _ = try await client.run(Get(path: "/redirect"))
            _ = try await client.run(Again(path: "/12b"))
        }
        let hop = ["queued", "started", "sent"]
        let redirected =
            ["willStart"] + hop + ["head 302", "redirected 302"] + hop + ["head 200", "willStop", "didStop"]
        let replayed = ["willStart"] + hop + ["head 200", "replaying 200"] + hop + ["head 200", "willStop", "didStop"]
        #expect(recorder.names == redirected + replayed)
    }

    @Test func progressIsMonotoneAndEndsAtTheTotal() async throws {
        let recorder = EventRecorder()
        let server = try ScriptedServer()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"
        try server.on(nil, [.readBody, .send(answer), .sendRepeated(String(repeating: "x", count: 1000), times: 200)])
        let reports = Mutex<[ProgressReport]>([])
        let accessory = ProgressAccessory { report in reports.withLock { $0.append(report) } }
        try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) { client in
            let body = RequestBody.bytes([UInt8](repeating: 1, count: 300_000))
            let request = client.request(Get(path: "both", method: .post, body: body))
            request.addAccessory(recorder)
            request.addAccessory(accessory)
            await withCheckedContinuation { continuation in
                request.start(completion: { _ in continuation.resume() })
            }
        }
        let progress = recorder.progress
        #expect(
            zip(progress, progress.dropFirst()).allSatisfy {
                $0.bytesSent <= $1.bytesSent && $0.bytesReceived <= $1.bytesReceived
            })
        #expect(progress.last?.bytesSent == 300_000 && progress.last?.bytesReceived == 200_000)
        #expect(reports.withLock { $0.last?.fraction } == 1 && reports.withLock { $0.last?.bytes } == 500_000)
    }

    @Test func whatAnAccessoryThrowsHarmsNothing() async throws {
        struct Thrown: Error {}
        let recorder = EventRecorder { _, _ in throw Thrown() }
        let other = EventRecorder()
        try await Client.with(Nginx.client { $0.accessories = [recorder, other] }) { client in
            let response = try await client.run(Get(path: "/12b"))
            #expect(response.body.count == 12)
        }
        #expect(recorder.names == other.names && other.names.count == 7)
    }

    @Test func aStopEndsTheEvents() async throws {
        let server = try ScriptedServer()
        try server.on(nil, [.stall])
        let recorder = EventRecorder()
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.accessories = [recorder]
        try await Client.with(Client(configuration: configuration)) { client in
            let request = client.start(Get(path: "stalled"))
            // What the server has seen may not have been told here yet.
            try await waitUntil("the sent event was told") { recorder.names.contains("sent") }
            request.stop()
        }
        #expect(recorder.names == ["willStart", "queued", "started", "sent", "willStop", "didStop"])
    }

    /// Every transfer is a command of its own, and what an interceptor added is in it.
    @Test func theCurlAccessoryShowsEveryTransfer() async throws {
        struct Signing: PreparingInterceptor {
            func prepare(
                _ request: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                var request = request
                var fields = request.headers.fields
                fields[.accept] = "signed/yes"
                request.headers = HeaderBlock(fields)
                return request
            }
        }
        struct Signed: Command {
            var path: String
            var interceptors: [any Interceptor] { [Signing()] }
            typealias Response = Errand.Response
        }
        let lines = Lines()
        let logger = Logger(label: "test") { _ in lines }
        try await Client.with(Nginx.client { $0.accessories = [CurlAccessory(logger)] }) { client in
            _ = try await client.run(Signed(path: "/redirect"))
        }
        #expect(lines.all.count == 2)
        #expect(lines.all.allSatisfy { $0.hasPrefix("curl -q ") && $0.contains("signed/yes") })
        #expect(lines.all.first?.contains("/redirect") == true && lines.all.last?.contains("/redirect") == false)
    }
}

/// Keeps messages.
private final class Lines: LogHandler, Sendable {
    private let kept = Mutex<[String]>([])
    var all: [String] { kept.withLock { $0 } }
    var logLevel: Logger.Level {
        get { .debug }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
    func log(event: LogEvent) { kept.withLock { $0.append("\(event.message)") } }
}
