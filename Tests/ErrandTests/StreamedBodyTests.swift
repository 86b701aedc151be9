import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient

@Suite(.timeLimit(.minutes(20))) struct StreamedBodyTests {
    private func with(_ body: (Client, StubTransport, StreamedResponse, TransferID) async throws -> Void) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { try await client.stream(GetStream()) }
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        try await body(client, stub, try await task.value, id)
        await client.shutdown(.cancel)
    }

    /// Sixty thousand chunks of one byte: what each cost grew with the number of those that were kept before it.
    @Test func smallChunksAreReadTogether() async throws {
        try await with { client, stub, response, id in
            let bytes = (0..<60_000).map { UInt8(truncatingIfNeeded: $0) }
            for byte in bytes { stub.sendChunk([byte], to: id) }
            stub.end(id)
            try await waitUntil("the request has ended") { response.request.state.isFinished }
            var (read, pieces) = ([UInt8](), 0)
            for try await piece in response.body {
                read += piece
                pieces += 1
            }
            #expect(read == bytes)
            #expect(pieces < 10)
        }
    }

    /// Two iterators of one body: each byte goes to one of them, in order, all credit comes back, and both end.
    @Test func iteratorsShareThePosition() async throws {
        try await with { client, stub, response, id in
            let readers = (0..<2).map { _ in
                Task {
                    var read: [UInt8] = []
                    for try await piece in response.body { read += piece }
                    return read
                }
            }
            for byte in UInt8(0)..<200 {
                stub.sendChunk([byte], to: id)
                if byte.isMultiple(of: 20) { await Task.yield() }
            }
            try await waitUntil("200 bytes of credit were granted") { stub.granted(to: id) >= 200 }
            stub.end(id)
            let parts = (try await readers[0].value, try await readers[1].value)
            #expect(parts.0 == parts.0.sorted())
            #expect(parts.1 == parts.1.sorted())
            #expect((parts.0 + parts.1).sorted() == Array(0..<200))
        }
    }

    /// Each grant wakes the loop, and a body that has arrived needs no credit. Beyond a quarter of the credit it is given
    /// back all the same: the transfer would be paused at its end, and never end.
    @Test(arguments: [(pieces: 1, granted: 0), (pieces: 3, granted: 131_072)])
    func aWholeBodyNeedsNoCredit(pieces: Int, granted: Int) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { try await client.stream(GetStream()) }
        let id = try await stub.opened()
        stub.sendHead(200, [.contentLength: "\(pieces * 65_536)"], to: id)
        let piece = [UInt8](repeating: 7, count: 65_536)
        for _ in 0..<pieces { stub.sendChunk(piece, to: id) }
        let response = try await task.value
        var iterator = response.body.makeAsyncIterator()
        for _ in 0..<pieces {
            let read = try await iterator.next()
            #expect(read == piece)
        }
        #expect(stub.granted(to: id) == granted)
        stub.end(id)
        let last = try await iterator.next()
        #expect(last == nil)
        #expect(stub.granted(to: id) == granted)
        await client.shutdown(.cancel)
    }

    /// A closure of a redirect policy may block its queue; streams without one share a queue.
    @Test func aRedirectClosureDelaysNoOtherStream() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        #expect(client.queueOfStream(with: .follow) === client.queueOfStream(with: .doNotFollow))
        let deciding = RedirectPolicy.follow { _ in .stop }
        #expect(client.queueOfStream(with: deciding) !== client.queueOfStream(with: deciding))
        #expect(client.queueOfStream(with: deciding) !== client.queueOfStream(with: .follow))
        await client.shutdown(.cancel)
    }

    /// As with every sequence of a request.
    @Test func leavingTheLoopStopsTheRequest() async throws {
        try await with { _, stub, response, id in
            stub.sendChunk([1], to: id)
            stub.sendChunk([2], to: id)
            for try await _ in response.body { break }
            #expect(stub.cancelled == [id])
            withExtendedLifetime(response) {}
        }
    }

    @Test func leavingTheLinesStopsTheRequest() async throws {
        try await with { _, stub, response, id in
            stub.sendChunk(Array("a\nb\n".utf8), to: id)
            for try await _ in response.body.lines { break }
            #expect(stub.cancelled == [id])
            withExtendedLifetime(response) {}
        }
    }

    @Test func leavingTheJSONLinesStopsTheRequest() async throws {
        try await with { _, stub, response, id in
            stub.sendChunk(Array("1\n2\n".utf8), to: id)
            for try await _ in response.body.jsonLines(of: Int.self) { break }
            #expect(stub.cancelled == [id])
            withExtendedLifetime(response) {}
        }
    }

    @Test func leavingTheEventsOfABodyStopsTheRequest() async throws {
        try await with { _, stub, response, id in
            stub.sendChunk(Array("data: a\n\ndata: b\n\n".utf8), to: id)
            for try await _ in response.body.serverSentEvents { break }
            #expect(stub.cancelled == [id])
            withExtendedLifetime(response) {}
        }
    }

    @Test func leavingTheEventsStopsTheRequest() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { for try await _ in client.events(GetStream()) { break } }
        let id = try await stub.opened()
        stub.sendHead(200, [.contentType: "text/event-stream"], to: id)
        stub.sendChunk(Array("data: a\n\ndata: b\n\n".utf8), to: id)
        try await task.value
        try await waitUntil("the request is stopped") { stub.cancelled == [id] }
        // The sequence does not connect again.
        await client.shutdown()
        #expect(stub.submitted.count == 1)
    }

    @Test func aResumableBodyIsReadOn() async throws {
        try await with { _, stub, response, id in
            var read: [UInt8] = []
            for byte in UInt8(1)...3 {
                stub.sendChunk([byte], to: id)
                for try await piece in response.body.resumable {
                    read += piece
                    break
                }
                #expect(stub.cancelled.isEmpty)
            }
            stub.sendChunk([4], to: id)
            stub.end(id)
            read += try await response.body.collect(upTo: 10)
            #expect(read == [1, 2, 3, 4])
        }
    }

    /// One of two waiting readers is cancelled: the request is stopped, and the other one is told so.
    @Test func aCancelledIteratorStopsTheOther() async throws {
        try await with { client, stub, response, id in
            let readers = (0..<2).map { _ in Task { for try await _ in response.body {} } }
            await allowTime(for: "a cancelled reader that waits")
            readers[0].cancel()
            for reader in readers { await #expect(throws: CancellationError.self) { try await reader.value } }
            #expect(stub.cancelled == [id])
        }
    }
}
