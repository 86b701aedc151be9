import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var method = HTTPRequest.Method.get
    var path = "p"
    var baseURL: String?
    var cdnURL: String?
    var usesCDN = false
    var query = [QueryItem("q", "1")]
    var headers: HTTPFields = [.accept: "a/b", .userAgent: "own"]
    var parameters: Parameters? = ["a": 1]
    var body = RequestBody.empty
    var authorization: Authorization?
    var timeouts: Timeouts?
    var priority = Priority.normal
    var redirects: RedirectPolicy?
    var customRequest: CustomRequest?
    typealias Response = String
}

@Suite struct CustomRequestTests {
    private func client() -> Client {
        Client.stubbed(StubTransport { _ in .response(status: 200, body: "text") }) { configuration in
            configuration.headers = [.acceptLanguage: "de"]
            configuration.authorization = .bearer("client")
            configuration.urlFilters = [QueryParameterFilter(["f": "1"])]
            configuration.cdnURL = "http://cdn/"
            configuration.tlsPolicies["h"] = .init(pinnedKeys: ["k"])
        }
    }

    @Test func theBuilderIsBypassedAndTheRestStays() async throws {
        let custom = CustomRequest(method: .put, url: "https://h/ü", headers: [.cookie: "c"], body: .json(["b": 2]))
        let ask = Ask(timeouts: Timeouts(idle: .seconds(3)), priority: .high, customRequest: custom)
        let client = client()
        let description = try client.describe(ask)
        #expect(description.method == .put && description.url == "https://h/%C3%BC")
        #expect(description.headers.fields == [.cookie: "c", .contentType: "application/json"])
        #expect(String(decoding: description.bodyBytes, as: UTF8.self) == #"{"b":2}"#)
        #expect(description.settings.timeouts.idle == .seconds(3) && description.settings.priority == .high)
        #expect(description.settings.connection?.tls.pinnedKeys == ["k"])
        #expect(try await client.run(ask) == "text")
        await client.shutdown(.cancel)
    }

    @Test(arguments: ["/relative", "", "ftp://h/", "http://", "a\r\nb"])
    func itsURLIsChecked(url: String) {
        #expect(throws: ErrandError.self) { try client().describe(Ask(customRequest: CustomRequest(url: url))) }
    }

    // MARK: Overrides

    private func built(_ ask: Ask, _ change: (inout RequestOverrides) -> Void) throws(ErrandError) -> RequestDescription
    {
        var overrides = RequestOverrides()
        change(&overrides)
        return try client().builder.description(of: ask, overrides: overrides)
    }

    @Test func nothingOverriddenIsNothingChanged() throws {
        let plain = try client().describe(Ask())
        let overridden = try built(Ask()) { _ in }
        #expect(plain.url == overridden.url && plain.headers == overridden.headers)
        #expect(overridden.url == "http://test/p?f=1&q=1&a=1")
    }

    @Test func eachMemberOverrides() throws {
        #expect(try built(Ask()) { $0.baseURL = "http://o/" }.url == "http://o/p?f=1&q=1&a=1")
        #expect(try built(Ask()) { $0.usesCDN = true }.url == "http://cdn/p?f=1&q=1&a=1")
        #expect(try built(Ask(usesCDN: true)) { $0.usesCDN = false }.url.hasPrefix("http://test/"))
        #expect(try built(Ask()) { $0.query = [QueryItem("z", "2")] }.url == "http://test/p?f=1&q=1&z=2&a=1")
        #expect(try built(Ask()) { $0.parameters = ["b": 2] }.url == "http://test/p?f=1&q=1&b=2")
        #expect(try built(Ask()) { $0.parameters = [:] }.url == "http://test/p?f=1&q=1")
        let fields = try built(Ask()) { $0.headers = [.accept: "c/d", .cookie: "x"] }.headers.fields
        #expect(fields[values: .accept] == ["c/d"] && fields[.cookie] == "x" && fields[.userAgent] == "own")
        #expect(try built(Ask()) { $0.authorization = .anonymous }.headers[.authorization] == nil)
        #expect(try built(Ask()) { $0.authorization = .bearer("o") }.headers[.authorization] == "Bearer o")
        #expect(try built(Ask()) { $0.options = .freshConnection }.options == .freshConnection)
        let settings = try built(Ask(priority: .high)) { overrides in
            overrides.timeouts = .unlimited
            overrides.limits = Limits(bodyBytes: 9)
            overrides.priority = .low
            overrides.connection = ConnectionOptions(httpVersion: .http1)
        }.settings
        #expect(settings.timeouts.idle == nil && settings.limits.bodyBytes == 9 && settings.priority == .low)
        #expect(settings.connection?.httpVersion == .http1)
        #expect(throws: ErrandError.invalidURL) { try built(Ask()) { $0.baseURL = "x" } }
    }

    @Test func ofACustomRequest() throws {
        let custom = CustomRequest(url: "https://h/?a=1#f", headers: [.accept: "x/y"])
        let description = try built(Ask(customRequest: custom)) { overrides in
            overrides.query = [QueryItem("b", "2")]
            overrides.headers = [.accept: "c/d"]
            overrides.body = .string("o", contentType: nil)
            overrides.priority = .low
        }
        #expect(description.url == "https://h/?a=1&b=2#f")
        #expect(description.headers.fields == [.accept: "c/d"])
        #expect(description.bodyBytes == Array("o".utf8))
        #expect(description.settings.priority == .low)
    }

    @Test func authorizationOfACustomRequest() throws {
        let custom = CustomRequest(url: "https://h/", headers: [.authorization: "custom"])
        func built(_ change: (inout RequestOverrides) -> Void) throws -> RequestDescription {
            try self.built(Ask(authorization: .bearer("command"), customRequest: custom), change)
        }
        #expect(try built { _ in }.headers[.authorization] == "custom")
        #expect(try built { $0.authorization = .bearer("o") }.headers.fields == [.authorization: "Bearer o"])
        #expect(try built { $0.authorization = .anonymous }.headers.fields == [:])
        let digest = Authorization.digest(username: "u", password: "p")
        let challenged = try built { $0.authorization = digest }
        #expect(challenged.authentication == .digest(username: "u", password: "p") && challenged.headers.fields == [:])
        let given = try built { overrides in
            overrides.authorization = digest
            overrides.headers[.authorization] = "given"
        }
        #expect(given.authentication == nil && given.headers.fields == [.authorization: "given"])
    }

    @Test func whatACustomRequestDoesNotHaveIsNotOverriddenSilently() {
        let changes: [(String, (inout RequestOverrides) -> Void)] = [
            ("baseURL", { $0.baseURL = "http://o/" }), ("cdnURL", { $0.cdnURL = "http://o/" }),
            ("usesCDN", { $0.usesCDN = false }), ("urlRules", { $0.urlRules = URLRules() }),
            ("parameters", { $0.parameters = ["a": 1] }), ("parameterEncoding", { $0.parameterEncoding = .json }),
        ]
        for (name, change) in changes {
            do throws(ErrandError) {
                _ = try built(Ask(customRequest: CustomRequest(url: "https://h/")), change)
                Issue.record("\(name) was passed over")
            } catch {
                #expect(error == .invalidArgument && error.message.contains("'\(name)'"))
            }
        }
    }

    @Test func theRestOfTheOverrides() throws {
        let cdn = Ask(cdnURL: "http://own-cdn/", usesCDN: true)
        #expect(try built(cdn) { $0.cdnURL = "http://o-cdn/" }.url.hasPrefix("http://o-cdn/p?"))
        #expect(throws: ErrandError.invalidURL) { try built(cdn) { $0.cdnURL = "" } }
        let form = try built(Ask()) { $0.parameterEncoding = .form }
        #expect(form.url == "http://test/p?f=1&q=1" && form.bodyBytes == Array("a=1".utf8))
        let body = try built(Ask(method: .post, parameters: nil, body: .string("c"))) { $0.body = .string("o") }
        #expect(body.bodyBytes == Array("o".utf8))
        let bare = try built(Ask(method: .post, parameters: nil, body: .string("c"))) { $0.body = .empty }
        #expect(bare.bodyBytes.isEmpty && bare.headers[.contentType] == nil)
        // A command's empty parameters are a form without fields, an override's are none.
        let empty = try built(Ask(method: .post, parameters: [:])) { _ in }
        #expect(empty.headers[.contentType] == "application/x-www-form-urlencoded")
        let none = try built(Ask(method: .post)) { $0.parameters = [:] }
        #expect(none.headers[.contentType] == nil && none.bodyBytes.isEmpty)
        let beside = try built(Ask(method: .post, body: .string("c"))) { $0.parameters = [:] }
        #expect(beside.bodyBytes == Array("c".utf8))
        let custom = try built(Ask()) { $0.customRequest = CustomRequest(url: "https://h/c") }
        #expect(custom.url == "https://h/c" && custom.headers.fields == [:])
    }
}
