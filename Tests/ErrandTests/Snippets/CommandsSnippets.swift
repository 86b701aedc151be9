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

    struct GetPhotos: Command {
        var user: String
        var path: String { "users/\(segment: user)/photos" }
        typealias Response = [String]
    }

    struct Convert: Command {
        var method: HTTPRequest.Method { .post }
        var path: String { "convert" }
        var query: [QueryItem] { [QueryItem("unit", "m/s & %")] }
        var body: RequestBody { .form([QueryItem("sum", "1 + 1 = 2")]) }
        typealias Response = NoContent
    }

    struct AddMeeting: Command {
        var start: Date
        var method: HTTPRequest.Method { .post }
        var path: String { "meetings" }
        var body: RequestBody { .json(["start": start]) }
        typealias Response = NoContent
    }

    struct GetTeam: Command {
        var path: String { "team" }
        typealias Response = JSONValue
    }

    struct GetPicture: Command {
        var name: String
        var path: String { "pictures/\(name)" }
        var usesCDN: Bool { true }
        typealias Response = Data
    }

    struct APIVersion: URLFilter {
        func filter(_ url: String, for command: any Command) -> String { "v2/" + url }
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
        var acceptedStatusCodes: StatusCodes { [200, 404] }
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

    struct FilterByQuery: Command {
        var path: String { "filter" }
        var parameters: Parameters? { ["tags": ["a", "b"], "owner": ["id": 1], "open": true] }
        var parameterEncoding: ParameterEncoding {
            var style = QueryStyle()
            style.arrays = .comma
            style.nesting = .dots
            style.booleans = .literal
            return .query(style)
        }
        typealias Response = JSONValue
    }

    struct PutLog: Command {
        var lines: [String]
        var method: HTTPRequest.Method { .put }
        var path: String { "log" }
        var body: RequestBody { .string(lines.joined(separator: "\n")).gzipped() }
        typealias Response = NoContent
    }

    struct Archive: Command {
        var password: String
        var path: String { "archive" }
        var authorization: Authorization? { .digest(username: "ada", password: password) }
        typealias Response = Data
    }

    struct Presigned: Command {
        var url: String
        var path: String { "" }
        var customRequest: CustomRequest? { CustomRequest(method: .put, url: url, body: .string("x")) }
        typealias Response = NoContent
    }

    struct GetLatest: Command {
        var path: String { "latest" }
        var redirects: RedirectPolicy? {
            .follow(limit: 3) { hop in
                hop.proposal.url.hasPrefix("https://files.example.com/") ? .follow(hop.proposal) : .stop
            }
        }
    }

    struct GetRates: Command {
        var path: String { "rates" }
        var options: CommandOptions { .coalesced }
        typealias Response = JSONValue
    }

    struct ListDates: Command {
        var path: String { "dates" }
        var jsonDecoder: JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        typealias Response = [Date]
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

    static func encoding(_ configuration: inout Client.Configuration) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        configuration.jsonEncoder = encoder
    }

    static func values(_ client: Client) async throws -> [String] {
        let team = try await client.run(GetTeam())
        let first = team["users"]?[0]?["name"]?.string ?? "nobody"
        let total = team["total"]?.integer ?? 0
        let names = team["users"]?.array?.compactMap { $0["name"]?.string } ?? []
        print(first, total, names)
        return ["\(first)", "\(total)"] + names
    }

    static func moved(_ client: Client) {
        client.reconfigure { settings in
            settings.baseURL = "https://fallback.example.com/"
            settings.tlsPolicies["*.internal"] = .init(caFile: "/etc/service/internal.pem", minimumVersion: .v1_3)
        }
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

    @Test func whatIsSent() async throws {
        let client = Client(configuration: ConnectionSnippets.configured(), transport: StubTransport())
        #expect(
            try client.describe(Search(words: "a b")).url
                == "https://api.example.com/v2/search?device=linux&q=a%20b&page=1")
        #expect(
            try client.describe(GetPhotos(user: "a/b")).url
                == "https://api.example.com/v2/users/a%2Fb/photos?device=linux")
        let convert = try client.describe(Convert())
        #expect(convert.url == "https://api.example.com/v2/convert?device=linux&unit=m%2Fs%20%26%20%25")
        #expect(String(decoding: convert.bodyBytes, as: UTF8.self) == "sum=1%20%2B%201%20%3D%202")
        #expect(try client.describe(GetPicture(name: "a")).url == "https://cdn.example.com/v2/pictures/a?device=linux")
        #expect(try client.describe(PutPhoto(file: #filePath)).headers[.contentType] == "image/jpeg")
        #expect(try client.describe(Report()).settings.timeouts.total == .seconds(30))
        let filter = try client.describe(Filter())
        #expect(
            String(decoding: filter.bodyBytes, as: UTF8.self) == #"{"tags":["a","b"],"owner":{"id":1},"open":true}"#)
        #expect(
            try client.describe(FilterByQuery()).url
                == "https://api.example.com/v2/filter?device=linux&open=true&owner.id=1&tags=a,b")
        #expect(try client.describe(Upload(photo: #filePath)).headers[.contentType]?.hasPrefix("multipart/") == true)
        #expect(try client.describe(PutLog(lines: ["a", "b"])).headers[.contentEncoding] == "gzip")
        #expect(try client.describe(Mine(token: "x")).headers[.authorization] == "Bearer x")
        #expect(
            try client.describe(Archive(password: "x")).authentication == .digest(username: "ada", password: "x"))
        #expect(try client.describe(Presigned(url: "http://elsewhere/x?s=1")).url == "http://elsewhere/x?s=1")
        Self.moved(client)
        #expect(try client.describe(Report()).url == "https://fallback.example.com/v2/report?device=linux")
        await client.shutdown()
    }

    @Test func anEncoderOfTheClient() async throws {
        var configuration = Client.Configuration(baseURL: "http://test/")
        Self.encoding(&configuration)
        let client = Client(configuration: configuration, transport: StubTransport())
        let description = try client.describe(AddMeeting(start: Date(timeIntervalSince1970: 7)))
        #expect(String(decoding: description.bodyBytes, as: UTF8.self) == #"{"start":"1970-01-01T00:00:07Z"}"#)
        await client.shutdown()
    }

    @Test func whatIsSharedIsSentOnce() async throws {
        let stub = StubTransport()
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        let requests = (0..<3).map { _ in client.start(GetRates()) }
        #expect(stub.submitted.count == 1)
        stub.completeAll { _ in .response(Response(statusCode: 200, body: Array("[1]".utf8))) }
        await client.shutdown()
        #expect(requests.map(\.value) == [[1], [1], [1]])
    }

    @Test func whatComesBack() async throws {
        let stub = StubTransport { description in
            switch description.url {
            case "http://test/dates": .response(status: 200, body: #"["1970-01-01T00:00:07Z"]"#)
            case "http://test/team":
                .response(status: 200, body: #"{"total": 3, "users": [{"name": "Ada"}, {}, {"name": "Bo"}]}"#)
            case "http://test/latest": .response(status: 302, headers: [.location: "https://other.example.com/"])
            default: .response(status: 404)
            }
        }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: stub)
        try await Self.raw(client)
        try Self.look(client)
        #expect(try await Self.values(client) == ["Ada", "3", "Ada", "Bo"])
        #expect(try await client.run(CountLines()) == 0)
        #expect(try await client.run(ListDates()) == [Date(timeIntervalSince1970: 7)])
        await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(ListIssues()) }
        let result = await client.result(of: GetLatest())
        #expect(throws: ErrandError.statusNotAccepted) { try result.get() }
        #expect(!stub.submitted.contains { $0.url.contains("other") })
        await client.shutdown()
    }
}
