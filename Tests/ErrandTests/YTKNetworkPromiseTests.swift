import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// What docs/ytknetwork.md promises and no other test looks at.
@Suite struct YTKNetworkPromiseTests {
    private struct Ask: Command {
        var path = "a"
        var method = HTTPRequest.Method.get
        var baseURL: String?
        var priority = Priority.normal
        var body = RequestBody.empty
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

    @Test func aCommandGetsUnlessItSaysOtherwise() throws {
        struct Bare: Command { var path: String { "a" } }
        #expect(try Client.stubbed(StubTransport()).describe(Bare()).method == .get)
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

    @Test func filtersComeAndGoWhileTheClientRuns() throws {
        let client = Client.stubbed(StubTransport())
        client.reconfigure { $0.urlFilters.append(QueryParameterFilter(["v": "1"])) }
        #expect(try client.describe(Ask()).url == "http://test/a?v=1")
        client.reconfigure { $0.urlFilters = [] }
        #expect(try client.describe(Ask()).url == "http://test/a")
    }

    @Test func whatIsSentIsShownAfterRedirectsToo() async throws {
        let client = Client.stubbed(
            StubTransport { description in
                description.url.hasSuffix("a")
                    ? .response(status: 303, headers: [.location: "http://other/b"]) : .response(status: 200)
            }
        ) { $0.authorization = .bearer("t") }
        let request = client.request(Ask(method: .post, body: .string("x")))
        #expect(request.transferDescription == nil && request.url == nil)
        let first = try client.describe(request.command)
        #expect(first.method == .post && first.url == "http://test/a" && first.headers[.authorization] == "Bearer t")
        request.start()
        await client.shutdown()
        let last = try #require(request.transferDescription)
        #expect(last.method == .get && last.url == "http://other/b" && last.headers[.authorization] == nil)
        #expect(last.bodyBytes.isEmpty && request.url == "http://other/b")
    }

    @Test func requestsHaveNumbersOfTheirOwn() {
        let clients = [Client.stubbed(StubTransport()), Client.stubbed(StubTransport())]
        let numbers = clients.flatMap { client in (0..<10).map { _ in client.request(Ask()).id } }
        #expect(Set(numbers).count == 20)
    }

    private struct Lenient: Command {
        var path = "a"
        var acceptedStatusCodes: StatusCodes { [404] }
        typealias Response = String
    }

    @Test(arguments: [(404, true), (200, false)])
    func theCommandSaysWhichStatusIsASuccess(status: Int, isSuccess: Bool) async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: status, body: "b") })
        let result = await client.result(of: Lenient())
        if isSuccess {
            #expect(try result.get() == "b")
        } else {
            #expect(throws: ErrandError.statusNotAccepted) { try result.get() }
        }
        await client.shutdown()
    }

    @Test func foundationsErrorLiesBeneath() async {
        struct Number: Command {
            var path: String { "a" }
            struct Response: Decodable, Sendable { var number: Int }
        }
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: #"{"number": "x"}"#) })
        let request = client.start(Number())
        await client.shutdown()
        guard case .typeMismatch(_, let context) = request.error?.underlyingError as? DecodingError else {
            Issue.record("not Foundation's: \(String(describing: request.error?.underlyingError))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["number"])
    }

    @Test func whatCameBeforeAnErrorIsKept() async {
        let half = Response(statusCode: 206, body: Array("half".utf8))
        let client = Client.stubbed(StubTransport { _ in .failure(.partialBody.with(response: half)) })
        let request = client.start(Ask())
        await client.shutdown()
        #expect(request.error == .partialBody && request.value == nil)
        #expect(request.response?.statusCode == 206 && request.response?.body.bytes == Array("half".utf8))
    }

    @Test(
        arguments: [
            ("application/json", true), ("text/json; charset=utf-8", true), ("text/javascript", true),
            ("application/problem+json", true), ("text/html", false), ("application/xml", false),
        ])
    func jsonComesInTheseTypes(type: String, isTaken: Bool) {
        #expect(ContentTypes.json.accepts(contentType: type) == isTaken)
    }

    @Test(
        arguments: [
            ("application/xml", true), ("text/xml", true), ("application/atom+xml", true), ("application/json", false),
        ])
    func xmlComesInTheseTypes(type: String, isTaken: Bool) {
        #expect(ContentTypes.xml.accepts(contentType: type) == isTaken)
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
