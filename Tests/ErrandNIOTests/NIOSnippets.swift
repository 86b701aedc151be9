import Errand
import ErrandNIO
import ErrandTesting
import NIOCore
import Synchronization
import Testing

/// The code of the guide "In a service" for bodies; GuideTests compares it line by line.
@Suite(.timeLimit(.minutes(20))) struct NIOSnippets {
    struct PutFile: Command {
        var path: String
        var content: RequestBody
        var method: HTTPRequest.Method { .put }
        var body: RequestBody { content }
        typealias Response = Errand.Response
    }

    /// A server's request body that is lent to an upload. After `takeBack` nobody reads it.
    final class LentBody<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == ByteBuffer {
        private let base: Mutex<Base?>
        private let reading = AsyncStream.makeStream(of: Void.self)

        init(_ base: Base) { self.base = Mutex(base) }

        final class AsyncIterator: AsyncIteratorProtocol {
            private var base: Base.AsyncIterator?
            private let reading: AsyncStream<Void>.Continuation

            init(_ base: Base?, _ reading: AsyncStream<Void>.Continuation) {
                self.base = base?.makeAsyncIterator()
                self.reading = reading
            }

            deinit {
                guard base != nil else { return }
                base = nil
                reading.finish()
            }

            func next() async throws -> ByteBuffer? { try await base?.next() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base.withLock { $0.take() }, reading.continuation) }

        func takeBack() async {
            // The upload has not begun to read, and finds nothing if it does so now.
            if base.withLock({ $0.take() }) != nil { return }
            // A task of its own: if this one is cancelled, it waits all the same.
            await Task { [ended = reading.stream] in for await _ in ended {} }.value
        }
    }

    func forward<Body: AsyncSequence & Sendable, Value>(
        _ body: Body, to path: String, by client: Client,
        answer: (HTTPResponse.Status, ByteBufferBody) async throws -> Value
    ) async throws -> Value where Body.Element == ByteBuffer {
        let lent = LentBody(body)
        let result: Result<Value, any Error>
        do {
            let response = try await client.stream(PutFile(path: path, content: .byteBuffers(lent)))
            result = .success(try await answer(response.head.status, response.body.byteBuffers()))
        } catch {
            result = .failure(error)
        }
        await lent.takeBack()
        return try result.get()
    }

    struct GetFile: Command {
        var path: String
        var options: CommandOptions { .byteBuffers }
        typealias Response = Errand.Response
    }

    func file(_ path: String, by client: Client) async throws -> ByteBufferBody {
        try await client.stream(GetFile(path: path)).body.byteBuffers()
    }

    private func withClient(
        _ steps: [ScriptedServer.Step], _ body: (Client, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        try server.on("/file", steps)
        let timeouts = Timeouts(connect: .seconds(240), idle: .seconds(3600))
        let client = Client(configuration: .init(baseURL: server.url("/"), timeouts: timeouts))
        try await body(client, server)
        await client.shutdown()
    }

    @Test func theyRun() async throws {
        try await withClient([.echo]) { client, _ in
            let sent = AsyncStream<ByteBuffer> { continuation in
                continuation.yield(ByteBuffer(string: "content"))
                continuation.finish()
            }
            let (status, echoed) = try await forward(sent, to: "file", by: client) { status, body in
                (status, try await body.collect(upTo: 10_000))
            }
            #expect(status == .ok && String(buffer: echoed).contains("content"))
            let passed = try await file("file", by: client).collect(upTo: 10_000)
            #expect(String(buffer: passed).contains("GET"))
        }
    }

    /// A body that notes whether somebody waits for its next buffer, which comes when the test says so.
    private final class SlowBody: AsyncSequence, Sendable {
        let readers = Atomic<Int>(0)
        let isAnswered = Atomic<Bool>(false)
        let isReturned = Atomic<Bool>(false)
        let gate = AsyncStream.makeStream(of: Void.self)

        struct AsyncIterator: AsyncIteratorProtocol {
            let body: SlowBody
            var isFirst = true

            mutating func next() async -> ByteBuffer? {
                if isFirst {
                    isFirst = false
                    return ByteBuffer(string: "first")
                }
                body.readers.wrappingAdd(1, ordering: .sequentiallyConsistent)
                // A task of its own, as a server's body need not end because its reader is cancelled.
                await Task { [gate = body.gate.stream] in for await _ in gate {} }.value
                body.readers.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                return nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }
    }

    /// The upload goes on when the answer has arrived. As long as it reads, the server must not read.
    @Test func anEarlyAnswerLeavesNoReader() async throws {
        let early = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        // The answer comes when the upload reads: an upload that has not begun to read by then is not read again.
        try await withClient([.stall, .send(early), .readBody]) { client, server in
            let body = SlowBody()
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { body.gate.continuation.finish() }
                group.addTask {
                    try await forward(body, to: "file", by: client) { _, answer in
                        let text = String(buffer: try await answer.collect(upTo: 100))
                        #expect(text == "ok")
                        body.isAnswered.store(true, ordering: .sequentiallyConsistent)
                    }
                    let readers = body.readers.load(ordering: .sequentiallyConsistent)
                    #expect(readers == 0)
                    body.isReturned.store(true, ordering: .sequentiallyConsistent)
                }
                try await waitUntil("the upload reads") {
                    body.readers.load(ordering: .sequentiallyConsistent) == 1
                }
                server.release()
                try await waitUntil("the answer has come") {
                    body.isAnswered.load(ordering: .sequentiallyConsistent)
                }
                await allowTime(for: "a return while the upload reads")
                let isReturned = body.isReturned.load(ordering: .sequentiallyConsistent)
                #expect(!isReturned)
                body.gate.continuation.finish()
                try await group.waitForAll()
            }
        }
    }

    @Test func aBodyThatNobodyHasReadComesBackAtOnce() async throws {
        let lent = LentBody(SlowBody())
        await lent.takeBack()
        #expect(try await lent.makeAsyncIterator().next() == nil)
    }
}
