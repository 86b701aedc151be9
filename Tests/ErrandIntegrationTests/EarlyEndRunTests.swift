import Errand
import ErrandTesting
import HTTPTypes
import Testing

/// A server answers before it has the whole body, and goes on reading.
@Suite(.timeLimit(.minutes(20))) struct EarlyEndRunTests {
    private struct Put: Command {
        let values: AsyncStream<[UInt8]>
        let idle: Duration
        var path: String { "both" }
        var method: HTTPRequest.Method { .put }
        var body: RequestBody { .stream(values) }
        var timeouts: Timeouts? { Timeouts(idle: .after(idle), total: .seconds(3600)) }
        typealias Response = Errand.Response
    }

    private func run(_ answer: String, idle: Duration = .seconds(3600)) async throws -> (
        Result<[UInt8], any Error>, ScriptedServer
    ) {
        let server = try ScriptedServer()
        try server.on("/both", [.send(answer), .readBody])
        let result = try await Client.with(Client(configuration: .patient(baseURL: server.url("/"), loops: 1))) {
            client in
            let (values, upload) = AsyncStream.makeStream(of: [UInt8].self)
            upload.yield(Array("first".utf8))
            let response = try await client.stream(Put(values: values, idle: idle))
            let result: Result<[UInt8], any Error>
            do {
                result = .success(try await response.body.collect(upTo: 100))
            } catch {
                result = .failure(error)
            }
            // The sender has waited for the end of the response.
            upload.yield(Array(" last".utf8))
            upload.finish()
            await client.shutdown(.drain(within: .seconds(600)))
            return result
        }
        return (result, server)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nthat", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ])
    func theEndIsToldAndTheUploadGoesOn(answer: String) async throws {
        let (result, server) = try await run(answer)
        // The upload has left the client; the server's thread may still be reading.
        #expect(await server.hasSeen(.init(bodies: 1)))
        #expect(try result.get() == (answer.hasSuffix("that") ? Array("that".utf8) : []))
        let request = try #require(server.requests.first)
        #expect(request.bodyLength == 10, "the whole upload")
    }

    /// The limit of libcurl: where the head does not say how long the body is, its end is told after the upload's, and
    /// an upload that waits for it ends by its idle time.
    @Test func anEndThatOnlyLibcurlKnowsOf() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nthat\r\n0\r\n\r\n"
        let result = try await withEnoughTime("the head has come within the idle time") {
            idle async throws -> Result<[UInt8], any Error>? in
            do {
                return try await run(answer, idle: idle).0
            } catch let error as ErrandError where error == .timeoutIdle {
                // There was no head.
                return nil
            }
        }
        #expect(throws: ErrandError.timeoutIdle) { try result.get() }
    }
}
