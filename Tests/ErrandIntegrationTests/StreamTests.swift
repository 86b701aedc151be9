import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

private struct Ask: Command {
    var path: String
    var method = HTTPRequest.Method.get
    var body = RequestBody.empty
    var limits: Limits?
    var redirects: RedirectPolicy?
    var interceptors: [any Interceptor] = []
    var acceptedContentTypes = ContentTypes.any
    typealias Response = Errand.Response
}

/// Replays what was refused.
private struct ReplayUnauthorized: ReplayingInterceptor {
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        result.response?.statusCode == 401
    }
}

private func answer(_ status: String, _ body: String, _ fields: String = "") -> ScriptedServer.Step {
    .send("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
}

@Suite(.timeLimit(.minutes(20))) struct StreamTests {
    private func with(
        _ change: (inout Client.Configuration) -> Void = { _ in },
        _ body: (Client, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        var configuration = Client.Configuration.patient(baseURL: server.url(), loops: 1)
        change(&configuration)
        try await Client.with(Client(configuration: configuration)) { try await body($0, server) }
    }

    /// 64 MiB through a reader that waits: the server gets no further than credit and sockets allow, and every byte comes.
    @Test func aSlowReaderHoldsTheServerBack() async throws {
        try await with { client, server in
            let size = 64 << 20
            try server.on(
                "/big",
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
                    .sendRepeated("0123456789abcdef", times: size / 16),
                ])
            let response = try await client.stream(Ask(path: "big"))
            #expect(response.statusCode == 200)
            #expect(response.header(.contentLength) == "\(size)")
            await allowTime(for: "a server that sends more than the reader has room for", .milliseconds(300))
            let ahead = server.counts.bytesSent
            #expect(ahead < 16 << 20, "the server was not held back")
            var total = 0
            for try await chunk in response.body { total += chunk.count }
            #expect(total == size)
            #expect(response.request.state.isFinished)
            #expect(response.request.metrics?.bytesReceived == UInt64(size))
            #expect(response.request.metrics?.remoteAddress != nil)
        }
    }

    @Test func redirectsReplaysAndRefusals() async throws {
        try await with { client, server in
            try server.on("/from", [answer("302 Found", "moved", "Location: /to\r\n")])
            try server.on("/to", [answer("200 OK", "here")])
            try server.on("/missing", [answer("404 Not Found", "nothing here")])
            try server.on("/html", [answer("200 OK", "<p>", "Content-Type: text/html\r\n")])

            let response = try await client.stream(Ask(path: "from"))
            #expect(try await response.body.collect(upTo: 100) == Array("here".utf8))
            #expect(response.request.attempts.map { $0.response?.statusCode } == [302, 200])

            do {
                _ = try await client.stream(Ask(path: "missing"))
                #expect(Bool(false), "a 404 was streamed")
            } catch let error as ErrandError {
                #expect(error == .statusNotAccepted)
                #expect(error.response?.body.bytes == Array("nothing here".utf8))
            }
            await #expect(throws: ErrandError.contentTypeNotAccepted) {
                _ = try await client.stream(Ask(path: "html", acceptedContentTypes: .json))
            }
        }
    }

    /// A redirect that is not followed is the response, with all of its body, not with the first MiB.
    @Test(arguments: [false, true]) func aRedirectThatIsNotFollowed(isStopped: Bool) async throws {
        struct TakeAll: Command {
            var path = "from"
            var redirects: RedirectPolicy?
            typealias Response = Errand.Response
            var acceptedStatusCodes: StatusCodes { .any }
        }
        try await with { client, server in
            let location = isStopped ? "/to" : "http://"
            try server.on(
                "/from",
                [
                    .send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 3000000\r\n\r\n"),
                    .sendRepeated("0123456789", times: 300_000),
                ])
            let asked = Atomic<Int>(0)
            let policy = RedirectPolicy.follow { _ in
                asked.add(1, ordering: .relaxed)
                return .stop
            }
            let response = try await client.stream(TakeAll(redirects: isStopped ? policy : nil))
            #expect(response.statusCode == 302)
            #expect(try await response.body.collect(upTo: 1 << 30).count == 3_000_000)
            #expect(asked.load(ordering: .relaxed) == (isStopped ? 1 : 0))
        }
    }

    /// What nobody will read is not read to its end, which may never come.
    @Test func endlessBodiesThatNobodyReads() async throws {
        try await with { client, server in
            let endless = ScriptedServer.Step.sendRepeated(String(repeating: "x", count: 10_000), times: nil)
            try server.on("/missing", [.send("HTTP/1.1 404 Not Found\r\n\r\n"), endless])
            try server.on("/from", [.send("HTTP/1.1 302 Found\r\nLocation: /to\r\n\r\n"), endless])
            try server.on("/to", [answer("200 OK", "here")])
            let error = await #expect(throws: ErrandError.self) {
                _ = try await client.stream(Ask(path: "missing"))
            }
            #expect(error == .statusNotAccepted)
            #expect(error?.response?.body.count == 1 << 20)
            let response = try await client.stream(Ask(path: "from"))
            #expect(try await response.body.collect(upTo: 100) == Array("here".utf8))
            #expect(response.request.attempts.map { $0.response?.statusCode } == [302, 200])
        }
    }

    @Test func trailersAndTheHeadAsItCame() async throws {
        try await with { client, server in
            let head = "HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n"
            try server.on("/sum", [.send(head + "\r\n3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n")])
            let response = try await client.stream(Ask(path: "sum"))
            #expect(try await response.body.collect(upTo: 100) == Array("abc".utf8))
            let name = try #require(HTTPField.Name("X-Sum"))
            #expect(response.request.response?.trailers[name] == "9")
            #expect(response.trailers[name] == "9")
            #expect(response.request.response?.rawHead == Array(head.utf8))
        }
    }

    @Test func aReplayBeforeTheCallerSeesAHead() async throws {
        let stub = StubTransport()
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let task = Task { try await client.stream(Ask(path: "x", interceptors: [ReplayUnauthorized()])) }
        for status in [401, 200] {
            try await waitUntil("a transfer is open") { !stub.open.isEmpty }
            let id = try #require(stub.open.first)
            stub.send(.head(Response(statusCode: status)), to: id)
            stub.send(.chunk(Response(statusCode: 0, body: Array("body \(status)".utf8))), to: id)
            stub.complete(id, with: .response(Response(statusCode: status)))
        }
        let response = try await task.value
        #expect(try await response.body.collect(upTo: 100) == Array("body 200".utf8))
        #expect(stub.submitted.count == 2)
        #expect(stub.submitted.allSatisfy { $0.delivery == .streamed })
        await client.shutdown()
    }

    @Test func aBodyThatBreaksOffThrowsAfterWhatCame() async throws {
        try await with { client, server in
            try server.on(
                "/half",
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .sleep(milliseconds: 20),
                    .close,
                ])
            let response = try await client.stream(Ask(path: "half"))
            var bytes: [UInt8] = []
            await #expect(throws: ErrandError.partialBody) {
                for try await chunk in response.body { bytes += chunk }
            }
            #expect(bytes == Array("half".utf8))
            #expect(response.request.error == .partialBody)
        }
    }

    /// Three ways to lose interest; each ends the request, and the server sees its connection go.
    @Test(arguments: ["drop", "cancel", "stop"]) func losingInterest(way: String) async throws {
        try await with { client, server in
            try server.on(
                "/endless",
                [
                    .send("HTTP/1.1 200 OK\r\n\r\n"), .sendRepeated("x", times: nil),
                ])
            let request: AnyRequest
            do {
                let response = try await client.stream(Ask(path: "endless"))
                request = response.request
                switch way {
                case "cancel":
                    let task = Task { for try await _ in response.body {} }
                    try await waitUntil("the reader reads") { server.counts.bytesSent > 1 << 20 }
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                case "stop":
                    request.stop()
                    await #expect(throws: CancellationError.self) { for try await _ in response.body {} }
                default:
                    break
                }
            }
            try await waitUntil("the request has ended") { request.state.isFinished }
            #expect(request.state == .cancelled)
            #expect(await server.hasSeen(.init(closed: 1)))
        }
    }

    @Test func cancelledBeforeTheHead() async throws {
        try await with { client, server in
            try server.on("/silent", [.stall])
            let task = Task { try await client.stream(Ask(path: "silent")) }
            #expect(await server.hasSeen(.init(requests: 1)))
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }

    /// A limit counts where it was asked for, and the default does not apply.
    @Test func limits() async throws {
        try await with { client, server in
            try server.on(
                "/big",
                [
                    .send("HTTP/1.1 200 OK\r\n\r\n"), .sendRepeated("0123456789", times: 100), .close,
                ])
            let response = try await client.stream(Ask(path: "big", limits: Limits(bodyBytes: 999)))
            await #expect(throws: ErrandError.limitBodyBytes) { for try await _ in response.body {} }
            let whole = try await client.stream(Ask(path: "big"))
            await #expect(throws: ErrandError.limitBodyBytes) { _ = try await whole.body.collect(upTo: 999) }
        }
    }

    // MARK: Uploads

    private struct Parts: AsyncSequence {
        let count: Int
        var failure: (any Error)?
        struct AsyncIterator: AsyncIteratorProtocol {
            var left: Int
            let failure: (any Error)?
            mutating func next() async throws -> [UInt8]? {
                guard left > 0 else {
                    if let failure { throw failure }
                    return nil
                }
                left -= 1
                return [UInt8](repeating: UInt8(left & 0xFF), count: 10_000)
            }
        }
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: count, failure: failure) }
    }

    private struct Broken: Error {}

    @Test(arguments: [nil, 5_000_000] as [Int64?]) func aSequenceIsUploaded(length: Int64?) async throws {
        try await with { client, server in
            try server.on("/in", [.readBodySlowly(bytes: 100_000, milliseconds: 1), answer("200 OK", "ok")])
            let body = RequestBody.stream(length: length) { Parts(count: 500) }
            let response = try await client.run(Ask(path: "in", method: .put, body: body))
            #expect(response.statusCode == 200)
            #expect(server.requests.first?.bodyLength == 5_000_000)
            #expect(server.requests.first?.values(of: "content-length") == length.map { ["\($0)"] } ?? [])
        }
    }

    /// 307 asks for the body once more: made again where it can be, a typed error where not.
    @Test func aSequenceIsSentAgain() async throws {
        try await with { client, server in
            try server.on("/from", [.readBody, answer("307 Temporary Redirect", "", "Location: /to\r\n")])
            try server.on("/to", [.readBody, answer("200 OK", "ok")])
            let again = RequestBody.stream(length: 30_000) { Parts(count: 3) }
            #expect(try await client.run(Ask(path: "from", method: .post, body: again)).statusCode == 200)
            #expect(server.requests.map(\.bodyLength) == [30_000, 30_000])
            let once = RequestBody.stream(AsyncStream<[UInt8]> { $0.finish() })
            await #expect(throws: ErrandError.uploadNotReplayable) {
                try await client.run(Ask(path: "from", method: .post, body: once))
            }
        }
    }

    @Test func aSourceThatFailsSaysWhy() async throws {
        try await with { client, server in
            try server.on("/in", [.readBody, answer("200 OK", "ok")])
            let body = RequestBody.stream { Parts(count: 3, failure: Broken()) }
            guard case .failure(let error) = await client.result(of: Ask(path: "in", method: .put, body: body)) else {
                return #expect(Bool(false), "it succeeded")
            }
            #expect(error == .uploadFailed)
            #expect(error.underlyingError is Broken)
        }
    }

    /// A sequence that never gives a byte holds nobody who stops.
    @Test func aHungSourceIsCancelled() async throws {
        try await with { client, server in
            try server.on("/in", [.readBody, answer("200 OK", "ok")])
            let body = RequestBody.stream { AsyncStream<[UInt8]> { _ in } }
            let task = Task { try await client.run(Ask(path: "in", method: .put, body: body)) }
            #expect(await server.hasSeen(.init(requests: 1)))
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }
}
