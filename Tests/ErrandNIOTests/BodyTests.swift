import Errand
import ErrandTesting
import NIOCore
import Testing

@testable import ErrandNIO

/// Bodies in memory.
@Suite(.timeLimit(.minutes(20))) struct BodyTests {
    private struct Post: Command {
        var path = "echo"
        var method = HTTPRequest.Method.post
        var body: RequestBody
        var timeouts: Timeouts?
        typealias Response = Errand.Response
    }

    private static func shared(_ buffer: ByteBuffer) throws -> SharedBytes {
        guard case .shared(let bytes) = try RequestBody.byteBuffer(buffer).wire().body else {
            throw ErrandError.internalFailure
        }
        return bytes
    }

    /// The bytes between the reader's and the writer's index are lent. A change of the buffer does not reach them.
    @Test func theBytesStayWhereTheyAre() throws {
        var buffer = ByteBuffer(repeating: 7, count: 1000)
        buffer.moveReaderIndex(forwardBy: 100)
        buffer.moveWriterIndex(to: 900)
        let place = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        let bytes = try Self.shared(buffer)
        let lent = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(lent == place && bytes.count == 800)
        buffer.setInteger(UInt8(2), at: 101)
        buffer.clear()
        buffer.writeRepeatingByte(3, count: 1000)
        #expect(bytes.copy() == [UInt8](repeating: 7, count: 800))
        let moved = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(moved != place - 100)
    }

    @Test func theMemoryOutlivesTheBuffer() throws {
        func body() throws -> SharedBytes { try Self.shared(ByteBuffer(repeating: 9, count: 100_000)) }
        let bytes = try body()
        #expect(bytes.copy() == [UInt8](repeating: 9, count: 100_000))
        #expect(bytes.prefix(3).copy() == [9, 9, 9] && bytes.prefix(200_000).count == 100_000)
    }

    /// Command lines, the key of shared transfers and the stub transport.
    @Test(arguments: ["", "a word"]) func othersSeeTheBytes(text: String) async throws {
        let client = Client(
            transport: StubTransport { description in
                .response(status: 200, body: String(decoding: description.bodyBytes, as: UTF8.self))
            })
        var command = RawCommand(method: .post, url: "http://h/", body: .byteBuffer(ByteBuffer(string: text)))
        command.options = .coalesced
        #expect(try client.curlCommand(for: command).contains("--data-raw '\(text)'"))
        let response = try await client.run(command)
        #expect(response.body.bytes == Array(text.utf8))
        await client.shutdown()
    }

    @Test func compressedBodiesAreNotLent() throws {
        let buffer = ByteBuffer(repeating: 7, count: 1000)
        guard case .bytes(let bytes) = try RequestBody.byteBuffer(buffer).gzipped().wire().body else {
            Issue.record("the body is not in memory of its own")
            return
        }
        #expect(bytes.count < 1000)
    }

    // MARK: On the wire

    private static let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    private static func client(
        _ server: ScriptedServer, _ configure: (inout Client.Configuration) -> Void = { _ in }
    ) -> Client {
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        configure(&configuration)
        return Client(configuration: configuration)
    }

    @Test(arguments: [0, 1, 65_536, 5_000_000]) func bodiesOfAnySize(size: Int) async throws {
        let server = try ScriptedServer()
        try server.on("/put", [.readBody, Self.answer])
        let client = Self.client(server)
        var buffer = ByteBuffer(repeating: 1, count: 10)
        buffer.writeRepeatingByte(2, count: size)
        buffer.moveReaderIndex(forwardBy: 10)
        _ = try await client.run(Post(path: "put", method: .put, body: .byteBuffer(buffer)))
        let request = try #require(server.requests.first)
        #expect(request.bodyLength == size && request.isBodyComplete)
        #expect(request.body == [UInt8](repeating: 2, count: min(size, 1 << 20)))
        await client.shutdown()
    }

    private struct Changing: Interceptor {
        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Errand.Response {
            var request = request
            var bytes = request.bodyBytes
            bytes[0] = 1
            request.body = .bytes(bytes)
            return try await next(request)
        }
    }

    /// An interceptor that changes the body changes a copy.
    @Test func anInterceptorChangesACopy() async throws {
        let server = try ScriptedServer()
        try server.on("/put", [.readBody, Self.answer])
        let client = Self.client(server) { $0.interceptors = [Changing()] }
        let buffer = ByteBuffer(repeating: 7, count: 3)
        _ = try await client.run(Post(path: "put", method: .put, body: .byteBuffer(buffer)))
        #expect(server.requests.first?.body == [1, 7, 7])
        #expect(buffer == ByteBuffer(repeating: 7, count: 3))
        await client.shutdown()
    }

    enum Ending: CaseIterable, Sendable {
        case answered, redirected, retried, refused, stopped, cancelled, timedOut, shutDown
    }

    /// However a request ends, the memory of its buffer is released, once.
    @Test(arguments: Ending.allCases) func theMemoryIsGivenBack(after ending: Ending) async throws {
        let server = try ScriptedServer()
        let client = Self.client(server) { configuration in
            if ending == .refused {
                configuration.queueCapacity = 1
                configuration.inFlightLimit = 1
            }
            guard ending == .retried else { return }
            configuration.resilience = Resilience(
                retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))))
        }
        weak var storage: AnyObject?
        do {
            let buffer = ByteBuffer(repeating: 7, count: 300_000)
            storage = buffer.storageObject
            try await Self.end(Post(path: "put", method: .put, body: .byteBuffer(buffer)), by: ending, client, server)
            withExtendedLifetime(buffer) { #expect(storage != nil) }
        }
        try await waitUntil("the memory is given back") { storage == nil }
        await client.shutdown()
    }

    private static func end(
        _ put: Post, by ending: Ending, _ client: Client, _ server: ScriptedServer
    ) async throws {
        switch ending {
        case .answered:
            try server.on("/put", [.readBody, answer])
        case .redirected:
            let there = "HTTP/1.1 307 There\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n"
            try server.on("/put", [.readBody, .send(there)])
            try server.on("/to", [.readBody, answer])
        case .retried:
            let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            try server.on("/put", [.readBody, .send(busy), .close])
            try server.on("/put", [.readBody, answer])
        case .refused, .stopped, .cancelled, .timedOut, .shutDown:
            try server.on("/put", [.stall])
        }
        func isSent() async throws {
            try await waitUntil("the request is sent") { server.counts.requests == 1 }
        }
        switch ending {
        case .answered, .redirected, .retried:
            _ = try await client.run(put)
            let lengths = server.requests.map(\.bodyLength)
            #expect(lengths == [Int](repeating: 300_000, count: ending == .answered ? 1 : 2))
        case .refused:
            let sent = client.start(put)
            try await isSent()
            let waiting = client.start(put)
            await #expect(throws: ErrandError.queueFull) { _ = try await client.run(put) }
            sent.stop()
            waiting.stop()
            _ = try? await sent.finalValue()
            _ = try? await waiting.finalValue()
        case .stopped:
            let request = client.start(put)
            try await isSent()
            request.stop()
            _ = try? await request.finalValue()
        case .cancelled:
            let task = Task { _ = try await client.run(put) }
            try await isSent()
            task.cancel()
            _ = await task.result
        case .timedOut:
            var late = put
            late.timeouts = Timeouts(total: .milliseconds(100))
            let command = late
            await #expect(throws: ErrandError.timeoutTotal) { _ = try await client.run(command) }
        case .shutDown:
            let request = client.start(put)
            try await isSent()
            await client.shutdown(.cancel)
            _ = try? await request.finalValue()
        }
    }

    @Test func thereAndBack() async throws {
        let server = try ScriptedServer()
        try server.on("/echo", [.echo])
        var configuration = Client.Configuration(baseURL: server.url("/"))
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        let client = Client(configuration: configuration)
        let text = String(repeating: "0123456789", count: 100)
        let response = try await client.run(Post(body: .byteBuffer(ByteBuffer(string: text), contentType: "a/b")))
        var echoed = try response.body.byteBuffer()
        #expect(echoed.readableBytes == response.body.count && echoed.readerIndex == 0)
        #expect(echoed.readString(length: echoed.readableBytes)?.hasSuffix(text) == true)
        #expect(server.requests.first?.body == Array(text.utf8))
        #expect(try Errand.Response(statusCode: 204).body.byteBuffer().readableBytes == 0)
        await client.shutdown()
    }
}

extension ByteBuffer {
    /// What owns the memory.
    var storageObject: AnyObject {
        withUnsafeReadableBytesWithStorageManagement { _, storage in storage.takeUnretainedValue() }
    }
}
