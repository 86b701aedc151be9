import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Testing

private struct TextMethod: Command {
    var method = "PATCH"
    var path = "x"
}

private struct Dictionaries: Command {
    var path = "x"
    var headers = ["X-B": "2", "X-A": "1"]
    var query = ["b": "2", "a": "1"]
}

private struct Literals: Command {
    var path = "x"
    var headers: KeyValuePairs<String, String> { ["X-B": "2", "X-A": "1", "X-B": "3"] }
    var query: KeyValuePairs<String, String> { ["b": "2", "a": "1"] }
}

private struct Pairs: Command {
    var path = "x"
    var headers = [("X-B", "2"), ("X-A", "1")]
    var query = [("b", "2"), ("a", "1 1")]
}

private struct Flags: Command {
    var path = "x"
    var headers: [HTTPField.Name: String] { [.accept: "a/b"] }
    var query: [(String, String?)] { [("b", nil), ("a", "1")] }
}

private struct Unordered: Command {
    var path = "x"
    var headers: [HTTPField] { [HTTPField(name: .accept, value: "a/b")] }
    var query: [String: String?] { ["b": nil, "a": "1"] }
}

private struct DataBody: Command {
    var method = "POST"
    var path = "x"
    var body: Data { Data("data".utf8) }
}

private struct BytesBody: Command {
    var method = "POST"
    var path = "x"
    var body: [UInt8] { Array("bytes".utf8) }
}

private struct TextBody: Command {
    var method = "POST"
    var path = "x"
    var body = "text"
}

private struct NoBody: Command {
    var path = "x"
    var body: RequestBody?
}

/// What is optional in the requirements, without an optional.
private struct Present: Command {
    var path = "x"
    var baseURL: String { "http://other/v1" }
    var urlRules: URLRules { URLRules(pathJoining: .append) }
    var parameters: Parameters { ["p": 1] }
    var authorization: Authorization { .bearer("t") }
    var timeouts: Timeouts { Timeouts(total: .seconds(7000)) }
    var limits: Limits { Limits(bodyBytes: 70) }
    var connection: ConnectionOptions { ConnectionOptions() }
    var redirects: RedirectPolicy { .doNotFollow }
    var cache: CachePolicy { .off }
    var shape: JSONShape { .object(["a": .integer]) }
    var acceptedStatusCodes: ClosedRange<Int> { 200...201 }
    var acceptedContentTypes: [String] { ["application/json"] }
    var validator: @Sendable (Errand.Response, Errand.Response) async throws -> Void {
        { _, response in if response.statusCode == 201 { throw CancellationError() } }
    }
}

private struct ThroughCDN: Command {
    var path = "x"
    var usesCDN: Bool { true }
    var cdnURL: String { "http://cdn/" }
}

private struct Whole: Command {
    var path = ""
    var customRequest: CustomRequest { CustomRequest(method: .put, url: "http://whole/") }
}

private struct Tag: PreparingInterceptor {
    func prepare(
        _ request: RequestDescription, in context: InterceptionContext
    ) async throws -> RequestDescription {
        var request = request
        request.url += "?tagged"
        return request
    }
}

private struct Intercepted: Command {
    var path = "x"
    var interceptors = [Tag()]
}

/// Commands that wrap a group.
private struct WrappingBatch: Command {
    let batch: Batch<String>
    var path = ""
    var coordinator: GroupCoordinator { batch.coordinator }
    func decode(_ response: Errand.Response) throws -> BatchResult<String> { try batch.decode(response) }
}

private struct PerhapsWrappingBatch: Command {
    let batch: Batch<String>?
    var path = "x"
    var coordinator: GroupCoordinator? { batch?.coordinator }
    func decode(_ response: Errand.Response) throws -> BatchResult<String> {
        throw ErrandError.responseDecodingFailed
    }
}

/// What many commands have in common.
private protocol Service: Command {}

extension Service {
    var headers: [String: String] { ["X-Service": "1"] }
    var timeouts: Timeouts { Timeouts(total: .seconds(3)) }
}

private struct OfService: Service {
    var path = "x"
    typealias Response = String
}

/// One that passes on what another one says.
private struct Wrapping<C: Command>: Command {
    let base: C
    var path: String { base.path }
    var givenMethod: HTTPRequest.Method { get throws(ErrandError) { try base.givenMethod } }
    var givenHeaders: HTTPFields { get throws(ErrandError) { try base.givenHeaders } }
    var givenBody: RequestBody { base.givenBody }
    var givenQuery: [QueryItem] { base.givenQuery }
}

/// A member is sent whatever type it has of those that are taken.
@Suite struct CommandMembersTests {
    private let stub = StubTransport { _ in .response(status: 200, body: "{\"a\": 1}") }

    /// What `command` sends.
    private func sent(_ command: some Command, _ stub: StubTransport? = nil) async throws -> RequestDescription {
        let stub = stub ?? self.stub
        let client = Client.stubbed(stub)
        _ = try await client.run(command)
        await client.shutdown()
        return try #require(stub.submitted.last)
    }

    private func fields(_ command: some Command, _ names: [String]) async throws -> [String] {
        let sent = try await sent(command)
        return sent.headers.fields.filter { names.contains($0.name.rawName) }.map { "\($0.name): \($0.value)" }
    }

    private func body(_ command: some Command) async throws -> (String, String?) {
        let sent = try await sent(command)
        #expect(sent.method == .post)
        let bytes: [UInt8] =
            switch sent.body {
            case .bytes(let bytes): bytes
            case .data(let data): Array(data)
            default: []
            }
        return (String(decoding: bytes, as: UTF8.self), sent.headers.fields[.contentType])
    }

    @Test func aMethodMayBeText() async throws {
        #expect(try await sent(TextMethod()).method == .patch)
        #expect(try await sent(TextMethod(method: "PURGE")).method.rawValue == "PURGE")
    }

    @Test func aMethodThatIsNoTokenFailsBeforeAnythingIsSent() async throws {
        let client = Client.stubbed(stub)
        let error = await #expect(throws: ErrandError.self) { try await client.run(TextMethod(method: "GET /")) }
        #expect(error == .invalidMethod)
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    @Test func headersMayBeDictionariesAndPairs() async throws {
        #expect(try await fields(Dictionaries(), ["X-A", "X-B"]) == ["X-A: 1", "X-B: 2"])
        #expect(try await fields(Literals(), ["X-A", "X-B"]) == ["X-B: 2", "X-A: 1", "X-B: 3"])
        #expect(try await fields(Pairs(), ["X-A", "X-B"]) == ["X-B: 2", "X-A: 1"])
        #expect(try await fields(Flags(), ["Accept"]) == ["Accept: a/b"])
        #expect(try await fields(Unordered(), ["Accept"]) == ["Accept: a/b"])
    }

    @Test(arguments: [["X A": "1"], ["X-A": "1\r\nX-B: 2"]])
    func headersThatAreNoneFailBeforeAnythingIsSent(headers: [String: String]) async throws {
        let command = Dictionaries(headers: headers)
        let client = Client.stubbed(stub)
        let error = await #expect(throws: ErrandError.self) { try await client.run(command) }
        #expect(error == .invalidHeader)
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    @Test func queriesMayBeDictionariesAndPairs() async throws {
        #expect(try await sent(Dictionaries()).url == "http://test/x?a=1&b=2")
        #expect(try await sent(Literals()).url == "http://test/x?b=2&a=1")
        #expect(try await sent(Pairs()).url == "http://test/x?b=2&a=1%201")
        #expect(try await sent(Flags()).url == "http://test/x?b&a=1")
        #expect(try await sent(Unordered()).url == "http://test/x?a=1&b")
    }

    @Test func bodiesMayBeDataBytesAndText() async throws {
        #expect(try await body(DataBody()) == ("data", "application/octet-stream"))
        #expect(try await body(BytesBody()) == ("bytes", "application/octet-stream"))
        #expect(try await body(TextBody()) == ("text", "text/plain; charset=utf-8"))
        guard case .none = try await sent(NoBody()).body else {
            Issue.record("a body was sent")
            return
        }
    }

    @Test func whatMayBeNilNeedNotBeOptional() async throws {
        let json = StubTransport { _ in
            .response(status: 200, headers: [.contentType: "application/json"], body: "{\"a\": 1}")
        }
        let sent = try await sent(Present(), json)
        #expect(sent.url == "http://other/v1/x?p=1")
        #expect(sent.headers.fields[.authorization] == "Bearer t")
        #expect(sent.settings.timeouts.total == .seconds(7000))
        #expect(sent.settings.limits.bodyBytes == 70)
        #expect(try await self.sent(ThroughCDN()).url == "http://cdn/x")
        let whole = try await self.sent(Whole())
        #expect(whole.method == .put)
        #expect(whole.url == "http://whole/")
    }

    @Test(arguments: [
        (302, "application/json", "{\"a\": 1}", ErrandError.statusNotAccepted),
        (201, "application/json", "{\"a\": 1}", .validationFailed),
        (200, "text/plain", "{\"a\": 1}", .contentTypeNotAccepted),
        (200, "application/json", "{\"a\": true}", .shapeMismatch),
    ])
    func theJudgementNeedNotBeOptional(status: Int, type: String, body: String, expected: ErrandError) async throws {
        let other = StubTransport { _ in
            .response(status: status, headers: [.contentType: type, .location: "/y"], body: body)
        }
        let error = await #expect(throws: ErrandError.self) { try await sent(Present(), other) }
        #expect(error == expected)
    }

    @Test func interceptorsMayBeOfOneType() async throws {
        #expect(try await sent(Intercepted()).url == "http://test/x?tagged")
    }

    @Test func anExtensionOfAProtocolMaySayWhatManyCommandsDo() async throws {
        let sent = try await sent(OfService())
        #expect(sent.headers.fields[HTTPField.Name("X-Service")] == "1")
        #expect(sent.settings.timeouts.total == .seconds(3))
    }

    @Test func aCommandMayWrapAnother() async throws {
        #expect(try await body(Wrapping(base: TextBody())) == ("text", "text/plain; charset=utf-8"))
        #expect(try await sent(Wrapping(base: Pairs())).url == "http://test/x?b=2&a=1%201")
        #expect(try await fields(Wrapping(base: Pairs()), ["X-A", "X-B"]) == ["X-B: 2", "X-A: 1"])
    }

    @Test func aCommandMayWrapAGroup() async throws {
        let batch = Batch([OfService(path: "a"), OfService(path: "b")])
        let client = Client.stubbed(stub)
        #expect(try await client.run(WrappingBatch(batch: batch)).values.count == 2)
        #expect(try await client.run(PerhapsWrappingBatch(batch: batch)).values.count == 2)
        #expect(stub.submitted.count == 4)
        await #expect(throws: ErrandError.self) { try await client.run(PerhapsWrappingBatch(batch: nil)) }
        #expect(stub.submitted.last?.url == "http://test/x")
        await client.shutdown()
    }
}
