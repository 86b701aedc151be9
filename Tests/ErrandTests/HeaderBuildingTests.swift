import Errand
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Ask: Command {
    var path = "http://h/"
    var baseURL: String?
    var headers = HTTPFields()
    var authorization: Authorization?
    var body = RequestBody.empty
}

@Suite struct HeaderBuildingTests {
    private func fields(_ ask: Ask, _ change: (inout Client.Settings) -> Void = { _ in }) throws(ErrandError)
        -> HTTPFields
    {
        var configuration = Client.Configuration()
        change(&configuration.settings)
        return try RequestBuilder(configuration).description(of: ask).headers.fields
    }

    @Test func basicIsSentAtOnceInUTF8() throws {
        // The example of RFC 7617 2.1.
        let ask = Ask(authorization: .basic(username: "test", password: "123£"))
        #expect(try fields(ask)[.authorization] == "Basic dGVzdDoxMjPCow==")
        #expect(try fields(Ask(authorization: .basic(username: "", password: "")))[.authorization] == "Basic Og==")
        #expect(try fields(Ask(authorization: .bearer("abc.def~+/=")))[.authorization] == "Bearer abc.def~+/=")
    }

    @Test func whoseAuthorizationWins() throws {
        func sent(_ ask: Ask, client: Authorization?, header: String? = nil) throws -> [String] {
            try fields(ask) { settings in
                settings.authorization = client
                if let header { settings.headers[.authorization] = header }
            }[values: .authorization]
        }
        #expect(try sent(Ask(), client: .bearer("c")) == ["Bearer c"])
        #expect(try sent(Ask(authorization: .bearer("own")), client: .bearer("c")) == ["Bearer own"])
        #expect(try sent(Ask(authorization: .anonymous), client: .bearer("c")) == [])
        #expect(
            try sent(Ask(headers: [.authorization: "x"], authorization: .bearer("own")), client: .bearer("c")) == ["x"])
        #expect(try sent(Ask(headers: [.authorization: "x"]), client: .bearer("c")) == ["x"])
        #expect(try sent(Ask(), client: .bearer("c"), header: "h") == ["h"])
        #expect(try sent(Ask(headers: [.accept: "a/b"]), client: .bearer("c")) == ["Bearer c"])
    }

    /// The client's credentials are for the hosts that the client, or a command by a base URL of its own, names.
    @Test(arguments: [
        ("x", true), ("/x", true), ("//base:80/x", true), ("http://base/x", true), ("HTTP://BASE:80?x", true),
        ("http://u@base/", true), ("https://cdn/x", true), ("https://cdn", true),
        ("//other/x", false), ("http://other/x", false), ("https://base/x", false), ("http://base:81/x", false),
        ("http://base.other/x", false), ("http://base@other/x", false), ("http://cdn/x", false),
        ("https://cdn:80/", false), ("http://basement/", false),
    ])
    func whereTheClientsAuthorizationGoes(path: String, isSent: Bool) throws {
        func built(_ ask: Ask, _ authorization: Authorization, any: Bool = false) throws -> RequestDescription {
            var configuration = Client.Configuration(baseURL: "http://base/v1")
            configuration.cdnURL = "https://cdn/c"
            configuration.authorization = authorization
            configuration.authorizesAnyOrigin = any
            return try RequestBuilder(configuration).description(of: ask)
        }
        for headers: HTTPFields in [[:], [.accept: "a/b"]] {
            let ask = Ask(path: path, headers: headers)
            #expect(try built(ask, .bearer("c")).headers[.authorization] == (isSent ? "Bearer c" : nil))
            #expect(try built(ask, .bearer("c"), any: true).headers[.authorization] == "Bearer c")
            let digest = Authorization.digest(username: "u", password: "p")
            #expect((try built(ask, digest).authentication != nil) == isSent)
        }
        let own = Ask(path: path, authorization: .bearer("own"))
        #expect(try built(own, .bearer("c")).headers[.authorization] == "Bearer own")
    }

    @Test func authorizationWhereTheCommandHasABaseOfItsOwn() throws {
        func sent(_ ask: Ask, base: String?, _ change: (inout RequestOverrides) -> Void = { _ in }) throws -> String? {
            var configuration = Client.Configuration(baseURL: base)
            configuration.authorization = .bearer("c")
            var overrides = RequestOverrides()
            change(&overrides)
            return try RequestBuilder(configuration).description(of: ask, overrides: overrides).headers[.authorization]
        }
        #expect(try sent(Ask(path: "x", baseURL: "http://own/"), base: "http://base/") == "Bearer c")
        #expect(try sent(Ask(path: "//other/", baseURL: "http://own/"), base: "http://base/") == nil)
        #expect(try sent(Ask(path: "x"), base: "http://base/") { $0.baseURL = "http://own/" } == "Bearer c")
        let cdn: (inout RequestOverrides) -> Void = {
            $0.cdnURL = "http://cdn/"
            $0.usesCDN = true
        }
        #expect(try sent(Ask(path: "x"), base: "http://base/", cdn) == "Bearer c")
        #expect(try sent(Ask(path: "http://other/"), base: nil) == "Bearer c")
        #expect(throws: ErrandError.invalidURL) { try sent(Ask(path: "http://other/"), base: "") }
    }

    @Test func lineBreaksAreRefusedAndNotReplaced() throws {
        for value in ["a\r\nX: y", "a\nb", "a\rb", "a\0"] {
            #expect(throws: ErrandError.invalidHeader) { try fields(Ask()) { $0.userAgent = value } }
            for body in [RequestBody.bytes([1], contentType: value), .custom(contentType: value) { [] }] {
                #expect(throws: ErrandError.invalidHeader) { try fields(Ask(body: body)) }
                #expect(throws: ErrandError.invalidHeader) { try fields(Ask(headers: [.accept: "a/b"], body: body)) }
            }
        }
        #expect(try fields(Ask()) { $0.userAgent = "ü" }[.userAgent] == "ü")
    }

    @Test(
        arguments: [
            ("multipart/form-data", "multipart/form-data; boundary=B"),
            ("Multipart/Mixed; charset=utf-8", "Multipart/Mixed; charset=utf-8; boundary=B"),
            ("multipart/form-data; Boundary = \"B\"", "multipart/form-data; Boundary = \"B\""),
            ("multipart/form-data; boundary=C", nil),
            ("multipart/form-data; boundary", "multipart/form-data; boundary; boundary=B"),
            ("application/json", nil), ("", nil),
        ] as [(String, String?)])
    func aMultipartBodysTypeKeepsTheBoundary(given: String, expected: String?) throws {
        let body = RequestBody.multipart([.string("x", name: "a")], boundary: "B")
        for body in [body, body.gzipped()] {
            let ask = Ask(headers: [.contentType: given], body: body)
            if let expected {
                #expect(try fields(ask)[values: .contentType] == [expected])
            } else {
                #expect(throws: ErrandError.invalidHeader) { try fields(ask) }
            }
            // A default of the client's cannot know of the boundary.
            let sent = try fields(Ask(body: body)) { $0.headers[.contentType] = given }
            #expect(sent[values: .contentType] == [expected ?? "multipart/form-data; boundary=B"])
            #expect(try fields(Ask(body: .string("x"))) { $0.headers[.contentType] = given }[.contentType] == given)
        }
    }

    @Test func digestIsLeftToTheEngine() throws {
        func built(_ ask: Ask, client: Authorization? = nil, header: String? = nil) throws -> RequestDescription {
            var configuration = Client.Configuration()
            configuration.authorization = client
            if let header { configuration.headers[.authorization] = header }
            return try RequestBuilder(configuration).description(of: ask)
        }
        let digest = Authorization.digest(username: "u", password: "p")
        let expected = ServerAuthentication.digest(username: "u", password: "p")
        for description in [
            try built(Ask(authorization: digest)), try built(Ask(), client: digest),
            try built(Ask(authorization: digest), client: .bearer("c")),
        ] {
            #expect(description.authentication == expected && description.headers[.authorization] == nil)
        }
        for description in [
            try built(Ask(authorization: .bearer("c")), client: digest), try built(Ask(), client: digest, header: "x"),
            try built(Ask(headers: [.authorization: "x"], authorization: digest)),
            try built(Ask(headers: [.authorization: "x"]), client: digest),
            try built(Ask(authorization: digest), header: "x"),
        ] {
            #expect(description.authentication == nil && description.headers[.authorization] != nil)
        }
        let nobody = try built(Ask(authorization: .anonymous), client: digest)
        #expect(nobody.authentication == nil && nobody.headers[.authorization] == nil)
    }

    @Test(arguments: [
        Authorization.digest(username: "", password: ""), .digest(username: "a:b", password: ""),
        .digest(username: "a", password: "\r\n"), .basic(username: "a\r\nX: y", password: ""),
        .basic(username: "a", password: "b\n"),
        .basic(username: "a:b", password: "c"), .bearer("a\r\nb"), .bearer(""), .bearer("a\0"),
    ])
    func badCredentialsAreRefused(authorization: Authorization) {
        #expect(throws: ErrandError.invalidHeader) { try fields(Ask(authorization: authorization)) }
        #expect(throws: ErrandError.invalidHeader) { try fields(Ask()) { $0.authorization = authorization } }
    }

    @Test func descriptionsShowNoSecret() {
        for authorization in [Authorization.basic(username: "u", password: "secret"), .bearer("secret")] {
            #expect(!"\(authorization)".contains("secret") && !String(reflecting: authorization).contains("secret"))
        }
    }

    @Test func languagesHaveFallingWeights() throws {
        let tags = ["de-AT", "de", "en-GB", "zh-Hans-CN", "fr", "*", "it"]
        let sent = try fields(Ask()) { $0.languages = tags }[.acceptLanguage]
        #expect(sent == "de-AT;q=1, de;q=0.9, en-GB;q=0.8, zh-Hans-CN;q=0.7, fr;q=0.6, *;q=0.5")
        #expect(try fields(Ask())[.acceptLanguage] == nil)
        let own = try fields(Ask(headers: [.acceptLanguage: "x"])) { $0.languages = tags }
        #expect(own[values: .acceptLanguage] == ["x"])
        let given = try fields(Ask()) {
            $0.languages = tags; $0.headers[.acceptLanguage] = "y"
        }
        #expect(given[values: .acceptLanguage] == ["y"])
    }

    @Test(arguments: ["", "d e", "de;q=1", "de\r\nX: y", "-", "123", "abcdefghi", "de-", "ü"])
    func badLanguagesAreRefused(tag: String) {
        #expect(throws: ErrandError.invalidHeader) { try fields(Ask()) { $0.languages = [tag] } }
    }

    @Test(
        arguments: [
            ([:], []), (["LANG": "C.UTF-8"], []), (["LANG": "de_AT.UTF-8"], ["de-AT"]),
            (["LANG": "en_US", "LC_ALL": "fr_FR@euro"], ["fr-FR"]), (["LANG": "en_US", "LC_MESSAGES": "it"], ["it"]),
            (["LANG": "en_US", "LANGUAGE": "de_DE:de:de:bad tag:"], ["de-DE", "de"]),
            (["LANG": "C", "LANGUAGE": "de"], []), (["LANGUAGE": "de"], []),
            (["LC_ALL": "", "LANG": "sv_SE"], ["sv-SE"]),
            (["LANG": "POSIX"], []), (["LANG": "!"], []),
        ] as [([String: String], [String])])
    func languagesOfTheEnvironment(environment: [String: String], expected: [String]) {
        #expect(PreferredLanguages.from(environment) == expected)
    }

    @Test func contentEncodingIsNamedOnce() throws {
        let body = RequestBody.string("text").gzipped()
        #expect(try fields(Ask(body: body))[values: .contentEncoding] == ["gzip"])
        #expect(try fields(Ask(headers: [.contentEncoding: "x"], body: body))[values: .contentEncoding] == ["x"])
        #expect(try fields(Ask(body: .empty.gzipped()))[.contentEncoding] == nil)
        #expect(try fields(Ask(body: body))[.contentType] == "text/plain; charset=utf-8")
    }
}
