import Errand
import ErrandTesting
import NIOCore
import Synchronization
import Testing

@testable import ErrandNIO

/// Bodies that stream through a server, in both directions.
@Suite(.timeLimit(.minutes(20))) struct StreamTests {
    private struct Ask: Command {
        var path: String
        var method = HTTPRequest.Method.get
        var body = RequestBody.empty
        var timeouts: Timeouts?
        typealias Response = Errand.Response
    }

    /// A server's body: counts the buffers that were asked for, and fails or ends after some.
    private struct Buffers: AsyncSequence, Sendable {
        final class Counter: Sendable {
            private let number = Atomic(0)
            func next() -> Int { number.add(1, ordering: .relaxed).oldValue }
            var value: Int { number.load(ordering: .relaxed) }
        }
        struct HangUp: Error {}

        /// `nil`: endless.
        var count: Int?
        var size = 10_000
        var fails = false
        let counter = Counter()

        struct AsyncIterator: AsyncIteratorProtocol {
            let buffers: Buffers

            func next() async throws -> ByteBuffer? {
                let number = buffers.counter.next()
                if let count = buffers.count, number >= count {
                    if buffers.fails { throw HangUp() }
                    return nil
                }
                return ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: buffers.size)
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffers: self) }
    }

    /// Makes buffers one by one, each with memory of its own, and notes which memory still exists.
    private struct Tracked: AsyncSequence, Sendable {
        final class Storages: Sendable {
            /// `@unchecked Sendable`: of the object only the existence is looked at.
            private struct Reference: @unchecked Sendable {
                weak var storage: AnyObject?
            }
            private let references = Mutex<[Reference]>([])

            func note(_ buffer: ByteBuffer) {
                let reference = Reference(storage: buffer.storageObject)
                references.withLock { $0.append(reference) }
            }
            /// How many buffers were made.
            var count: Int { references.withLock { $0.count } }
            /// How many of them have memory.
            var alive: Int { references.withLock { $0.count(where: { $0.storage != nil }) } }
        }

        var count = 2
        var size = 4 << 20
        /// `nil`: as large as the bytes need it.
        var capacity: Int?
        let storages = Storages()
        /// Incremented when the end is asked for.
        let ends = Buffers.Counter()

        struct AsyncIterator: AsyncIteratorProtocol {
            let tracked: Tracked
            var number = 0

            mutating func next() async throws -> ByteBuffer? {
                guard number < tracked.count else {
                    _ = tracked.ends.next()
                    return nil
                }
                number += 1
                var buffer = ByteBufferAllocator().buffer(capacity: tracked.capacity ?? tracked.size)
                buffer.writeRepeatingByte(7, count: tracked.size)
                tracked.storages.note(buffer)
                return buffer
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(tracked: self) }
    }

    private let server: ScriptedServer
    private let client: Client

    init() throws {
        server = try ScriptedServer()
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600), total: .seconds(3600))
        client = Client(configuration: configuration)
    }

    private static func head(_ length: Int) -> ScriptedServer.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
    }

    // MARK: Responses

    /// A writer that does not write holds the server upstream back, and every byte comes.
    @Test func aResponse() async throws {
        let size = 32 << 20
        try server.on("/big", [Self.head(size), .sendRepeated("0123456789abcdef", times: size / 16)])
        let response = try await client.stream(Ask(path: "big"))
        await allowTime(for: "a server that sends more than the reader has room for", .milliseconds(300))
        #expect(server.counts.bytesSent < 16 << 20, "the server was not held back")
        var count = 0
        var start: [UInt8] = []
        for try await buffer in response.body.byteBuffers() {
            #expect(buffer.readableBytes > 0)
            if start.count < 1 << 16 { start += buffer.readableBytesView }
            count += buffer.readableBytes
        }
        let expected = Array(String(repeating: "0123456789abcdef", count: 1 << 12).utf8)
        #expect(Array(start.prefix(expected.count)) == expected)
        #expect(count == size)
        await client.shutdown()
    }

    /// What NIO's servers take: `collect(upTo:)` is NIO's own.
    @Test func aSequenceOfBuffers() async throws {
        try server.on("/short", [Self.head(5), .send("ab"), .sleep(milliseconds: 5), .send("cde")])
        let body = try await client.stream(Ask(path: "short")).body.byteBuffers()
        var text = ""
        for try await buffer in body { text += String(buffer: buffer) }
        #expect(text == "abcde")
        let whole = try await client.stream(Ask(path: "short")).body.byteBuffers().collect(upTo: 100)
        #expect(String(buffer: whole) == "abcde")
        await client.shutdown()
    }

    /// The caller of the server hangs up: the server leaves the loop, or cancels the task.
    @Test(arguments: [false, true]) func aCallerHangsUp(byCancellation: Bool) async throws {
        try server.on("/endless", [.send("HTTP/1.1 200 OK\r\n\r\n"), .sendRepeated("x", times: nil)])
        let (server, client) = (self.server, self.client)
        let reading = Task {
            let response = try await client.stream(Ask(path: "endless"))
            for try await _ in response.body.byteBuffers() where !byCancellation { break }
            return response.request
        }
        if byCancellation {
            try await waitUntil("the response arrives") { server.counts.bytesSent > 1 << 20 }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
        } else {
            _ = try await reading.value
        }
        try await waitUntil("the connection upstream is closed") { server.counts.closed == 1 }
        try await waitUntil("the request has ended") { client.requests.isEmpty }
        await client.shutdown()
    }

    // MARK: Requests

    @Test(arguments: [1, 10_000, 65_536, 300_000]) func anUpload(size: Int) async throws {
        try server.on("/put", [.readBody, Self.head(0)])
        let count = max(3, 1_500_000 / size)
        let buffers = Buffers(count: size == 1 ? 1000 : count, size: size)
        let length = Int64((buffers.count ?? 0) * size)
        let once = RequestBody.byteBuffers(buffers, length: length)
        let again = RequestBody.byteBuffers { Buffers(count: 3, size: size) }
        for body in [once, again] { _ = try await client.run(Ask(path: "put", method: .put, body: body)) }
        let requests = server.requests
        #expect(requests.map(\.bodyLength) == [Int(length), 3 * size])
        let expected = (0..<3).flatMap { [UInt8](repeating: UInt8($0), count: size) }
        #expect(requests.last?.body == Array(expected.prefix(1 << 20)))
        await client.shutdown()
    }

    enum Ending: CaseIterable, Sendable {
        case sent, stopped, timedOut, shutDown
        /// The body is sent again, or what is kept for the next attempt is dropped.
        case retried, dropped

        /// How long the retry waits.
        var wait: Duration { self == .dropped ? .seconds(3000) : .milliseconds(1) }
    }

    /// Part of a buffer is lent at a time. The memory is released when the upload needs no more of it, or ends.
    @Test(arguments: Ending.allCases) func theMemoryIsGivenBack(after ending: Ending) async throws {
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600), total: .seconds(3600))
        let backoff = RetryBackoff(base: ending.wait, cap: ending.wait, jitter: 0)
        configuration.resilience = Resilience(retry: RetryPolicy(backoff: backoff))
        let client = Client(configuration: configuration)
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        switch ending {
        case .sent: try server.on("/put", [.readBody, Self.head(0)])
        case .stopped, .timedOut, .shutDown: try server.on("/put", [.stall])
        case .retried, .dropped:
            try server.on("/put", [.readBody, .send(busy), .close])
            try server.on("/put", [.readBody, Self.head(0)])
        }
        // Of two small buffers the first is kept for the next attempt when the second is made.
        let tracked = ending == .dropped ? Tracked(size: 100_000) : Tracked()
        var put = Ask(path: "put", method: .put, body: .byteBuffers { tracked })
        if ending == .timedOut { put.timeouts = Timeouts(total: .milliseconds(200)) }
        let request = client.start(put)
        // The head may arrive before the first buffer is made.
        func isBegun() -> Bool { server.counts.requests == 1 && tracked.storages.count > 0 }
        switch ending {
        case .sent, .retried, .timedOut: break
        case .stopped:
            try await waitUntil("the upload begins") { isBegun() }
            request.stop()
        case .shutDown:
            try await waitUntil("the upload begins") { isBegun() }
            await client.shutdown(.cancel)
        case .dropped:
            try await waitUntil("the body is read for the second attempt") { tracked.storages.count == 4 }
            #expect(tracked.storages.alive >= 2)
            request.stop()
        }
        let response = try? await request.finalValue()
        #expect((response != nil) == (ending == .sent || ending == .retried))
        try await waitUntil("the memory is given back") { tracked.storages.alive == 0 }
        #expect(tracked.storages.count > 0 || ending == .timedOut)
        #expect(ending != .retried || server.requests.map(\.bodyLength) == [8 << 20, 8 << 20])
        await client.shutdown()
    }

    struct Filling: Sendable {
        let count: Int
        let size: Int
        let capacity: Int
        /// Whether the memory of all buffers is kept.
        let isLent: Bool
    }

    /// A loan keeps all memory of a buffer, and credit counts its bytes alone: what is small or sparse is copied. The
    /// upload waits for the other request, so that its bytes stay in the engine.
    @Test(arguments: [
        Filling(count: 1000, size: 1, capacity: 32 << 10, isLent: false),
        Filling(count: 50, size: 4095, capacity: 4095, isLent: false),
        Filling(count: 40, size: 5000, capacity: 64 << 10, isLent: false),
        Filling(count: 20, size: 8192, capacity: 64 << 10, isLent: true),
        Filling(count: 20, size: 8191, capacity: 64 << 10, isLent: false),
        Filling(count: 20, size: 10_000, capacity: 10_000, isLent: true),
    ]) func smallAndSparseBuffersAreCopied(_ filling: Filling) async throws {
        try server.on("/hold", [.stall, Self.head(0)])
        try server.on("/put", [.readBody, Self.head(0)])
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600), total: .seconds(3600))
        configuration.inFlightLimit = 1
        let client = Client(configuration: configuration)
        let holding = client.start(Ask(path: "hold"))
        try await waitUntil("the first request is sent") { server.counts.requests == 1 }
        let tracked = Tracked(count: filling.count, size: filling.size, capacity: filling.capacity)
        let request = client.start(Ask(path: "put", method: .put, body: .byteBuffers(tracked)))
        try await waitUntil("all buffers are read") { tracked.ends.value == 1 }
        if filling.isLent {
            #expect(tracked.storages.alive == filling.count)
        } else {
            try await waitUntil("the memory is given back") { tracked.storages.alive == 0 }
        }
        #expect(server.counts.requests == 1)
        holding.stop()
        _ = try await request.finalValue()
        let body = try #require(server.requests.last?.body)
        #expect(body == [UInt8](repeating: 7, count: filling.count * filling.size))
        #expect(tracked.storages.count == filling.count)
        await client.shutdown()
    }

    /// The buffers change as soon as the next one is asked for: NIO then copies them, because the engine has them.
    @Test func buffersThatChangeAfterwards() async throws {
        struct Reused: AsyncSequence, Sendable {
            struct AsyncIterator: AsyncIteratorProtocol {
                var buffer = ByteBuffer()
                var number: UInt8 = 0

                mutating func next() async throws -> ByteBuffer? {
                    guard number < 200 else { return nil }
                    number += 1
                    buffer.clear()
                    buffer.writeRepeatingByte(number, count: 5000)
                    return buffer
                }
            }

            func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
        }
        try server.on("/put", [.readBody, Self.head(0)])
        _ = try await client.run(Ask(path: "put", method: .put, body: .byteBuffers(Reused())))
        let expected = (1...200).flatMap { [UInt8](repeating: UInt8($0), count: 5000) }
        #expect(server.requests.first?.body == expected)
        await client.shutdown()
    }

    /// By way of retries, which keep what is written before the attempt has an id.
    @Test func anUploadIsSentAgain() async throws {
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        try server.on("/put", [.readBody, .send(busy), .close])
        try server.on("/put", [.readBody, Self.head(0)])
        var configuration = Client.Configuration(baseURL: server.url("/"), loops: 1)
        configuration.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        configuration.resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .milliseconds(1))))
        let client = Client(configuration: configuration)
        let body = RequestBody.byteBuffers { Buffers(count: 50) }
        _ = try await client.run(Ask(path: "put", method: .put, body: body))
        let expected = (0..<50).flatMap { [UInt8](repeating: UInt8($0), count: 10_000) }
        #expect(server.requests.map(\.body) == [expected, expected])
        await client.shutdown()
    }

    @Test func buffersWithoutBytesAreSkipped() async throws {
        try server.on("/put", [.readBody, Self.head(0)])
        let texts = ["", "a", "", "", "bc", ""]
        let stream = AsyncStream<ByteBuffer> { continuation in
            for text in texts { continuation.yield(ByteBuffer(string: text)) }
            continuation.finish()
        }
        _ = try await client.run(Ask(path: "put", method: .put, body: .byteBuffers(stream)))
        #expect(server.requests.first?.body == Array("abc".utf8))
        await client.shutdown()
    }

    /// A server upstream that does not read holds the sender back.
    @Test func anUploadIsHeldBack() async throws {
        try server.on("/put", [.stall])
        let buffers = Buffers()
        let request = client.start(Ask(path: "put", method: .put, body: .byteBuffers(buffers)))
        try await waitUntil("the upload begins") { buffers.counter.value > 1 }
        await allowTime(for: "an upload that is not held back", .milliseconds(300))
        #expect(buffers.counter.value * buffers.size < 32 << 20)
        request.stop()
        await client.shutdown()
    }

    /// The sender hangs up in the middle of its body.
    @Test func theSenderHangsUp() async throws {
        try server.on("/put", [.readBody, Self.head(0)])
        let body = RequestBody.byteBuffers(Buffers(count: 5, fails: true))
        let error = await #expect(throws: ErrandError.self) {
            _ = try await client.run(Ask(path: "put", method: .put, body: body))
        }
        #expect(error == .uploadFailed && error?.underlyingError is Buffers.HangUp)
        await client.shutdown()
    }

    @Test(arguments: [-1, 1]) func aWrongLength(difference: Int64) async throws {
        try server.on("/put", [.readBody, Self.head(0)])
        let body = RequestBody.byteBuffers(Buffers(count: 5), length: 50_000 + difference)
        await #expect(throws: ErrandError.invalidBody) {
            _ = try await client.run(Ask(path: "put", method: .put, body: body))
        }
        await client.shutdown()
    }

    @Test func aSequenceIsReadOnce() async throws {
        try server.on("/put", [.readBody, .send("HTTP/1.1 307 There\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n")])
        try server.on("/to", [.readBody, Self.head(0)])
        let once = RequestBody.byteBuffers(Buffers(count: 2))
        await #expect(throws: ErrandError.uploadNotReplayable) {
            _ = try await client.run(Ask(path: "put", method: .put, body: once))
        }
        let again = RequestBody.byteBuffers { Buffers(count: 2) }
        _ = try await client.run(Ask(path: "put", method: .put, body: again))
        #expect(server.requests.last?.target == "/to" && server.requests.last?.bodyLength == 20_000)
        await client.shutdown()
    }

    // MARK: Both

    /// From one server to another, through this process, with at most the credit of both on the way.
    @Test func fromAResponseToARequest() async throws {
        let size = 8 << 20
        try server.on("/big", [Self.head(size), .sendRepeated("0123456789abcdef", times: size / 16)])
        try server.on("/put", [.readBodySlowly(bytes: 262_144, milliseconds: 1), Self.head(0)])
        let response = try await client.stream(Ask(path: "big"))
        let body = RequestBody.byteBuffers(response.body.byteBuffers(), length: Int64(size))
        _ = try await client.run(Ask(path: "put", method: .put, body: body))
        let received = try #require(server.requests.last)
        #expect(received.bodyLength == size && received.isBodyComplete)
        #expect(received.body == Array(String(repeating: "0123456789abcdef", count: 1 << 16).utf8))
        await client.shutdown()
    }
}
