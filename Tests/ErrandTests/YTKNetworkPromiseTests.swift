import ErrandTesting
import HTTPTypes
import Testing

@testable import Errand

/// What docs/ytknetwork.md promises and no other test looks at.
@Suite struct YTKNetworkPromiseTests {
    private struct Ask: Command {
        var path = "a"
        var method = HTTPRequest.Method.get
        var baseURL: String?
        var priority = Priority.normal
        var body = RequestBody.none
        typealias Response = Errand.Response
    }

    private struct Unencodable: Encodable, Sendable {
        struct Refused: Error {}
        func encode(to encoder: any Encoder) throws { throw Refused() }
    }

    private final class Delegate: RequestDelegate {
        let told = Notes<String>()
        func requestFinished(_ request: AnyRequest) { told.add("finished") }
        func requestFailed(_ request: AnyRequest) { told.add("failed: \(request.error?.shortDescription ?? "")") }
    }

    @Test(arguments: Priority.allCases)
    func prioritiesReachTheTransport(priority: Priority) async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub)
        _ = try await client.run(Ask(priority: priority))
        #expect(stub.submitted.map(\.settings.priority) == [priority])
        await client.shutdown()
    }

    @Test func aBodyThatCannotBeEncodedIsRefused() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub)
        let result = await client.result(of: Ask(method: .post, body: .json(Unencodable())))
        guard case .failure(let error) = result else {
            Issue.record("it was sent")
            return
        }
        #expect(error == .requestEncodingFailed && error.isRefusal && error.underlyingError is Unencodable.Refused)
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    @Test func theDelegateHearsOfAFailure() async {
        let client = Client.stubbed(StubTransport { _ in .response(status: 404) })
        let delegate = Delegate()
        let request = client.request(GetText())
        request.delegate = delegate
        request.start()
        await client.shutdown()
        #expect(delegate.told.all == ["failed: statusNotAccepted"])
    }

    @Test(
        arguments: [
            ("text/plain", [0x68, 0xC3, 0xA9], "hé"), ("text/plain; charset=ISO-8859-1", [0x68, 0xE9], "hé"),
            ("text/plain; charset=\"utf-8\"", [0xE6, 0x97, 0xA5], "日"),
        ] as [(String, [UInt8], String)])
    func textIsReadInTheCharsetOfTheResponse(type: String, bytes: [UInt8], text: String) async throws {
        let response = Response(statusCode: 200, headers: [.contentType: type], body: bytes)
        let client = Client.stubbed(StubTransport { _ in .response(response) })
        #expect(try await client.run(GetText()) == text)
        await client.shutdown()
    }

    @Test func aCommandMayHaveABaseURLOfItsOwn() async throws {
        let client = Client.stubbed(StubTransport { _ in .hold })
        #expect(try client.describe(Ask()).url == "http://test/a")
        #expect(try client.describe(Ask(baseURL: "http://other/v1")).url == "http://other/v1/a")
        await client.shutdown()
    }

    @Test func nothingComesFromACache() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub)
        for _ in 0..<2 {
            let request = client.start(Ask())
            #expect(!request.isFromCache)
        }
        await client.shutdown()
        #expect(stub.submitted.count == 2)
    }

    private struct Judged: Command {
        var path = "a"
        var acceptedContentTypes: ContentTypes { .json }
        var shape: JSONShape? { ["id": .integer, "name": .string] }
        struct Response: Decodable, Sendable { var id: Int }
        struct Refused: Error {}
        var validator: (@Sendable (Response, Errand.Response) async throws -> Void)? {
            { value, _ in if value.id < 0 { throw Refused() } }
        }
    }

    /// Each answer has everything wrong that comes later, too.
    @Test(
        arguments: [
            (500, "text/html", "<html>", ErrandError.statusNotAccepted),
            (200, "text/html", "<html>", .contentTypeNotAccepted),
            (200, "application/json", "<html>", .responseDecodingFailed),
            (200, "application/json", #"{"id": -1}"#, .shapeMismatch),
            (200, "application/json", #"{"id": -1, "name": ""}"#, .validationFailed),
            (200, "application/json", #"{"id": 1, "name": ""}"#, nil),
        ] as [(Int, String, String, ErrandError?)])
    func theFirstJudgeThatRefusesDecides(status: Int, type: String, body: String, error: ErrandError?) async {
        let client = Client.stubbed(
            StubTransport { _ in .response(status: status, headers: [.contentType: type], body: body) })
        let result = await client.result(of: Judged())
        if case .failure(let found) = result {
            #expect(found == error && found.statusCode == status)
        } else {
            #expect(error == nil)
        }
        await client.shutdown()
    }

    @Test(arguments: ["", " "])
    func anEmptyBodyIsNull(body: String) throws {
        #expect(try Response(statusCode: 200, body: Array(body.utf8)).json() == .null)
    }
}
