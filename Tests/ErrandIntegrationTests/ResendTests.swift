import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// A body that is made while it is sent, where the engine wants it once more.
@Suite struct ResendTests {
    private struct Send: Command {
        var path: String
        var method = HTTPRequest.Method.put
        var body: RequestBody
        var options: CommandOptions = []
        var authorization: Authorization?
        typealias Response = Errand.Response
    }

    enum Source: CaseIterable {
        case stream, gzip, multipart

        var body: RequestBody {
            switch self {
            case .stream:
                .stream {
                    AsyncStream { continuation in
                        for part in ["pay", "load"] { continuation.yield(Array(part.utf8)) }
                        continuation.finish()
                    }
                }
            case .gzip: .file(#filePath).gzipped()
            case .multipart: .multipart([.file(#filePath, name: "file")])
            }
        }
    }

    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private func with<Value>(
        _ path: String, _ scripts: [[ScriptedServer.Step]],
        _ body: (Client, ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let server = try ScriptedServer()
        try server.on("/keep", [Self.ok])
        for script in scripts { try server.on(path, script) }
        let configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        return try await Client.with(Client(configuration: configuration)) { client in
            _ = try await client.run(Get(path: "keep"))
            return try await body(client, server)
        }
    }

    /// The server closes when it has read the body, or while the source is still at it.
    @Test(arguments: Source.allCases, [true, false])
    func aDeadConnection(source: Source, isRead: Bool) async throws {
        let last: [ScriptedServer.Step] = isRead ? [.readBody, .finish] : [.finish]
        for (method, options) in [(HTTPRequest.Method.put, CommandOptions()), (.post, .allowReplay)] {
            try await with("/", [last, [.readBody, Self.ok]]) { client, server in
                let request = client.request(Send(path: "", method: method, body: source.body, options: options))
                await withCheckedContinuation { continuation in
                    _ = request.start { _ in continuation.resume() }
                }
                #expect(request.response?.statusCode == 200)
                // It is what it is with a body in memory: one attempt.
                #expect(request.attempts.map(\.number) == [1])
                let sent = server.requests.filter { $0.target == "/" }
                #expect(sent.count == 2)
                #expect(sent.last?.isBodyComplete == true)
                if isRead { #expect(sent.first?.bodyLength == sent.last?.bodyLength) }
            }
        }
    }

    @Test(arguments: Source.allCases)
    func withoutLeaveItIsLost(source: Source) async throws {
        try await with("/", [[.readBody, .finish], [.readBody, Self.ok]]) { client, server in
            await #expect(throws: ErrandError.connectionLost) {
                try await client.run(Send(path: "", method: .post, body: source.body))
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test func whatCanBeReadOnceIsNot() async throws {
        try await with("/", [[.readBody, .finish], [.readBody, Self.ok]]) { client, server in
            let once = AsyncStream<[UInt8]> { continuation in
                continuation.yield(Array("payload".utf8))
                continuation.finish()
            }
            await #expect(throws: ErrandError.uploadNotReplayable) {
                try await client.run(Send(path: "", body: .stream(once)))
            }
            #expect(server.requests.count == 2)
        }
    }

    private static func challenge(_ nonce: String, stale: Bool = false) -> ScriptedServer.Step {
        .send(
            "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\""
                + (stale ? ", stale=true" : "") + "\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: Source.allCases)
    func aStaleNonce(source: Source) async throws {
        let stale: [ScriptedServer.Step] = [
            Self.challenge("1"), .readHead, .readBody, Self.challenge("2", stale: true),
        ]
        let answered: [ScriptedServer.Step] = [Self.challenge("3"), .readHead, .readBody, Self.ok]
        try await with("/", [stale, answered]) { client, server in
            let response = try await client.run(
                Send(
                    path: "", method: .post, body: source.body,
                    authorization: .digest(username: "ada", password: "pw")))
            #expect(response.statusCode == 200)
            #expect(server.requests.filter { $0.target == "/" && $0.bodyLength > 0 }.count == 2)
        }
    }

    /// Twice more, and no oftener.
    @Test func staleForEver() async throws {
        let stale: [ScriptedServer.Step] = [
            Self.challenge("1"), .readHead, .readBody, Self.challenge("2", stale: true),
        ]
        try await with("/", [stale]) { client, server in
            await #expect(throws: ErrandError.uploadNotReplayable) {
                try await client.run(
                    Send(
                        path: "", body: Source.stream.body, authorization: .digest(username: "ada", password: "pw")))
            }
            #expect(server.requests.filter { $0.target == "/" && $0.bodyLength > 0 }.count == 3)
        }
    }

    @Test func theTotalTimeIsForAllOfThem() async throws {
        struct Slow: Command {
            var path: String { "" }
            var method: HTTPRequest.Method { .put }
            var body: RequestBody { Source.stream.body }
            var timeouts: Timeouts? { Timeouts(connect: .seconds(240), total: .seconds(10)) }
            typealias Response = Errand.Response
        }
        // With ten seconds of its own the second one would be answered.
        let first: [ScriptedServer.Step] = [.readBody, .sleep(milliseconds: 6000), .finish]
        try await with("/", [first, [.readBody, .sleep(milliseconds: 6000), Self.ok]]) { client, server in
            await #expect(throws: ErrandError.timeoutTotal) { try await client.run(Slow()) }
            #expect(await server.hasSeen(.init(requests: 2)))
        }
    }
}
