import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// What a body that is not there decodes to, and whether it has a shape.
@Suite struct EmptyBodyTests {
    private struct User: Decodable, Sendable, Equatable {
        var name: String
    }

    private struct GetUser: Command {
        var path = "user"
        var method = HTTPRequest.Method.get
        var shape: JSONShape?
        typealias Response = User?
    }

    private struct GetShape: Command {
        var path = "shape"
        var method = HTTPRequest.Method.get
        var shape: JSONShape? { ["name": .string] }
    }

    private struct SendShape: Command {
        var path: String { "" }
        var shape: JSONShape? { ["name": .string] }
        var customRequest: CustomRequest? { CustomRequest(method: .head, url: "http://h/") }
    }

    private func run<C: Command>(_ command: C, _ response: Response) async throws -> C.Response {
        let client = Client.stubbed(.init { _ in .response(response) })
        do {
            let value = try await client.run(command)
            await client.shutdown()
            return value
        } catch {
            await client.shutdown()
            throw error
        }
    }

    @Test(arguments: [(204, ""), (205, ""), (200, ""), (200, " "), (200, "null")])
    func anOptionalIsNil(status: Int, body: String) async throws {
        let response = Response(statusCode: status, body: Array(body.utf8))
        #expect(try await run(GetUser(), response) == nil)
        #expect(try response.decode(User?.self) == nil)
        #expect(try response.decode([Int]?.self) == nil)
        #expect(throws: ErrandError.responseDecodingFailed) { try response.decode(User.self) }
    }

    @Test func anOptionalThatIsThereIsRead() async throws {
        let body = Array(#"{"name":"ada"}"#.utf8)
        #expect(try await run(GetUser(), Response(statusCode: 200, body: body)) == User(name: "ada"))
        await #expect(throws: ErrandError.responseDecodingFailed) {
            try await run(GetUser(), Response(statusCode: 200, body: [0x7B]))
        }
    }

    @Test func aShapeIsOfWhatIsThere() async throws {
        for status in [204, 205] { _ = try await run(GetShape(), Response(statusCode: status)) }
        #expect(try await run(GetUser(shape: ["name": .string]), Response(statusCode: 204)) == nil)
        _ = try await run(GetShape(method: .head), Response(statusCode: 200))
        _ = try await run(SendShape(), Response(statusCode: 200))
        await #expect(throws: ErrandError.shapeMismatch) { try await run(GetShape(), Response(statusCode: 200)) }
        await #expect(throws: ErrandError.shapeMismatch) {
            try await run(GetShape(method: .post), Response(statusCode: 201))
        }
    }

    @Test(arguments: [
        (200, "", HTTPRequest.Method.get, false), (200, "", .head, true), (204, "", .post, true),
        (205, "", .post, true), (304, "", .get, true), (100, "", .get, true), (204, "x", .get, false),
        (200, "x", .head, false), (404, "", .delete, false), (0, "", .get, false),
    ])
    func contentByStatusAndMethod(status: Int, body: String, method: HTTPRequest.Method, expected: Bool) {
        let response = Response(statusCode: status, body: Array(body.utf8))
        #expect(response.isWithoutContent(answering: method) == expected)
    }

    /// On the callback queue others would wait for it.
    @Test func aLargeBodyWithAShapeIsReadInATaskOfItsOwn() async {
        let client = Client.stubbed(.init { _ in .response(status: 200) })
        let large = Response(statusCode: 200, body: [UInt8](repeating: 0x20, count: 70_000))
        let small = Response(statusCode: 200, body: [0x31])
        #expect(client.request(GetShape()).mayWait(.response(large)))
        #expect(!client.request(GetShape()).mayWait(.response(small)))
        #expect(!client.request(GetRaw()).mayWait(.response(large)))
        await client.shutdown()
    }
}
