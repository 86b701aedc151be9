import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Testing

/// The code of the guide "Commands"; GuideTests compares it line by line.
@Suite struct CommandsSnippets {
    struct Search: Command {
        var words: String
        var path: String { "search" }
        var query: [QueryItem] { [QueryItem("q", words), QueryItem("page", "1")] }
        typealias Response = [String]
    }

    struct CreateUser: Command {
        var name: String
        var method: HTTPRequest.Method { .post }
        var path: String { "users" }
        var body: RequestBody { .json(["name": name]) }
        struct Response: Decodable, Sendable { var id: Int }
    }

    struct PutPhoto: Command {
        var file: String
        var method: HTTPRequest.Method { .put }
        var path: String { "photo" }
        var headers: HTTPFields { [.contentType: "image/jpeg"] }
        var body: RequestBody { .file(file) }
        typealias Response = NoContent
    }

    struct Report: Command {
        var path: String { "report" }
        var timeouts: Timeouts? { Timeouts(connect: .seconds(2), idle: .seconds(5), total: .seconds(30)) }
        var limits: Limits? { Limits(bodyBytes: 1 << 20) }
        var priority: Priority { .high }
        var redirects: RedirectPolicy? { .follow(limit: 2) }
        typealias Response = Data
    }

    struct CountLines: Command {
        var path: String { "log" }
        func accepts(statusCode: Int) -> Bool { statusCode == 200 || statusCode == 404 }
        func decode(_ response: Errand.Response) throws -> Int {
            response.statusCode == 404 ? 0 : try response.text().split(separator: "\n").count
        }
    }

    struct Filter: Command {
        var method: HTTPRequest.Method { .post }
        var path: String { "filter" }
        var parameters: Parameters? { ["tags": ["a", "b"], "owner": ["id": 1], "open": true] }
        var parameterEncoding: ParameterEncoding { .json }
        typealias Response = JSONValue
    }

    struct Upload: Command {
        var photo: String
        var method: HTTPRequest.Method { .put }
        var path: String { "photos" }
        var body: RequestBody {
            .multipart([.string("Ada", name: "title"), .file(photo, name: "photo", contentType: "image/jpeg")])
        }
        typealias Response = NoContent
    }

    struct Mine: Command {
        var token: String
        var path: String { "me" }
        var authorization: Authorization? { .bearer(token) }
        typealias Response = JSONValue
    }

    struct ListIssues: Command {
        var path: String { "issues" }
        var acceptedContentTypes: ContentTypes { .json }
        var shape: JSONShape? {
            [
                "total": .integer,
                "issues": .array(of: ["id": .integer, "title": .string, "owner": .optional(.nullable(.string))]),
            ]
        }
        typealias Response = JSONValue
    }

    static func moved(_ client: Client) {
        client.reconfigure { settings in
            settings.baseURL = "https://fallback.example.com/"
            settings.tlsPolicies["*.internal"] = .init(caFile: "/etc/service/internal.pem", minimumVersion: .v1_3)
        }
    }

    static func pinned() -> Client {
        let pinned = ConnectionOptions(
            httpVersion: .http2OverTLS,
            tls: .init(
                caFile: "/etc/service/ca.pem", pinnedKeys: ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]),
            proxy: .url("http://proxy.internal:3128", bypass: ["localhost"]))
        let client = Client(configuration: .init(baseURL: "https://api.example.com/", connection: pinned))
        return client
    }

    static func raw(_ client: Client) async throws {
        let response = try await client.run(RawCommand(method: .delete, url: "users/1"))
        print(response.statusCode, response.headers[.contentType] ?? "", response.body.count)
    }

    static func look(_ client: Client) throws {
        let description = try client.describe(CreateUser(name: "Ada"))
        print(description.method, description.url)
        print(try client.curlCommand(for: CreateUser(name: "Ada")))
    }

    @Test func commands() async throws {
        let stub = StubTransport { _ in .response(status: 404) }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        try await Self.raw(client)
        try Self.look(client)
        #expect(try await client.run(CountLines()) == 0)
        #expect(try client.describe(Search(words: "a b")).url == "http://test/search?q=a%20b&page=1")
        #expect(try client.describe(PutPhoto(file: "x")).headers[.contentType] == "image/jpeg")
        #expect(try client.describe(Report()).settings.timeouts.total == .seconds(30))
        let filter = try client.describe(Filter())
        #expect(
            String(decoding: filter.bodyBytes, as: UTF8.self) == #"{"tags":["a","b"],"owner":{"id":1},"open":true}"#)
        #expect(try client.describe(Upload(photo: #filePath)).headers[.contentType]?.hasPrefix("multipart/") == true)
        #expect(try client.describe(Mine(token: "x")).headers[.authorization] == "Bearer x")
        await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(ListIssues()) }
        Self.moved(client)
        #expect(try client.describe(Report()).url == "https://fallback.example.com/report")
        await client.shutdown()
        await Self.pinned().shutdown()
    }
}
