import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// The response is over, and the upload is not.
@Suite(.timeLimit(.minutes(20))) struct EarlyEndTests {
    private struct Put: Command {
        let values: AsyncStream<[UInt8]>
        var path: String { "both" }
        var method: HTTPRequest.Method { .put }
        var body: RequestBody { .stream(values) }
        typealias Response = Errand.Response
    }

    private func begin(
        _ client: Client, _ stub: StubTransport, _ status: Int, _ headers: HTTPFields
    ) async throws -> (StreamedResponse, AsyncStream<[UInt8]>.Continuation, TransferID) {
        let (values, upload) = AsyncStream.makeStream(of: [UInt8].self)
        let task = Task { try await client.stream(Put(values: values)) }
        let id = try await stub.opened()
        stub.sendHead(status, headers, to: id)
        return (try await task.value, upload, id)
    }

    @Test(arguments: [200, 204]) func theReaderHearsOfIt(status: Int) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        var headers = HTTPFields()
        if status == 200 { headers[.contentLength] = "4" }
        let (response, upload, id) = try await begin(client, stub, status, headers)
        if status == 200 {
            for chunk in [[1, 2], [3, 4]] as [[UInt8]] { stub.sendChunk(chunk, to: id) }
        }
        #expect(try await response.body.collect(upTo: 10) == (status == 200 ? [1, 2, 3, 4] : []))
        #expect(stub.open == [id] && stub.cancelled.isEmpty)
        upload.yield([9])
        upload.finish()
        try await waitUntil("the upload is closed") { stub.upload(of: id).ending != .open }
        #expect(stub.upload(of: id).bytes == [9])
        stub.end(id, status)
        await client.shutdown()
        #expect(stub.cancelled.isEmpty)
    }

    /// Who has read all and lets go of the response does not end the upload.
    @Test func droppingTheBodyAfterItsEnd() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let upload: AsyncStream<[UInt8]>.Continuation
        let id: TransferID
        do {
            let begun = try await begin(client, stub, 200, [.contentLength: "0"])
            (upload, id) = (begun.1, begun.2)
            for try await _ in begun.0.body { Issue.record("a body of no bytes has none") }
        }
        #expect(stub.cancelled.isEmpty)
        upload.finish()
        try await waitUntil("the upload is closed") { stub.upload(of: id).ending != .open }
        stub.end(id)
        await client.shutdown()
        #expect(stub.cancelled.isEmpty)
    }

    /// Before its end it does.
    @Test func droppingTheBodyBeforeItsEnd() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let id: TransferID
        do {
            let begun = try await begin(client, stub, 200, [.contentLength: "2"])
            id = begun.2
            stub.sendChunk([1], to: id)
            var body = begun.0.body.makeAsyncIterator()
            #expect(try await body.next() == [1])
        }
        await client.shutdown()
        #expect(stub.cancelled == [id])
    }

    /// A length that is not the decoded body's decides nothing.
    @Test func anEncodedBodyEndsWithItsTransfer() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let headers: HTTPFields = [.contentLength: "2", .contentEncoding: "gzip"]
        let (response, upload, id) = try await begin(client, stub, 200, headers)
        stub.sendChunk([1, 2], to: id)
        stub.sendChunk([3], to: id)
        upload.finish()
        try await waitUntil("the upload is closed") { stub.upload(of: id).ending != .open }
        stub.end(id)
        #expect(try await response.body.collect(upTo: 10) == [1, 2, 3])
        await client.shutdown()
    }
}
