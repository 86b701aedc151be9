import Errand

// Compiled alone: what runs is in WebSocketTests, as it needs a server.
private enum WebSocketsSnippets {
    struct JoinChat: Command {
        var path: String { "wss://chat.example/room" }
    }

    static func talk(_ client: Client) async throws {
        let socket = try await client.webSocket(JoinChat(), subprotocols: ["chat.v1"])
        try await socket.send(.text("hello"))
        for try await message in socket {
            if case .text(let text) = message { print(text) }
        }
        print(socket.closure?.code.rawValue ?? 0, socket.closure?.reason ?? "")
    }

    static func byClosures(_ client: Client) {
        let task = client.webSocket(JoinChat()) { socket in
            try? socket.enqueue(.text("hello"))
        } onMessage: { socket, message in
            if message == .text("bye") { try? socket.beginClose() }
        } onEnd: { result in
            print(result)
        }
        task.stop()
    }

    static func pinging(_ client: Client) async throws {
        var policy = WebSocketPolicy()
        policy.maximumMessageBytes = 1 << 20
        policy.pingInterval = .seconds(30)
        let socket = try await client.webSocket(JoinChat(), policy: policy)
        try await socket.close(.normalClosure, reason: "done")
    }
}
