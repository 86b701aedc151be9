import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

/// Bodies that are read while they are sent, and sent again by a retry.
@Suite(.timeLimit(.minutes(20))) struct UploadRetryRunTests {
    /// Counts its readers. A second one that is open at the same time is an error.
    private final class Counted: RequestBodySource {
        private struct Readers {
            var made = 0
            var isOpen = false
        }

        private final class Reader: BodyReader {
            private let source: Counted
            private var left: [UInt8]

            init(_ source: Counted, _ bytes: [UInt8]) {
                self.source = source
                left = bytes
            }

            func next(maximum: Int) async throws -> [UInt8]? {
                guard !left.isEmpty else { return nil }
                defer { left.removeFirst(min(maximum, left.count)) }
                return Array(left.prefix(maximum))
            }

            func close() { source.readers.withLock { $0.isOpen = false } }
        }

        private let bytes: [UInt8]
        private let readers = Mutex(Readers())

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var length: Int64? { Int64(bytes.count) }
        var isReplayable: Bool { true }
        var made: Int { readers.withLock { $0.made } }

        func open() throws -> sending any BodyReader {
            try readers.withLock { readers in
                guard !readers.isOpen else { throw ErrandError.internalFailure }
                readers.isOpen = true
                readers.made += 1
            }
            return Reader(self, bytes)
        }
    }

    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    private static let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    private func with(
        _ server: ScriptedServer, _ body: (Client) async throws -> Void
    ) async throws {
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))))
        try await Client.with(Client(configuration: configuration), body)
    }

    /// 1 MB, which is more than the first credit: the second attempt has the whole body, whatever of it was read before.
    @Test(arguments: ["read", "unread", "reset"]) func aSourceIsReadAnew(failure: String) async throws {
        let server = try ScriptedServer()
        let first: [ScriptedServer.Step] =
            switch failure {
            case "read": [.readBody, .send(Self.busy), .close]
            case "unread": [.send(Self.busy), .finish]
            default: [.readBytes(300_000), .reset]
            }
        try server.on("/", first)
        try server.on("/", [.readBody, .send(Self.answer)])
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let source = Counted(bytes)
        try await with(server) { client in
            let result = try await client.run(RawCommand(method: .put, url: "", body: .source(source)))
            #expect(result.statusCode == 200)
            #expect(client.resilience?.counts.retries.values.reduce(0, +) == 1)
        }
        #expect(server.requests.last?.body == bytes)
        // An answer without the body may be faster than the first reader.
        #expect((failure == "unread" ? 1...2 : 2...2).contains(source.made), "\(source.made)")
    }

    /// The same by a multipart form with a file, by way of a cache and of coalescing, which pass the upload on.
    @Test(arguments: [true, false]) func aFormIsSentAgain(isCached: Bool) async throws {
        struct Upload: Command {
            var path = ""
            var method = HTTPRequest.Method.put
            let body: RequestBody
            let options: CommandOptions
            let cache: CachePolicy?
            typealias Response = NoContent
        }
        let file = FileManager.default.temporaryDirectory.path + "/errand-part-\(UUID().uuidString)"
        try Data(repeating: 7, count: 400_000).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let server = try ScriptedServer()
        try server.on("/", [.readBody, .send(Self.busy), .close])
        try server.on("/", [.readBody, .send(Self.answer)])
        let form = RequestBody.multipart([.file(file, name: "part")], boundary: "b")
        let upload = Upload(body: form, options: isCached ? [] : .coalesced, cache: isCached ? .http : nil)
        try await with(server) { client in
            let request = client.start(upload)
            _ = try await request.finalValue()
            #expect(request.resends == [.retry("status503")])
        }
        let bodies = server.requests.map(\.body)
        #expect(bodies.count == 2 && bodies.first == bodies.last && (bodies.first?.count ?? 0) > 400_000)
    }
}
