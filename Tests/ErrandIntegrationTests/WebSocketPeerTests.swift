import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEvents
@testable import ErrandModel

private struct Talk: Command {
    var path: String
    var authorization: Authorization?
}

private struct Ask: Command {
    typealias Response = String
    var path: String
}

/// With servers of PyPI's websockets and wsproto, one at a time: each makes a key for its certificate first.
@Suite(.serialized, .enabled(if: hasWebSocket && WebSocketPeer.areInstalled), .timeLimit(.minutes(20)))
struct WebSocketPeerTests {
    /// The peer has the time that it needs to answer a close frame.
    private static let patient: WebSocketPolicy = {
        var policy = WebSocketPolicy()
        policy.closeTimeout = .seconds(240)
        return policy
    }()

    private func with(
        _ change: (inout Client.Configuration) -> Void = { _ in }, _ body: (Client, WebSocketPeer) async throws -> Void
    ) async throws {
        let peer = try WebSocketPeer("websockets")
        var configuration = Client.Configuration.patient(baseURL: "http://127.0.0.1:\(peer.words[0])/", loops: 1)
        change(&configuration)
        try await Client.with(Client(configuration: configuration)) { try await body($0, peer) }
    }

    /// The code and the reason of the close frame that the peer got; "none" where it got none while 10,000 requests were
    /// answered.
    private func last(_ client: Client) async throws -> String {
        for _ in 0..<10_000 {
            let text = try await client.run(Ask(path: "last"))
            if text != "none" { return text }
        }
        return "none"
    }

    @Test func `messages of all lengths come back`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "echo"), policy: Self.patient)
            var messages = socket.makeAsyncIterator()
            for count in [0, 1, 125, 126, 65_535, 65_536, 1 << 20] {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                // Longer than what waits unsent: the echo has to be read meanwhile.
                async let sent: Void = socket.send(.binary(bytes))
                #expect(try await messages.next() == .binary(bytes), "\(count)")
                try await sent
            }
            let text = String(repeating: "käse 🧀 ", count: 1_000)
            try await socket.send(.text(text))
            #expect(try await messages.next() == .text(text))
            try await socket.close()
            #expect(socket.closure?.code == .normalClosure)
        }
    }

    @Test func `fragments are joined, also within a character`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "fragments"))
            var messages = socket.makeAsyncIterator()
            try await socket.send(.text("grüße"))
            #expect(try await messages.next() == .text("grüße"))
            let bytes = (0..<2_000).map { UInt8(truncatingIfNeeded: $0) }
            try await socket.send(.binary(bytes))
            #expect(try await messages.next() == .binary(bytes))
        }
    }

    @Test func `ten thousand messages come in order`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "count"))
            var next = 0
            for try await message in socket {
                #expect(message == .text(String(next)))
                next += 1
            }
            #expect(next == 10_000)
            #expect(socket.closure?.code == .normalClosure)
        }
    }

    @Test func `ten thousand messages are sent in order`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "echo"))
            async let sent: Void = {
                for number in 0..<10_000 { try await socket.send(.text(String(number))) }
            }()
            var messages = socket.makeAsyncIterator()
            for number in 0..<10_000 { #expect(try await messages.next() == .text(String(number))) }
            try await sent
        }
    }

    @Test func `pings are answered`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "ping"))
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("answered"))
            try await socket.ping([1, 2, 3])
        }
    }

    @Test func `a subprotocol is agreed upon`() async throws {
        try await with { client, _ in
            let agreed = try await client.webSocket(Talk(path: "echo"), subprotocols: ["x", "chat"])
            #expect(agreed.subprotocol == "chat")
            let other = try await client.webSocket(Talk(path: "echo"), subprotocols: ["x"])
            #expect(other.subprotocol == nil)
        }
    }

    @Test func `codes and reasons go both ways`() async throws {
        try await with { client, _ in
            let closed = try await client.webSocket(Talk(path: "close"))
            for try await message in closed { #expect(Bool(false), "\(message)") }
            #expect(closed.closure == WebSocketClosure(code: .init(rawValue: 4001), reason: "enough"))
            let socket = try await client.webSocket(Talk(path: "farewell"), policy: Self.patient)
            try await socket.close(.init(rawValue: 4002), reason: "grüße")
            #expect(try await last(client) == "4002 grüße")
        }
    }

    @Test func `a socket without a reference is closed with 1001`() async throws {
        try await with { client, _ in
            _ = try await client.webSocket(Talk(path: "farewell"), policy: Self.patient)
            #expect(try await last(client) == "1001 ")
        }
    }

    private static let badFrames: [(bytes: String, code: Int, error: ErrandError)] = [
        ("818000000000", 1002, .webSocketProtocolError),  // masked
        ("c100", 1002, .webSocketProtocolError),  // a reserved bit
        ("8300", 1002, .webSocketProtocolError),  // a reserved opcode
        ("897e007e", 1002, .webSocketProtocolError),  // a ping of 126 bytes
        ("0900", 1002, .webSocketProtocolError),  // a fragmented ping
        ("8000", 1002, .webSocketProtocolError),  // a continuation of nothing
        ("0101418100", 1002, .webSocketProtocolError),  // a message within a message
        ("8101ff", 1007, .webSocketProtocolError),  // text that is no UTF-8
        ("0101c3800128", 1007, .webSocketProtocolError),  // the same over two fragments
        ("880203ed", 1002, .webSocketProtocolError),  // the code 1005
        ("880103", 1002, .webSocketProtocolError),  // half a code
        ("827f0000000040000000", 1009, .webSocketMessageTooBig),
    ]

    @Test(arguments: badFrames.indices) func `a bad frame fails the connection with its code`(index: Int) async throws {
        let (bytes, code, expected) = Self.badFrames[index]
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "raw/\(bytes)"), policy: Self.patient)
            var messages = socket.makeAsyncIterator()
            await #expect(throws: expected, "\(bytes)") { try await messages.next() }
            await #expect(throws: ErrandError.webSocketClosed) { try await socket.send(.text("late")) }
            #expect(socket.closure == nil)
            let told = try await last(client)
            #expect(told.hasPrefix("\(code) "), "\(bytes): \(told)")
        }
    }

    /// Sockets of loopback take a few megabytes before a writer has to wait.
    @Test func `nobody reads, so the server stops writing`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "flood"))
            var before = -1
            var now = 0
            var rests = 0
            while rests < 100 {
                before = now
                now = Int(try await client.run(Ask(path: "flooded"))) ?? -1
                rests = before == now && now > 0 ? rests + 1 : 0
            }
            #expect(now < 64 << 20)
            var messages = socket.makeAsyncIterator()
            for _ in 0..<(now / 65_536 + 100) {
                #expect(try await messages.next() == .binary(Array(repeating: 0, count: 65_536)))
            }
        }
    }

    @Test func `nobody reads there, so sending waits`() async throws {
        try await with { client, _ in
            let socket = try await client.webSocket(Talk(path: "stall"))
            let message = WebSocketMessage.binary(Array(repeating: 0, count: 65_536))
            let sent = Mutex(0)
            let sending = Task {
                while true {
                    try await socket.send(message)
                    sent.withLock { $0 += 65_536 }
                }
            }
            var before = -1
            var rests = 0
            while rests < 100 {
                _ = try await client.run(Ask(path: "last"))
                let now = sent.withLock { $0 }
                rests = before == now && now > 0 ? rests + 1 : 0
                before = now
                try #require(now < 64 << 20)
            }
            #expect(throws: ErrandError.queueFull) { () throws -> Void in try socket.enqueue(message) }
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }

    @Test func `authorization, interceptors and accessories see the handshake`() async throws {
        struct Extra: PreparingInterceptor {
            func prepare(
                _ request: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                var request = request
                try request.headers.set(try #require(HTTPField.Name("X-Extra")), to: "1")
                return request
            }
        }
        try await with({ $0.interceptors = [Extra()] }) { client, _ in
            let error = await #expect(throws: ErrandError.statusNotAccepted) {
                try await client.webSocket(Talk(path: "user"))
            }
            #expect(error?.statusCode == 401)
            let talk = Talk(path: "user", authorization: .basic(username: "ada", password: "secret"))
            let socket = try await client.webSocket(talk)
            try await socket.send(.text("hello"))
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("hello"))
        }
    }

    @Test func `over TLS`() async throws {
        let peer = try WebSocketPeer("websockets")
        let echo = Talk(path: "wss://127.0.0.1:\(peer.words[1])/echo")
        var configuration = Client.Configuration.patient(loops: 1)
        try await Client.with(Client(configuration: configuration)) { client in
            _ = await #expect(throws: ErrandError.tlsUntrusted) { try await client.webSocket(echo) }
        }
        configuration.connection.tls.caFile = .value(peer.words[2])
        try await Client.with(Client(configuration: configuration)) { client in
            let socket = try await client.webSocket(echo, policy: Self.patient)
            var messages = socket.makeAsyncIterator()
            let bytes = Array(repeating: UInt8(7), count: 200_000)
            async let sent: Void = socket.send(.binary(bytes))
            #expect(try await messages.next() == .binary(bytes))
            try await sent
            try await socket.close()
        }
    }

    @Test func `wsproto`() async throws {
        let peer = try WebSocketPeer("wsproto")
        let configuration = Client.Configuration.patient(baseURL: "http://127.0.0.1:\(peer.words[0])/", loops: 1)
        try await Client.with(Client(configuration: configuration)) { client in
            let socket = try await client.webSocket(Talk(path: "echo"), subprotocols: ["a", "b"], policy: Self.patient)
            #expect(socket.subprotocol == "b")
            var messages = socket.makeAsyncIterator()
            for count in [0, 1, 126, 70_000, 1 << 20] {
                let text = String(repeating: "ä", count: count)
                async let sent: Void = socket.send(.text(text))
                #expect(try await messages.next() == .text(text), "\(count)")
                try await sent
            }
            try await socket.close(.goingAway, reason: "bye")
            #expect(socket.closure == WebSocketClosure(code: .goingAway, reason: "bye"))
            let error = await #expect(throws: ErrandError.statusNotAccepted) {
                try await client.webSocket(Talk(path: "refused"))
            }
            #expect(error?.statusCode == 403)
        }
    }

    @Test func `closures are called on the callback queue, in order, and the end is last`() async throws {
        try await with { client, _ in
            let seen = Mutex([String]())
            await withCheckedContinuation { continuation in
                client.webSocket(Talk(path: "echo"), policy: Self.patient) { socket in
                    seen.withLock { $0.append("open") }
                    for number in 0..<3 { try? socket.enqueue(.text(String(number))) }
                } onMessage: { socket, message in
                    seen.withLock { $0.append("\(message)") }
                    if message == .text("2") { try? socket.beginClose() }
                } onEnd: { result in
                    seen.withLock { $0.append((try? result.get())?.code == .normalClosure ? "end" : "\(result)") }
                    continuation.resume()
                }
            }
            #expect(seen.withLock { $0 } == ["open", #"text("0")"#, #"text("1")"#, #"text("2")"#, "end"])
        }
    }

    @Test func `a failed handshake is the end of the closures`() async throws {
        try await with { client, _ in
            let error = await withCheckedContinuation { continuation in
                client.webSocket(Talk(path: "nowhere")) { _, _ in
                } onEnd: { result in
                    continuation.resume(returning: result)
                }
            }
            guard case .failure(let failure) = error else { return #expect(Bool(false), "opened") }
            #expect(failure == .statusNotAccepted)
        }
    }

    @Test func `a stop on the callback queue is silent`() async throws {
        try await with { client, _ in
            let task = Mutex<WebSocketTask?>(nil)
            let isKnown = DispatchSemaphore(value: 0)
            let calls = Mutex(0)
            await withCheckedContinuation { continuation in
                let opened = client.webSocket(Talk(path: "count")) { _, _ in
                    // The first message may come before `opened` is known here.
                    isKnown.wait()
                    isKnown.signal()
                    calls.withLock { $0 += 1 }
                    task.withLock { $0 }?.stop()
                    continuation.resume()
                } onEnd: { _ in
                    calls.withLock { $0 += 1 }
                }
                task.withLock { $0 = opened }
                isKnown.signal()
            }
            await client.shutdown()
            #expect(calls.withLock { $0 } == 1)
        }
    }
}
