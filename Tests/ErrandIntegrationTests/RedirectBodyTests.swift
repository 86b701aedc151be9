import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// A redirect is decided by its head (RFC 9110 15.4), whatever becomes of its own body.
@Suite(.timeLimit(.minutes(20))) struct RedirectBodyTests {
    /// What a server can do to the body of a redirect, the error that it is where nobody follows, and the limits for it.
    static let bodies: [(name: String, fields: String, body: String, error: ErrandError)] = [
        ("garbage", "Content-Encoding: gzip\r\nContent-Length: 5\r\n", "hello", .contentDecodingFailed),
        ("unknown", "Content-Encoding: rot13\r\nContent-Length: 5\r\n", "uryyb", .contentDecodingFailed),
        ("cut", "Content-Length: 9\r\n", "half", .partialBody),
        ("chunks", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\nwhat?\r\n", .malformedResponse),
        ("long", "Content-Length: 5000\r\n", String(repeating: "0123456789", count: 500), .limitBodyBytes),
    ]

    private func with(_ body: (Client, ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer()
        for (name, fields, text, _) in Self.bodies {
            let head = "HTTP/1.1 302 Found\r\nLocation: /there\r\n\(fields)\r\n"
            try server.on("/" + name, [.send(head + text), .finish])
        }
        try server.on(
            "/stall", [.send("HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 9\r\n\r\nhalf"), .stall])
        try server.on("/there", [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere")])
        var configuration = Client.Configuration.patient(baseURL: server.url(), loops: 1)
        configuration.connection.encodings = .gzip
        configuration.limits.bodyBytes = 4000
        try await Client.with(Client(configuration: configuration)) { try await body($0, server) }
    }

    @Test func isFollowed() async throws {
        try await with { client, _ in
            for (name, _, _, _) in Self.bodies {
                let byAsync = try await client.run(RawCommand(url: name))
                #expect(try byAsync.text() == "there", "\(name)")
                let byClosure = await withCheckedContinuation { continuation in
                    client.start(RawCommand(url: name), completion: { continuation.resume(returning: $0) })
                }
                #expect(try byClosure.response?.text() == "there", "\(name)")
                #expect(byClosure.attempts.map(\.response?.statusCode).first == 302)
            }
        }
    }

    @Test func isFollowedByStreams() async throws {
        try await with { client, _ in
            for (name, _, _, _) in Self.bodies {
                let response = try await client.stream(RawCommand(url: name))
                #expect(response.statusCode == 200, "\(name)")
                var count = 0
                for try await chunk in response.body { count += chunk.count }
                #expect(count == 5, "\(name)")
            }
        }
    }

    @Test func isFollowedByDownloads() async throws {
        let folder = try DownloadTests.Folder()
        try await with { client, _ in
            for (name, _, _, _) in Self.bodies {
                let file = try await client.run(Download(name, to: .file(folder.path + "/" + name)))
                #expect(file.byteCount == 5, "\(name)")
            }
        }
    }

    /// The rest of its body never comes.
    @Test func isFollowedAfterItsIdleTime() async throws {
        try await with { client, _ in
            let text = try await withEnoughTime("both heads have come within the idle time") {
                idle async throws -> String? in
                var command = RawCommand(url: "stall")
                command.timeouts = Timeouts(idle: .after(idle))
                do {
                    return try await client.run(command).text()
                } catch let error as ErrandError where error == .timeoutIdle {
                    return nil
                }
            }
            #expect(text == "there")
        }
    }

    /// Where nobody follows, the body is the response's, and its error counts.
    @Test func isAnErrorWhereItIsNotFollowed() async throws {
        try await with { client, _ in
            for (name, _, _, error) in Self.bodies {
                var command = RawCommand(url: name)
                command.redirects = .doNotFollow
                let thrown = await #expect(throws: ErrandError.self) { try await client.run(command) }
                #expect(thrown == error, "\(name)")
                #expect(thrown?.statusCode == 302)
                var limited = RawCommand(url: name)
                limited.redirects = .follow(limit: 0)
                await #expect(throws: error) { try await client.run(limited) }
            }
        }
    }
}
