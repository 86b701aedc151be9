import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandEvents

private struct Chat: Command {
    var path: String
}

@Suite(.timeLimit(.minutes(20))) struct WebSocketTests {
    private static let handshake = WebSocketHandshake(key: "dGhlIHNhbXBsZSBub25jZQ==", ["chat"])

    private static func answer(_ accept: String = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", _ more: String = "") -> String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept)\r\n\(more)\r\n"
    }

    private func with(_ body: (Client, ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer()
        var configuration = Client.Configuration.patient(baseURL: server.url())
        configuration.loops = 1
        try await Client.with(Client(configuration: configuration)) { try await body($0, server) }
    }

    private func open(
        _ client: Client, _ path: String = "ws", _ policy: WebSocketPolicy = WebSocketPolicy()
    ) async throws -> WebSocket {
        try await client.webSocket(Chat(path: path), Self.handshake, policy: policy, overrides: nil)
    }

    @Test(.enabled(if: !hasWebSocket)) func `a libcurl without WebSocket is a typed error before any socket`()
        async throws
    {
        try await with { client, server in
            await #expect(throws: ErrandError.unsupportedFeature) { try await open(client) }
            #expect(server.counts.connections == 0)
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `messages go both ways, and the server closes`() async throws {
        try await with { client, server in
            try server.on(
                "/ws",
                [
                    .send(Self.answer("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Protocol: chat\r\n")),
                    .sendBytes([0x81, 2, 104, 105]), .readBytes(11), .sendBytes([0x01, 1, 97, 0x89, 1, 9]),
                    .readBytes(7), .sendBytes([0x80, 1, 98, 0x88, 5, 0x03, 0xE9, 98, 121, 101]), .readBytes(11),
                    .finish,
                ])
            let socket = try await open(client)
            #expect(socket.subprotocol == "chat")
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("hi"))
            try await socket.send(.text("hello"))
            #expect(try await messages.next() == .text("ab"))
            #expect(try await messages.next() == nil)
            #expect(socket.closure == WebSocketClosure(code: .goingAway, reason: "bye"))
            await #expect(throws: ErrandError.webSocketClosed) { try await socket.send(.binary([1])) }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `the client closes, and the server answers`() async throws {
        try await with { client, server in
            try server.on("/ws", [.send(Self.answer()), .readBytes(11), .sendBytes([0x88, 2, 0x03, 0xE8]), .finish])
            var policy = WebSocketPolicy()
            policy.closeTimeout = .seconds(240)
            let socket = try await open(client, "ws", policy)
            try await socket.close(.normalClosure, reason: "bye")
            #expect(socket.closure == WebSocketClosure(code: .normalClosure, reason: ""))
            await #expect(throws: ErrandError.invalidArgument) { try await socket.close(.abnormalClosure) }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `bad frames are typed errors, and the server is told the code`()
        async throws
    {
        try await with { client, server in
            try server.on("/masked", [.send(Self.answer()), .sendBytes([0x81, 0x80, 0, 0, 0, 0]), .finish])
            try server.on("/utf8", [.send(Self.answer()), .sendBytes([0x81, 1, 0xFF]), .finish])
            try server.on("/big", [.send(Self.answer()), .sendBytes([0x82, 127, 0, 0, 0, 0, 0x40, 0, 0, 0]), .finish])
            try server.on("/eof", [.send(Self.answer()), .sendBytes([0x82, 5, 1]), .finish])
            for (path, error) in [
                ("masked", ErrandError.webSocketProtocolError), ("utf8", .webSocketProtocolError),
                ("big", .webSocketMessageTooBig), ("eof", .webSocketClosed),
            ] {
                let socket = try await open(client, path)
                var messages = socket.makeAsyncIterator()
                await #expect(throws: error, "\(path)") { try await messages.next() }
                #expect(socket.closure == nil)
            }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `handshakes that are none`() async throws {
        try await with { client, server in
            try server.on("/accept", [.send(Self.answer("AAAAAAAAAAAAAAAAAAAAAAAAAAA=")), .stall])
            try server.on(
                "/protocol",
                [.send(Self.answer("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Protocol: x\r\n")), .stall])
            try server.on("/200", [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")])
            try server.on("/401", [.send("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")])
            try server.on("/302", [.send("HTTP/1.1 302 Found\r\nLocation: /ws\r\nContent-Length: 0\r\n\r\n")])
            try server.on(
                "/extension",
                [.send(Self.answer("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Extensions: x\r\n")), .stall])
            for path in ["accept", "protocol", "extension"] {
                await #expect(throws: ErrandError.webSocketHandshakeFailed) { try await open(client, path) }
            }
            for path in ["200", "401", "302"] {
                let error = await #expect(throws: ErrandError.self) { try await open(client, path) }
                #expect(error == .statusNotAccepted)
                #expect(error?.statusCode == Int(path))
            }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `a drain closes with 1001`() async throws {
        try await with { client, server in
            try server.on("/ws", [.send(Self.answer()), .readBytes(8), .sendBytes([0x88, 2, 0x03, 0xE9]), .finish])
            var policy = WebSocketPolicy()
            policy.closeTimeout = .seconds(600)
            let socket = try await open(client, "ws", policy)
            let reading = Task {
                var messages = socket.makeAsyncIterator()
                return try await messages.next()
            }
            await client.shutdown(.drain(within: .seconds(600)))
            #expect(try await reading.value == nil)
            #expect(socket.closure?.code == .goingAway)
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `a shutdown by cancel ends an open socket`() async throws {
        try await with { client, server in
            try server.on("/ws", [.send(Self.answer()), .sendBytes([0x01, 0]), .stall])
            let socket = try await open(client)
            let reading = Task {
                var messages = socket.makeAsyncIterator()
                return try await messages.next()
            }
            await client.shutdown(.cancel)
            await #expect(throws: ErrandError.shutDown) { try await reading.value }
            await #expect(throws: ErrandError.shutDown) { try await socket.send(.text("late")) }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `a server that answers no close frame is left`() async throws {
        try await with { client, server in
            try server.on("/ws", [.send(Self.answer()), .stall])
            var policy = WebSocketPolicy()
            policy.closeTimeout = .milliseconds(50)
            let socket = try await open(client, "ws", policy)
            try await socket.close()
            var messages = socket.makeAsyncIterator()
            await #expect(throws: ErrandError.webSocketClosed) { try await messages.next() }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `a server that answers no ping is given up`() async throws {
        try await with { client, server in
            try server.on("/ws", [.send(Self.answer()), .stall])
            var policy = WebSocketPolicy()
            policy.pingInterval = .milliseconds(20)
            let socket = try await open(client, "ws", policy)
            var messages = socket.makeAsyncIterator()
            await #expect(throws: ErrandError.timeoutIdle) { try await messages.next() }
            await #expect(throws: ErrandError.timeoutIdle) { try await socket.send(.text("late")) }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `fields of the handshake are the engine's`() async throws {
        try await with { client, server in
            for name in ["Sec-WebSocket-Key", "Sec-WebSocket-Version", "Connection", "Upgrade", "Content-Length"] {
                let field = try #require(HTTPField.Name(name))
                var overrides = RequestOverrides()
                overrides.headers[field] = "x"
                await #expect(throws: ErrandError.invalidHeader, "\(name)") {
                    try await client.webSocket(Chat(path: "ws"), overrides: overrides)
                }
            }
            for names in [["a b"], [""], ["chat", "chat"]] {
                await #expect(throws: ErrandError.invalidHeader, "\(names)") {
                    try await client.webSocket(Chat(path: "ws"), subprotocols: names)
                }
            }
            #expect(server.counts.connections == 0)
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `a cancelled task ends the handshake`() async throws {
        try await with { client, server in
            try server.on("/ws", [.stall])
            let opening = Task { try await open(client) }
            try await waitUntil("the request to be at the server") { server.counts.requests == 1 }
            opening.cancel()
            await #expect(throws: CancellationError.self) { try await opening.value }
        }
    }

    @Test(.enabled(if: hasWebSocket)) func `a cancelled reader leaves the socket open`() async throws {
        try await with { client, server in
            try server.on(
                "/ws", [.send(Self.answer()), .readBytes(7), .sendBytes([0x81, 1, 97]), .readBytes(8), .finish])
            let socket = try await open(client)
            let reading = Task {
                var messages = socket.makeAsyncIterator()
                return try await messages.next()
            }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await socket.send(.text("x"))
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("a"))
        }
    }
}
