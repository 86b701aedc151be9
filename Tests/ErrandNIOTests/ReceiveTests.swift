import Errand
import ErrandTesting
import Foundation
import NIOCore
import Testing

@testable import ErrandNIO

/// Bodies that arrive in the memory of buffers (`CommandOptions.byteBuffers`).
@Suite(.timeLimit(.minutes(20))) struct ReceiveTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    private func makeClient(_ configure: (inout Client.Configuration) -> Void = { _ in }) -> Client {
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600), total: .seconds(3600))
        configure(&configuration)
        return Client(configuration: configuration)
    }

    private static func get(_ path: String, _ change: (inout RawCommand) -> Void = { _ in }) -> RawCommand {
        var command = RawCommand(url: path)
        command.options = .byteBuffers
        change(&command)
        return command
    }

    private static func head(_ length: Int, _ fields: String = "") -> ScriptedServer.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\(fields)\r\n")
    }

    private static let digits = "0123456789"

    private static func bytes(_ count: Int) -> [UInt8] {
        Array(String(repeating: digits, count: count / 10).utf8)
    }

    private static func place(_ body: Errand.Response.Body) -> UInt {
        body.withBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private static func place(_ data: Data) -> UInt {
        data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private static func place(_ buffer: ByteBuffer) -> UInt {
        buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    }

    // MARK: Whole bodies

    /// The last one is longer than what is reserved before bytes have come.
    @Test(arguments: [10, 60, 1000, 100_000, 9_500_000]) func aBody(size: Int) async throws {
        try server.on("/get", [Self.head(size), .sendRepeated(Self.digits, times: size / 10)])
        let client = makeClient()
        let response = try await client.run(Self.get("get"))
        let buffer = try response.body.byteBuffer()
        #expect(Self.place(buffer) == Self.place(response.body))
        #expect(buffer.readerIndex == 0 && buffer.readableBytes == size)
        #expect(response.body.bytes == Self.bytes(size))
        #expect(response.body.data == Data(Self.bytes(size)))
        #expect(try response.body.byteBuffer() == buffer)
        await client.shutdown()
    }

    @Test func withoutTheOptionABodyIsCopied() async throws {
        try server.on("/get", [Self.head(1000), .sendRepeated(Self.digits, times: 100)])
        let client = makeClient()
        let response = try await client.run(Self.get("get") { $0.options = [] })
        let buffer = try response.body.byteBuffer()
        #expect(Self.place(buffer) != Self.place(response.body))
        #expect(Array(buffer.readableBytesView) == Self.bytes(1000))
        #expect(response.body.arrived == nil)
        await client.shutdown()
    }

    @Test func anEmptyBody() async throws {
        try server.on("/get", [Self.head(0)])
        let client = makeClient()
        #expect(try await client.run(Self.get("get")).body.byteBuffer().readableBytes == 0)
        await client.shutdown()
    }

    private struct Numbers: Command {
        var path = "numbers"
        var options: CommandOptions { .byteBuffers }
        typealias Response = [Int]
    }

    @Test func aBodyIsDecoded() async throws {
        try server.on("/numbers", [Self.head(7, "Content-Type: application/json\r\n"), .send("[1,2,3]")])
        let client = makeClient()
        #expect(try await client.run(Numbers()) == [1, 2, 3])
        await client.shutdown()
    }

    @Test func trailersFollowTheBody() async throws {
        let chunks = "5\r\n01234\r\n5\r\n56789\r\n0\r\nX-Sum: 9\r\n\r\n"
        try server.on("/get", [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")])
        let client = makeClient()
        let response = try await client.run(Self.get("get"))
        let buffer = try response.body.byteBuffer()
        #expect(String(buffer: buffer) == Self.digits)
        #expect(Self.place(buffer) == Self.place(response.body))
        let sum = response.trailers.first(where: { $0.name.canonicalName == "x-sum" })?.value
        #expect(sum == "9")
        await client.shutdown()
    }

    /// The decoder writes into the buffer.
    @Test func anEncodedBody() async throws {
        try server.on("/zeros", [.gzipZeros(3_000_000)])
        let client = makeClient()
        let command = Self.get("zeros") { $0.connection = ConnectionOptions(encodings: .gzip) }
        let response = try await client.run(command)
        let buffer = try response.body.byteBuffer()
        #expect(Self.place(buffer) == Self.place(response.body))
        #expect(buffer == ByteBuffer(repeating: 0, count: 3_000_000))
        let streamed = try await client.stream(command).body.byteBuffers().collect(upTo: 4_000_000)
        #expect(streamed == buffer)
        await client.shutdown()
    }

    /// Only the last response's body arrives in the buffer of the caller.
    @Test func redirectsRetriesAndChallenges() async throws {
        let body: [ScriptedServer.Step] = [Self.head(10), .send(Self.digits)]
        try server.on("/from", [.send("HTTP/1.1 302 There\r\nLocation: /to\r\nContent-Length: 5\r\n\r\nmoved")])
        try server.on("/to", body)
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy"
        try server.on("/busy", [.send(busy), .close])
        try server.on("/busy", body)
        try server.on("/digest", [.digest(username: "ada", password: "pw")] + body)
        let client = makeClient {
            $0.resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))))
        }
        for path in ["from", "busy", "digest"] {
            let response = try await client.run(Ask(path: path))
            let buffer = try #require(response.body.arrived)
            #expect(String(buffer: buffer) == Self.digits)
        }
        #expect(server.counts.requests == 6)
        await client.shutdown()
    }

    private struct Ask: Command {
        var path: String
        var authorization: Authorization? { path == "digest" ? .digest(username: "ada", password: "pw") : nil }
        var options: CommandOptions { .byteBuffers }
        typealias Response = Errand.Response
    }

    /// A body beyond the limit ends the request; the error has the part that has come.
    @Test func aLimit() async throws {
        try server.on("/endless", [.send("HTTP/1.1 200 OK\r\n\r\n"), .sendRepeated(Self.digits, times: nil)])
        let client = makeClient()
        let error = await #expect(throws: ErrandError.self) {
            _ = try await client.run(Self.get("endless") { $0.limits = Limits(bodyBytes: 1 << 20) })
        }
        #expect(error == .limitBodyBytes)
        let part = try #require(error?.response?.body)
        let buffer = try #require(part.arrived)
        #expect(Self.place(buffer) == Self.place(part) && Array(buffer.readableBytesView) == part.bytes)
        await client.shutdown()
    }

    // MARK: Who shares the memory

    /// `Data` writes in place where it has the only reference to its buffer, and so does `ByteBuffer`: neither sees what
    /// the other has written, also when the response is gone.
    @Test(arguments: [false, true]) func dataAndBufferAreApart(dataFirst: Bool) async throws {
        try server.on("/get", [Self.head(1000), .sendRepeated(Self.digits, times: 100)])
        let client = makeClient()
        let original = Self.bytes(1000)
        var data: Data
        var buffer: ByteBuffer
        do {
            let body = try await client.run(Self.get("get")).body
            if dataFirst {
                data = body.data
                buffer = try body.byteBuffer()
            } else {
                buffer = try body.byteBuffer()
                data = body.data
            }
            #expect((Self.place(data) == Self.place(body)) == dataFirst)
            #expect((Self.place(buffer) == Self.place(body)) == !dataFirst)
            buffer.setInteger(UInt8(1), at: 0)
            data[1] = 2
            #expect(body.bytes == original && body.data == Data(original))
        }
        try await waitUntil("the client has let go of the request") { client.requests.isEmpty }
        buffer.setInteger(UInt8(3), at: 2)
        data[3] = 4
        var expected = original
        (expected[0], expected[2]) = (1, 3)
        #expect(Array(buffer.readableBytesView) == expected)
        expected = original
        (expected[1], expected[3]) = (2, 4)
        #expect(data == Data(expected))
        await client.shutdown()
    }

    /// The first one gets the memory, whoever that is.
    @Test func dataAndBufferFromTwoThreads() async throws {
        try server.on("/get", [Self.head(1000), .sendRepeated(Self.digits, times: 100)])
        let client = makeClient()
        let original = Self.bytes(1000)
        for _ in 0..<200 {
            let body = try await client.run(Self.get("get")).body
            // A task each.
            async let oneData = body.data
            async let oneBuffer = body.byteBuffer()
            var data = await oneData
            var buffer = try await oneBuffer
            #expect((Self.place(data) == Self.place(body)) != (Self.place(buffer) == Self.place(body)))
            data[0] = 1
            buffer.setInteger(UInt8(2), at: 1)
            #expect(body.bytes == original && body.data == Data(original))
            #expect(data[1] == original[1] && buffer.getInteger(at: 0) == original[0])
        }
        await client.shutdown()
    }

    @Test func twoBuffersOfABody() async throws {
        try server.on("/get", [Self.head(1000), .sendRepeated(Self.digits, times: 100)])
        let client = makeClient()
        var first: ByteBuffer
        let second: ByteBuffer
        do {
            let body = try await client.run(Self.get("get")).body
            first = try body.byteBuffer()
            second = try body.byteBuffer()
            #expect(Self.place(first) == Self.place(second))
        }
        first.setInteger(UInt8(1), at: 0)
        #expect(Array(second.readableBytesView) == Self.bytes(1000))
        await client.shutdown()
    }

    @Test func sharedTransfers() async throws {
        try server.on("/get", [.stall, Self.head(1000), .sendRepeated(Self.digits, times: 100)])
        let client = makeClient()
        let command = Self.get("get") { $0.options = [.byteBuffers, .coalesced] }
        // Both are submitted when `start` returns.
        let requests = [client.start(command), client.start(command)]
        try await waitUntil("the transfer is sent") { server.counts.requests == 1 }
        server.release()
        var bodies: [Errand.Response.Body] = []
        for request in requests { bodies.append(try await request.finalValue().body) }
        #expect(server.counts.requests == 1)
        var buffers = try bodies.map { try $0.byteBuffer() }
        buffers[0].setInteger(UInt8(1), at: 0)
        #expect(Array(buffers[1].readableBytesView) == Self.bytes(1000))
        #expect(bodies.map(\.bytes) == [Self.bytes(1000), Self.bytes(1000)])
        await client.shutdown()
    }

    /// What is stored is a copy, and so is what a cache hands out.
    @Test func cachedResponses() async throws {
        try server.on(
            "/get", [Self.head(1000, "Cache-Control: max-age=600\r\n"), .sendRepeated(Self.digits, times: 100)])
        let client = makeClient {
            $0.cache = ResponseCache(MemoryCacheStore())
            $0.settings.cache = .http
        }
        for isServed in [false, true] {
            let response = try await client.run(Self.get("get"))
            #expect(response.isFromCache == isServed)
            let body = response.body
            var buffer = try body.byteBuffer()
            // The response of the network is marked with what the cache has done, in the same memory.
            #expect((Self.place(buffer) == Self.place(body)) == !isServed)
            buffer.setInteger(UInt8(1), at: 0)
            var data = body.data
            #expect(Self.place(data) == Self.place(body.data))
            data[1] = 2
            #expect(body.bytes == Self.bytes(1000))
            #expect(Array(buffer.readableBytesView.prefix(2)) == [1, UInt8(ascii: "1")])
            #expect(Array(data.prefix(2)) == [UInt8(ascii: "0"), 2])
        }
        #expect(server.counts.requests == 1)
        await client.shutdown()
    }

    @Test func otherTransports() async throws {
        let client = Client(transport: StubTransport { _ in .response(status: 200, body: Self.digits) })
        let body = try await client.run(Self.get("http://h/")).body
        #expect(body.arrived == nil)
        let buffer = try body.byteBuffer()
        #expect(String(buffer: buffer) == Self.digits)
        await client.shutdown()
    }

    // MARK: Streams

    /// Chunks of 4 KiB and more; smaller ones are joined. The first one has memory for 256 KiB.
    @Test func chunks() async throws {
        let size = 4 << 20
        try server.on("/get", [Self.head(size), .sendRepeated("0123456789abcdef", times: size / 16)])
        let client = makeClient()
        let expected = Array(String(repeating: "0123456789abcdef", count: size / 16).utf8)
        let body = try await client.stream(Self.get("get")).body
        var pieces = body.makeAsyncIterator()
        var bytes: [UInt8] = []
        var count = 0
        while let piece = try await pieces.nextPiece() {
            if case .chunk(let chunk) = piece {
                if let buffer = chunk.body.arrived {
                    #expect(Self.place(buffer) == Self.place(chunk.body))
                    count += 1
                } else {
                    #expect(bytes.isEmpty && chunk.body.count < 32 << 10)
                }
            }
            bytes += piece.bytes
        }
        #expect(count > 1)
        #expect(bytes == expected)
        let collected = try await client.stream(Self.get("get")).body.byteBuffers().collect(upTo: size)
        #expect(Array(collected.readableBytesView) == expected)
        await client.shutdown()
    }

    /// The first chunk of a stream has memory for its credit, and a reader may keep many of them.
    @Test(arguments: [10, 5000]) func aSparseChunkIsCopied(size: Int) async throws {
        let rest = 300_000 - size
        try server.on(
            "/get",
            [
                Self.head(300_000), .sendRepeated(Self.digits, times: size / 10), .stall,
                .sendRepeated(Self.digits, times: rest / 10),
            ])
        let client = makeClient()
        let response = try await client.stream(Self.get("get"))
        var buffers = response.body.byteBuffers().makeAsyncIterator()
        var bytes: [UInt8] = []
        while bytes.count < size {
            let next = try await buffers.next()
            let buffer = try #require(next)
            #expect(buffer.storageCapacity <= 8192)
            bytes += Array(buffer.readableBytesView)
        }
        server.release()
        while let buffer = try await buffers.next() { bytes += Array(buffer.readableBytesView) }
        #expect(bytes == Self.bytes(300_000))
        await client.shutdown()
    }

    /// A caller that hangs up in the middle: no memory stays.
    @Test(arguments: [false, true]) func aStreamIsCutShort(byShutdown: Bool) async throws {
        try server.on("/endless", [.send("HTTP/1.1 200 OK\r\n\r\n"), .sendRepeated(Self.digits, times: nil)])
        let client = makeClient()
        weak var storage: AnyObject?
        do {
            let response = try await client.stream(Self.get("endless"))
            var iterator = response.body.byteBuffers().makeAsyncIterator()
            let first = try await iterator.next()
            let buffer = try #require(first)
            storage = buffer.storageObject
            if byShutdown { await client.shutdown(.cancel) }
            #expect(Array(buffer.readableBytesView.prefix(10)) == Self.bytes(10))
        }
        try await waitUntil("the memory is given back") { storage == nil }
        try await waitUntil("the request has ended") { client.requests.isEmpty }
        await client.shutdown()
    }

    /// The memory of a whole body lives as long as the response or a buffer.
    @Test func theMemoryOutlivesTheResponse() async throws {
        try server.on("/get", [Self.head(100_000), .sendRepeated(Self.digits, times: 10_000)])
        let client = makeClient()
        weak var storage: AnyObject?
        do {
            let buffer = try await client.run(Self.get("get")).body.byteBuffer()
            storage = buffer.storageObject
            await client.shutdown()
            #expect(Array(buffer.readableBytesView) == Self.bytes(100_000))
        }
        try await waitUntil("the memory is given back") { storage == nil }
    }

    // MARK: The memory

    /// NIO knows of no byte yet, as the writer's index is where it was.
    @Test func growingKeepsTheBytes() throws {
        let memory = try #require(ByteBufferMemory(capacity: 100))
        let bytes = memory.bytes
        #expect(bytes.count >= 100)
        for index in 0..<100 { bytes[index] = UInt8(index) }
        #expect(memory.grow(to: 5_000_000))
        #expect(memory.bytes.count >= 5_000_000)
        #expect(Array(memory.filled(100).readableBytesView) == Array(0..<100))
    }

    /// NIO copies all of a buffer's capacity before a change.
    @Test func changingABufferCopiesItsBytesAlone() throws {
        let memory = try #require(ByteBufferMemory(capacity: 100_000))
        memory.bytes.copyBytes(from: Self.bytes(20_000))
        #expect(!memory.isSparse(20_000) && memory.isSparse(10_000))
        var buffer = memory.filled(20_000)
        #expect(buffer.storageCapacity >= 100_000)
        buffer.setInteger(UInt8(ascii: "0"), at: 0)
        #expect(buffer.storageCapacity <= 32_768)
        #expect(Array(buffer.readableBytesView) == Self.bytes(20_000))
        #expect(memory.filled(0).storageCapacity < 100_000)
    }

    @Test func noBufferIsAsLarge() throws {
        #expect(ByteBufferMemory(capacity: 1 << 32) == nil)
        let memory = try #require(ByteBufferMemory(capacity: 0))
        #expect(!memory.grow(to: 1 << 32))
        #expect(memory.grow(to: 10) && memory.bytes.count >= 10)
    }
}
