import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient

private struct GetEvents: Command {
    var path = "events"
}

/// Tokens `t1`, `t2`, ...
private final class Tokens: Authenticator {
    private let refreshes = Atomic<Int>(0)

    var count: Int { refreshes.load(ordering: .relaxed) }

    func apply(_ token: String, to request: inout RequestDescription) throws {
        try request.headers.set(.authorization, to: token)
    }

    func refresh(_ token: String?, after response: Response?) async throws -> String {
        "t\(refreshes.add(1, ordering: .relaxed).newValue)"
    }

    func applies(to request: RequestDescription) -> Bool { true }
    func isUsable(_ credential: String) -> Bool { true }
    func refuses(_ response: Errand.Response) -> Bool { response.statusCode == 401 }
}

@Suite(.timeLimit(.minutes(20))) struct EventSourceTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    private func with(
        _ interceptors: [any Interceptor] = [], _ body: (Client, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        var configuration = Client.Configuration.patient(baseURL: server.url())
        configuration.loops = 1
        configuration.interceptors = interceptors
        try await Client.with(Client(configuration: configuration)) { try await body($0, server) }
    }

    private var quick: EventSourcePolicy {
        var policy = EventSourcePolicy()
        policy.reconnectionTime = .milliseconds(1)
        policy.minimumDelay = .milliseconds(1)
        return policy
    }

    /// An end, a break, a status that may pass; then 204, which ends it. Each connection says where the last one was.
    @Test func itGoesOnWhereItWas() async throws {
        try await with { client, server in
            let scripts: [[ScriptedServer.Step]] = [
                [.readHead, .send(Self.head + "id: 1\ndata: one\n\n"), .close],
                [.readHead, .send(Self.head + "id: 2\nretry: 2\n\nevent: named\ndata: two\n\ndata: lost"), .reset],
                [.readHead, .send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), .close],
                [.readHead, .send(Self.head + "id\ndata: three\n\n"), .close],
                [.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .close],
            ]
            for (index, steps) in scripts.enumerated() { try server.onConnection(index + 1, steps) }
            var events: [ServerSentEvent] = []
            for try await event in client.events(GetEvents(), policy: quick) { events.append(event) }
            #expect(events.map(\.data) == ["one", "two", "three"])
            #expect(events.map(\.event) == ["message", "named", "message"])
            let ids = server.requests.map { $0.values(of: "last-event-id") }
            #expect(ids == [[], ["1"], ["2"], ["2"], []])
            #expect(server.requests.allSatisfy { $0.values(of: "accept") == ["text/event-stream"] })
        }
    }

    @Test func whatCannotPassIsThrown() async throws {
        try await with { client, server in
            try server.on("/events", [.send("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n")])
            await #expect(throws: ErrandError.statusNotAccepted) {
                for try await _ in client.events(GetEvents(), policy: quick) {}
            }
            try server.on(
                "/html", [.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>")])
            await #expect(throws: ErrandError.contentTypeNotAccepted) {
                for try await _ in client.events(GetEvents(path: "html"), policy: quick) {}
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test func itGivesUpAfterSoManyFailures() async throws {
        let port = try FaultPort(.refused)
        let client = Client(configuration: .patient(baseURL: "http://127.0.0.1:\(port.number)"))
        var policy = quick
        policy.maximumFailures = 2
        await #expect(throws: ErrandError.connectFailed) {
            for try await _ in client.events(GetEvents(), policy: policy) {}
        }
        await client.shutdown()
    }

    /// A token that has expired is renewed, at the first connection and at a later one, and no event is lost.
    @Test func authentication() async throws {
        let tokens = Tokens()
        let interceptor = AuthenticationInterceptor(tokens, credential: "t0", refreshTimeout: .seconds(240))
        try await with([interceptor]) { client, server in
            let refusal = "HTTP/1.1 401 No\r\nContent-Length: 7\r\n\r\nexpired"
            let scripts: [[ScriptedServer.Step]] = [
                [.readHead, .send(refusal), .close],
                [.readHead, .send(Self.head + "id: 1\ndata: one\n\n"), .close],
                [.readHead, .send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), .close],
                [.readHead, .send(refusal), .close],
                [.readHead, .send(Self.head + "data: two\n\n"), .close],
                [.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .close],
            ]
            for (index, steps) in scripts.enumerated() { try server.onConnection(index + 1, steps) }
            var events: [ServerSentEvent] = []
            for try await event in client.events(GetEvents(), policy: quick) { events.append(event) }
            #expect(events.map(\.data) == ["one", "two"])
            #expect(tokens.count == 2)
            let sent = server.requests.map { $0.values(of: "authorization") }
            #expect(sent == [["t0"], ["t1"], ["t1"], ["t1"], ["t2"], ["t2"]])
            #expect(server.requests.map { $0.values(of: "last-event-id") } == [[], [], ["1"], ["1"], ["1"], ["1"]])
        }
    }

    /// A refusal of a token that is fresh is thrown, with the response.
    @Test func aRefusalThatStands() async throws {
        let tokens = Tokens()
        let interceptor = AuthenticationInterceptor(tokens, credential: "t0", refreshTimeout: .seconds(240))
        try await with([interceptor]) { client, server in
            try server.on("/events", [.send("HTTP/1.1 401 No\r\nContent-Length: 7\r\n\r\nexpired")])
            let error = await #expect(throws: ErrandError.self) {
                for try await _ in client.events(GetEvents(), policy: quick) {}
            }
            #expect(error == .statusNotAccepted)
            #expect(error?.response?.body.bytes == Array("expired".utf8))
            #expect(server.requests.map { $0.values(of: "authorization") } == [["t0"], ["t1"]])
        }
    }

    /// While it waits to connect again there is no request that the shutdown could end.
    @Test(arguments: [true, false]) func shuttingDownWhileItWaits(isDrained: Bool) async throws {
        try await with { client, server in
            try server.on("/events", [.send(Self.head + "data: x\n\n"), .close])
            var policy = EventSourcePolicy()
            policy.reconnectionTime = .seconds(600)
            policy.maximumDelay = .seconds(600)
            let task = Task { for try await _ in client.events(GetEvents(), policy: policy) {} }
            #expect(await server.hasSeen(.init(closed: 1)))
            try await waitUntil("no request of the client runs") { client.requests.isEmpty }
            await allowTime(for: "the wait before the next connection", .milliseconds(50))
            let begin = ContinuousClock.now
            await client.shutdown(isDrained ? .drain(within: .seconds(600)) : .cancel)
            await #expect(throws: ErrandError.shutDown) { try await task.value }
            #expect(ContinuousClock.now - begin < .seconds(500))
        }
    }

    /// An ID that no field can carry as it is would come back as another one: it is left out.
    @Test(arguments: ["a\u{1}b", "a\u{1B}[31m", "a\u{7F}", " a", "a "]) func anIDThatNoFieldCarries(id: String)
        async throws
    {
        try await with { client, server in
            try server.onConnection(1, [.readHead, .send(Self.head + "id:\(" \(id)")\ndata: one\n\n"), .close])
            try server.onConnection(2, [.readHead, .send(Self.head + "id: é\tb\ndata: two\n\n"), .close])
            try server.onConnection(3, [.readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"), .close])
            var ids: [String] = []
            for try await event in client.events(GetEvents(), policy: quick) { ids.append(event.id) }
            #expect(ids == [id, "é\tb"])
            #expect(server.requests.map { $0.values(of: "last-event-id") } == [[], [], ["é\tb"]])
        }
    }

    /// While it reads, and while it waits to connect again.
    @Test(arguments: [true, false]) func cancelling(isReading: Bool) async throws {
        try await with { client, server in
            try server.on("/events", [.send(Self.head + "data: x\n\n")] + (isReading ? [.stall] : [.close]))
            let task = Task {
                var count = 0
                for try await _ in client.events(GetEvents()) { count += 1 }
                return count
            }
            #expect(await server.hasSeen(.init(requests: 1)))
            await allowTime(for: "a reader that does not end while it waits", .milliseconds(50))
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            #expect(await server.hasSeen(.init(closed: 1)))
        }
    }

    @Test func linesAndJSON() async throws {
        struct Row: Decodable, Sendable, Equatable { var n: Int }
        try await with { client, server in
            let body = "{\"n\": 1}\r\n\n{\"n\": 2}\n{\"n\": 3}"
            try server.on(
                "/rows",
                [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n")]
                    + body.utf8.map { .send(String(UnicodeScalar($0))) })
            var rows: [Row] = []
            for try await row in try await client.stream(GetEvents(path: "rows")).body.jsonLines(of: Row.self) {
                rows.append(row)
            }
            #expect(rows == [Row(n: 1), Row(n: 2), Row(n: 3)])
            var lines: [String] = []
            for try await line in try await client.stream(GetEvents(path: "rows")).body.lines { lines.append(line) }
            #expect(lines == ["{\"n\": 1}", "", "{\"n\": 2}", "{\"n\": 3}"])
        }
    }
}
