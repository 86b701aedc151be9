import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// The code of the guide "Streams"; GuideTests compares it line by line.
@Suite struct StreamsSnippets {
    struct GetExport: Command {
        var path: String { "export" }
        var timeouts: Timeouts? { Timeouts(idle: .seconds(30)) }
    }

    struct GetLog: Command {
        var path: String { "log" }
    }

    struct Entry: Decodable {
        var level: Int
        var text: String
    }

    struct GetNews: Command {
        var path: String { "news" }
        var timeouts: Timeouts? { Timeouts(idle: .seconds(45)) }
    }

    struct PutMeasurements: Command {
        var values: @Sendable () -> AsyncStream<[UInt8]>
        var method: HTTPRequest.Method { .put }
        var path: String { "measurements" }
        var body: RequestBody { .stream(contentType: "text/csv", values) }
        typealias Response = NoContent
    }

    static func chunks(_ client: Client) async throws -> Int {
        let export = try await client.stream(GetExport())
        print(export.statusCode, export.header(.contentType) ?? "")
        var size = 0
        for try await chunk in export.body { size += chunk.count }
        print(size, export.request.metrics?.total ?? .zero)
        return size
    }

    static func collected(_ client: Client) async throws -> [UInt8] {
        let bytes = try await client.stream(GetExport()).body.collect(upTo: 1 << 20)
        return bytes
    }

    static func lines(_ client: Client) async throws {
        for try await line in try await client.stream(GetLog()).body.lines where line.hasPrefix("error") {
            print(line)
        }
    }

    static func entries(_ client: Client) async throws {
        for try await entry in try await client.stream(GetLog()).body.jsonLines(of: Entry.self) {
            print(entry.level, entry.text)
        }
    }

    static func news(_ client: Client) async throws {
        var policy = EventSourcePolicy()
        policy.reconnectionTime = .seconds(1)
        policy.maximumFailures = 5
        for try await event in client.events(GetNews(), policy: policy) {
            print(event.event, event.id, event.data)
            if event.event == "end" { break }
        }
    }

    static func newsOnce(_ client: Client) async throws {
        for try await event in try await client.stream(GetNews()).body.serverSentEvents { print(event.data) }
    }

    static func watched(_ request: AnyRequest) {
        request.onProgress { progress in
            print(progress.bytesSent, progress.bytesToSend ?? 0, progress.bytesReceived, progress.bytesToReceive ?? 0)
        }
    }

    private func server() throws -> ScriptedServer {
        let server = try ScriptedServer()
        let head = "HTTP/1.1 200 OK\r\n"
        let bodies = [
            "/export": "0123456789", "/log": "{\"level\": 1, \"text\": \"a\"}\nerror\n",
        ]
        for (path, body) in bodies {
            try server.on(path, [.send(head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)])
        }
        let events = head + "Content-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        try server.on("/news", [.send(events + "retry: 100\nid: 7\ndata: one\n\n"), .close])
        try server.on("/news", [.send(events + "event: end\ndata: two\n\n"), .close])
        try server.on("/measurements", [.readBody, .send("HTTP/1.1 204 No Content\r\n\r\n")])
        return server
    }

    /// The tests share few threads, so one may wait long for its turn.
    private static func patient(_ server: ScriptedServer) -> Client.Configuration {
        .init(baseURL: server.url("/"), timeouts: .init(connect: .seconds(240), idle: .seconds(3600)), loops: 1)
    }

    @Test func responses() async throws {
        let server = try server()
        let client = Client(configuration: Self.patient(server))
        #expect(try await Self.chunks(client) == 10)
        #expect(try await Self.collected(client) == Array("0123456789".utf8))
        try await Self.lines(client)
        await #expect(throws: ErrandError.responseDecodingFailed) { try await Self.entries(client) }
        await client.shutdown(.cancel)
    }

    @Test func events() async throws {
        let server = try server()
        let client = Client(configuration: Self.patient(server))
        try await Self.news(client)
        try await Self.newsOnce(client)
        #expect(server.requests.map { $0.values(of: "last-event-id") } == [[], ["7"], []])
        await client.shutdown(.cancel)
    }

    @Test func requests() async throws {
        let server = try server()
        let client = Client(configuration: Self.patient(server))
        let command = PutMeasurements {
            AsyncStream { continuation in
                for line in ["1,2\n", "3,4\n"] { continuation.yield(Array(line.utf8)) }
                continuation.finish()
            }
        }
        let request = client.request(command)
        Self.watched(request)
        request.start()
        await client.shutdown()
        #expect(request.state == .succeeded)
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["1,2\n3,4\n"])
        #expect(server.requests.map { $0.values(of: "content-type") } == [["text/csv"]])
    }
}
