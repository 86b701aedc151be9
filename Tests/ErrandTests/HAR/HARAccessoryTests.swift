import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandLogging
@testable import ErrandModel

private struct Post: Command {
    var method: HTTPRequest.Method { .post }
    var path = "p?token=s3cret&a=1"
    var headers: HTTPFields { [.authorization: "s3cret", .accept: "a/b"] }
    var body: RequestBody { .json(["password": "s3cret", "name": "ada"]) }
    typealias Response = Errand.Response
}

private struct Send: Command {
    var method: HTTPRequest.Method { .put }
    var path = "up"
    var body: RequestBody
    typealias Response = Errand.Response
}

/// The traffic of a client.
@Suite(.timeLimit(.minutes(20))) struct HARAccessoryTests {
    private func client(
        _ accessory: HARAccessory, _ stub: StubTransport, _ change: (inout Client.Configuration) -> Void = { _ in }
    ) -> Client {
        Client.stubbed(stub) { configuration in
            configuration.accessories = [accessory]
            change(&configuration)
        }
    }

    @Test func anExchangeIsAnEntryWithoutSecrets() async throws {
        let traffic = HARAccessory()
        let stub = StubTransport { _ in
            .response(
                status: 200, headers: [.contentType: "application/json", .setCookie: "id=s3cret"],
                body: #"{"access_token": "s3cret", "id": 1}"#)
        }
        _ = try await client(traffic, stub).run(Post())
        let entry = try #require(traffic.har.entries.first)
        #expect(traffic.har.entries.count == 1 && entry.failure == nil && entry.chunks.isEmpty)
        #expect(entry.request.method == "POST" && entry.request.url == "http://test/p?token=REDACTED&a=1")
        #expect(entry.request.headers[.authorization] == "REDACTED" && entry.request.headers[.accept] == "a/b")
        let sent = try #require(entry.request.body)
        #expect(String(decoding: sent.bytes, as: UTF8.self) == #"{"name":"ada","password":"REDACTED"}"#)
        #expect(sent.mimeType == "application/json" && !sent.isTruncated)
        let response = try #require(entry.response)
        #expect(response.status == 200 && response.headers[.setCookie] == "REDACTED")
        #expect(String(decoding: response.body.bytes, as: UTF8.self) == #"{"access_token": "REDACTED", "id": 1}"#)
        #expect(entry.started > .seconds(1_700_000_000))
        #expect(!traffic.har.text().contains("s3cret"))
    }

    @Test func everyTransferHasAnEntry() async throws {
        let traffic = HARAccessory()
        let stub = StubTransport { description in
            description.url.hasSuffix("/raw")
                ? .response(status: 302, headers: [.location: "/next"])
                : .failure(.timeoutIdle)
        }
        let client = client(traffic, stub) { configuration in
            configuration.resilience = Resilience(
                retry: RetryPolicy(maxAttempts: 3, backoff: .none), budget: nil)
        }
        let result = await client.result(of: GetRaw())
        #expect(throws: ErrandError.timeoutIdle) { try result.get() }
        let entries = traffic.har.entries
        #expect(entries.map(\.request.url) == ["http://test/raw"] + Array(repeating: "http://test/next", count: 3))
        #expect(entries.map { $0.response?.status } == [302, nil, nil, nil])
        #expect(entries.map { $0.failure?.kind } == [nil, "timeoutIdle", "timeoutIdle", "timeoutIdle"])
    }

    @Test func aRefusedSubmissionHasNone() async throws {
        let traffic = HARAccessory()
        let client = client(traffic, StubTransport { _ in .refuse(.queueFull) })
        _ = await client.result(of: GetRaw())
        #expect(traffic.har.entries.isEmpty)
    }

    @Test func aStreamHasItsPieces() async throws {
        let traffic = HARAccessory(bodyLimit: 5)
        let stub = StubTransport()
        let client = client(traffic, stub)
        let task = Task {
            var count = 0
            for try await chunk in try await client.stream(GetStream()).body { count += chunk.count }
            return count
        }
        let id = try await stub.opened()
        stub.sendHead(200, [.contentType: "text/plain"], to: id)
        stub.sendChunk(Array("abc".utf8), to: id)
        stub.sendChunk(Array("defg".utf8), to: id)
        stub.end(id)
        #expect(try await task.value == 7)
        let entry = try #require(traffic.har.entries.first)
        #expect(entry.chunks.map(\.size) == [3, 4])
        let response = try #require(entry.response)
        #expect(response.status == 200 && response.headers[.contentType] == "text/plain")
        #expect(response.body.bytes == Array("abcde".utf8) && response.body.isTruncated && response.body.size == 7)
    }

    @Test func anUploadHasItsBytes() async throws {
        let traffic = HARAccessory()
        let stub = StubTransport()
        let client = client(traffic, stub)
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let chunks = [Array(bytes.prefix(30_000)), Array(bytes.dropFirst(30_000))]
        let request = client.start(Send(body: .stream { ChunkedBytes(chunks) }))
        let id = try await stub.opened()
        try await waitUntil("the upload is finished") { stub.upload(of: id).ending == .finished }
        stub.complete(id, with: .response(Response(statusCode: 204)))
        await client.shutdown()
        #expect(request.error == nil)
        #expect(try #require(traffic.har.entries.first).request.body?.bytes == bytes)
    }

    @Test(arguments: [true, false]) func aFileIsReadByChoice(readsFiles: Bool) async throws {
        let file = try TemporaryFile(Array("content".utf8))
        let traffic = HARAccessory(readsFiles: readsFiles)
        let client = client(traffic, StubTransport { _ in .response(status: 204) })
        _ = try await client.run(Send(body: .file(file.path, offset: 3, contentType: "text/plain")))
        let body = try #require(traffic.har.entries.first?.request.body)
        #expect(body.bytes == (readsFiles ? Array("tent".utf8) : []) && body.mimeType == "text/plain")
        #expect(body.isTruncated == !readsFiles && body.size == (readsFiles ? nil : 4))
    }

    @Test func memoryIsBounded() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: String(repeating: "a", count: 5000)) }
        let bounded = HARAccessory(memoryLimit: 12_000, entryLimit: 5)
        let client = client(bounded, stub)
        for _ in 0..<8 { _ = try await client.run(GetRaw()) }
        let har = bounded.har
        #expect(har.entries.map { $0.response?.body.bytes.count } == [5000, 5000, 0, 0, 0])
        #expect(har.entries.map { $0.response?.body.size } == [nil, nil, 5000, 5000, 5000])
        #expect(bounded.dropped == 3 && har.comment == "3 later exchanges are missing")
        #expect(bounded.withoutBodies == 3)
    }

    /// Each piece takes memory as well.
    @Test func piecesAreBounded() async throws {
        let traffic = HARAccessory(memoryLimit: 2000)
        let stub = StubTransport()
        let client = client(traffic, stub)
        let task = Task {
            var count = 0
            for try await chunk in try await client.stream(GetStream()).body { count += chunk.count }
            return count
        }
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        for _ in 0..<100 { stub.sendChunk([1], to: id) }
        stub.end(id)
        #expect(try await task.value == 100)
        let entry = try #require(traffic.har.entries.first)
        #expect(entry.chunks.isEmpty && entry.response?.body.size == 100 && traffic.withoutBodies == 1)
        #expect(entry.weight < 2000)
    }

    @Test func whatACacheAnswersIsNotTraffic() async throws {
        let traffic = HARAccessory()
        let stub = StubTransport { _ in .response(status: 200, body: "a") }
        let client = client(traffic, stub) { $0.settings.cache = .timed(.seconds(86_400)) }
        for _ in 0..<2 { _ = try await client.run(GetRaw()) }
        #expect(traffic.har.entries.count == 1)
    }

    @Test func twoClientsMayShareAnAccessory() async throws {
        let traffic = HARAccessory()
        let stub = StubTransport { _ in .response(status: 200) }
        for _ in 0..<2 { _ = try await client(traffic, stub).run(GetRaw()) }
        #expect(traffic.har.entries.count == 2)
    }

    @Test func theFileIsWritten() async throws {
        let folder = try TestFolder()
        let traffic = HARAccessory(file: folder.path + "/a.har")
        let client = client(traffic, StubTransport { _ in .response(status: 200, body: "a") })
        _ = try await client.run(GetRaw())
        try traffic.finish()
        _ = try await client.run(GetRaw())
        try traffic.finish()
        #expect(try HAR(contentsOf: folder.path + "/a.har").entries.count == 2)
        #expect(throws: ErrandError.invalidOption) { try HARAccessory().finish() }
        let error = #expect(throws: ErrandError.self) { try HARAccessory(file: folder.path + "/no/a.har").finish() }
        #expect(error?.shortDescription == "directoryMissing")
    }
}
