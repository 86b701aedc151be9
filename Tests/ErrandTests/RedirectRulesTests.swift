import Errand
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

@Suite struct RedirectRulesTests {
    private func description(
        _ method: HTTPRequest.Method, _ url: String = "http://a/x/y", headers: HTTPFields = [:]
    ) throws -> RequestDescription {
        var command = RawCommand(method: method, url: url, headers: headers)
        if method != .get, method != .head { command.body = .string("body") }
        return try RequestBuilder(Client.Configuration()).description(of: command)
    }

    private func decide(
        _ status: Int, _ location: String?, from sent: RequestDescription, hops: Int = 0,
        policy: RedirectPolicy = .follow, connection: ConnectionOptions = ConnectionOptions()
    ) -> RedirectRules.Decision {
        var headers = HTTPFields()
        headers[.location] = location
        return RedirectRules.decide(
            Response(statusCode: status, headers: headers), to: sent, hops: hops, policy: policy,
            connection: connection)
    }

    private func followed(_ decision: RedirectRules.Decision) throws -> RequestDescription {
        guard case .follow(let next) = decision else {
            throw ErrandError.internalFailure.with(message: "not followed: \(decision)")
        }
        return next
    }

    private static let table: [(Int, HTTPRequest.Method, HTTPRequest.Method, Bool)] = [
        (301, .get, .get, false), (301, .head, .head, false), (301, .post, .get, false), (301, .put, .put, true),
        (302, .get, .get, false), (302, .head, .head, false), (302, .post, .get, false), (302, .delete, .delete, true),
        (303, .get, .get, false), (303, .head, .head, false), (303, .post, .get, false), (303, .put, .get, false),
        (307, .get, .get, false), (307, .post, .post, true), (307, .patch, .patch, true),
        (308, .head, .head, false), (308, .post, .post, true), (308, .put, .put, true),
    ]

    @Test(arguments: table.indices)
    func methodAndBody(row: Int) throws {
        let (status, method, expected, keepsBody) = Self.table[row]
        let next = try followed(decide(status, "/z", from: description(method)))
        #expect(next.method == expected)
        #expect(next.bodyBytes.isEmpty != keepsBody)
        #expect((next.headers[.contentType] != nil) == keepsBody)
        #expect(next.url == "http://a/z")
    }

    @Test(arguments: [("http://a/z", true), ("http://a:81/z", false), ("http://b/z", false)])
    func digestCredentialsStayWithTheOrigin(target: String, kept: Bool) throws {
        var sent = try description(.get)
        sent.authentication = .digest(username: "ada", password: "secret")
        #expect((try followed(decide(307, target, from: sent)).authentication != nil) == kept)
        #expect(!"\(sent)".contains("secret") && !"\(String(reflecting: sent.authentication))".contains("secret"))
    }

    @Test func aStreamedBodyIsNotSentAgain() throws {
        var sent = try description(.post)
        sent.body = .stream(length: 4)
        guard case .fail(let error) = decide(307, "/z", from: sent) else { return #expect(Bool(false)) }
        #expect(error == .uploadNotReplayable)
        #expect(error.response?.statusCode == 307)
        // A 303, and a 302 of POST, ask for no body; a closure may bring another one, or stop.
        for status in [302, 303] { #expect(try followed(decide(status, "/z", from: sent)).method == .get) }
        var policy = RedirectPolicy.follow
        policy.decide = { redirect in
            var next = redirect.proposal
            next.body = .bytes([1])
            return .follow(next)
        }
        #expect(try followed(decide(307, "/z", from: sent, policy: policy)).bodyBytes == [1])
        policy.decide = { _ in .stop }
        guard case .take = decide(307, "/z", from: sent, policy: policy) else { return #expect(Bool(false)) }
    }

    @Test(arguments: [200, 300, 304, 305, 306, 309, 400])
    func otherStatusesAreNoRedirects(status: Int) {
        #expect(!RedirectRules.isRedirect(status))
    }

    @Test(
        arguments: [
            ("z", "http://a/x/z"), ("//b/z", "http://b/z"), ("?q", "http://a/x/y?q"), ("https://b/#f", "https://b/"),
            ("../z", "http://a/z"), ("/a b", "http://a/a%20b"), ("http://u:p@b/z", "http://b/z"),
            ("//u@a/z@y", "http://a/z@y"), ("", nil), ("http://", nil),
            (" http://b/z", "http://b/z"),
        ] as [(String, String?)])
    func locations(location: String, expected: String?) throws {
        let decision = decide(302, location, from: try description(.get))
        if let expected {
            #expect(try followed(decision).url == expected)
        } else {
            guard case .take = decision else { return #expect(Bool(false), "\(decision)") }
        }
    }

    @Test func missingLocationIsTheResponse() throws {
        guard case .take = decide(302, nil, from: try description(.get)) else { return #expect(Bool(false)) }
    }

    @Test(arguments: [
        ("http://a/z", true), ("http://A:80/z", true), ("http://a:81/z", false), ("https://a/z", false),
        ("http://b/z", false), ("http://u:p@a/z", true),
    ])
    func credentialsStayWithTheOrigin(target: String, kept: Bool) throws {
        let sent = try description(
            .get, headers: [.authorization: "x", .cookie: "c", .proxyAuthorization: "p", .accept: "a"])
        let next = try followed(decide(307, target, from: sent)).headers
        for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] {
            #expect((next[name] != nil) == kept, "\(name)")
        }
        #expect(next[.accept] == "a")
    }

    /// What ``Redaction`` takes for a secret, however the name is written.
    @Test(arguments: [("http://a/z", true), ("http://a:81/z", false), ("https://a/z", false), ("http://b/z", false)])
    func secretsStayWithTheOrigin(target: String, kept: Bool) throws {
        let names = Redaction.secretHeaders.compactMap { HTTPField.Name($0.uppercased()) }
        #expect(names.count == Redaction.secretHeaders.count)
        var headers: HTTPFields = [.accept: "a"]
        for name in names { headers[name] = "secret" }
        let next = try followed(decide(307, target, from: description(.get, headers: headers))).headers
        for name in names { #expect((next[name] != nil) == kept, "\(name)") }
        #expect(next[.accept] == "a")
    }

    /// What was sent stays behind where a closure leads elsewhere, what the closure sets goes along.
    @Test(arguments: [("/z", "http://b/z", false), ("http://b/z", "http://c/z", false), ("/z", "http://a/y", true)])
    func aClosureTakesNoCredentialsToAnotherOrigin(location: String, veered: String, kept: Bool) throws {
        let key: HTTPField.Name = "x-api-key"
        let host: HTTPField.Name = "Host"
        let sent = try description(
            .get, headers: [.authorization: "x", .cookie: "c", key: "k", host: "h", .accept: "a"])
        let veer = RedirectPolicy.follow { hop in
            var next = hop.proposal
            next.url = veered
            return .follow(next)
        }
        let careless = RedirectPolicy.follow { hop in
            var next = hop.from
            next.url = veered
            return .follow(next)
        }
        for policy in [veer, careless] {
            let next = try followed(decide(307, location, from: sent, policy: policy))
            #expect(next.url == veered)
            for name in [HTTPField.Name.authorization, .cookie, key, host] {
                #expect((next.headers[name] != nil) == kept, "\(name)")
            }
            #expect(next.headers[.accept] == "a")
        }
        let deliberate = RedirectPolicy.follow { hop in
            var next = hop.proposal
            next.url = veered
            next.headers = (try? next.headers.setting(.authorization, to: "other")) ?? .empty
            return .follow(next)
        }
        let next = try followed(decide(307, location, from: sent, policy: deliberate))
        #expect(next.headers[.authorization] == "other")
        #expect((next.headers[.cookie] != nil) == kept)
    }

    /// RFC 3986 5.2.2: a relative reference has its base's authority; one that comes with a `Location` names nobody.
    @Test(
        arguments: [
            ("/dir/", "http://ada:pw@a/dir/"), ("z", "http://ada:pw@a/x/z"), ("?q", "http://ada:pw@a/x/y?q"),
            ("/@z", "http://ada:pw@a/@z"), ("//a/z", "http://a/z"), ("http://a/z", "http://a/z"),
            ("//eve@a/z", "http://a/z"), ("http://eve:x@b/z", "http://b/z"),
        ])
    func theCallersUserStaysWithRelativeReferences(location: String, expected: String) throws {
        let sent = try description(.get, "http://ada:pw@a/x/y")
        #expect(try followed(decide(301, location, from: sent)).url == expected)
    }

    @Test func aLocationOfNobodyButAUserIsTheResponse() throws {
        guard case .take = decide(302, "//u@/z", from: try description(.get)) else { return #expect(Bool(false)) }
    }

    /// WHATWG's URL standard 4.4: `\\` is a slash, spaces in front are none. Where that leads to another host than RFC 3986
    /// does, nobody is followed.
    @Test(arguments: [
        #"http://good\@evil/"#, #"//good\@evil/"#, #"http://\evil/"#, #"\\evil/"#, #"/\evil/"#, #"\/evil/"#, #"\x"#,
    ])
    func aHostThatBrowsersReadDifferentlyIsRefused(location: String) throws {
        guard case .fail(let error) = decide(302, location, from: try description(.get)) else {
            Issue.record("\(location) was not refused")
            return
        }
        #expect(error == .redirectRefused)
    }

    /// What is no host once escapes are undone and names are mapped.
    @Test(arguments: [
        "http://GOO\u{A0}\u{3000}goo/", "http://%EF%BC%85%EF%BC%90%EF%BC%90/", "http://evil\u{FF0F}.good/",
        "http://a%2Fb/",
        "http://b%FCcher/", "http://1.2.3.4.5/",
    ])
    func aLocationOfNoHostIsRefused(location: String) throws {
        guard case .fail(let error) = decide(302, location, from: try description(.get)) else {
            Issue.record("\(location) was not refused")
            return
        }
        #expect(error == .redirectRefused)
    }

    /// Bytes that are not UTF-8 are sent as they are, encoded one by one, and so are those beside them.
    @Test(arguments: [
        ("/caf\u{E9}", "http://a/caf%C3%A9", "http://a/caf%E9"),
        ("/\u{C3}\u{A9}\u{E9}?\u{FF}", "http://a/%C3%83%C2%A9%C3%A9?%C3%BF", "http://a/%C3%A9%E9?%FF"),
        ("/a b", "http://a/a%20b", "http://a/a%20b"),
    ])
    func bytesOfALocationStay(characters: String, utf8: String, latin1: String) throws {
        for (bytes, expected) in [
            (Array(characters.utf8), utf8), (characters.unicodeScalars.map { UInt8($0.value) }, latin1),
        ] {
            let location = HTTPField(name: .location, lenientValue: bytes)
            let response = Response(statusCode: 302, headers: HTTPFields([location]))
            let decision = RedirectRules.decide(
                response, to: try description(.get), hops: 0, policy: .follow, connection: ConnectionOptions())
            #expect(try followed(decision).url == expected)
        }
    }

    @Test func downgradeIsRefusedUnlessAllowed() throws {
        let sent = try description(.get, "https://a/")
        guard case .fail(let error) = decide(302, "http://a/", from: sent) else { return #expect(Bool(false)) }
        #expect(error == .redirectRefused)
        #expect(error.statusCode == 302)
        let allowing = RedirectPolicy.follow(limit: 10, allowsDowngrade: true)
        #expect(try followed(decide(302, "http://a/", from: sent, policy: allowing)).url == "http://a/")
    }

    @Test(arguments: ["ftp://a/", "javascript:alert(1)", "mailto:a@b", "file:///etc/passwd", "data:,x"])
    func otherSchemesAreRefused(location: String) throws {
        guard case .fail(let error) = decide(302, location, from: try description(.get)) else {
            Issue.record("\(location) was not refused")
            return
        }
        #expect(error == .redirectRefused)
        #expect(error.statusCode == 302)
    }

    @Test func nothingIsSentAgainAfter303() throws {
        var command = RawCommand(method: .get, url: "http://a/x", body: .string("query"))
        let get = try RequestBuilder(Client.Configuration()).description(of: command)
        command.method = .head
        let head = try RequestBuilder(Client.Configuration()).description(of: command)
        for sent in [get, head] {
            let next = try followed(decide(303, "/z", from: sent))
            #expect(next.method == sent.method)
            #expect(next.bodyBytes.isEmpty)
            #expect(next.headers[.contentType] == nil)
        }
        #expect(try followed(decide(307, "/z", from: get)).bodyBytes == Array("query".utf8))
    }

    private static let identity = ConnectionOptions(
        encodings: .all,
        tls: .init(caFile: "ca", clientCertificate: "cert", clientKey: "key", clientKeyPassword: "word"))

    /// The certificate of the command, and that of the client.
    @Test(arguments: [true, false])
    func theClientCertificateStaysWithTheOrigin(own: Bool) throws {
        var command = RawCommand(url: "https://a/x")
        command.timeouts = Timeouts(idle: .seconds(7))
        if own { command.connection = Self.identity }
        let sent = try RequestBuilder(Client.Configuration()).description(of: command)
        let connection = own ? ConnectionOptions() : Self.identity

        let same = try followed(decide(302, "/z", from: sent, connection: connection))
        #expect((same.settings.connection ?? connection) == Self.identity)

        let veer = RedirectPolicy.follow { hop in
            var next = hop.proposal
            next.url = "https://b/z"
            return .follow(next)
        }
        for (location, policy) in [("https://b/z", RedirectPolicy.follow), ("https://a:444/z", .follow), ("/z", veer)] {
            let other = try followed(decide(302, location, from: sent, policy: policy, connection: connection))
            #expect(other.settings.connection?.tls == .init(caFile: "ca"), "\(location)")
            #expect(other.settings.idleTimeout == 7000)
        }
    }

    @Test func limit() throws {
        let sent = try description(.get)
        #expect(try followed(decide(302, "/z", from: sent, hops: 9)).url == "http://a/z")
        guard case .fail(let error) = decide(302, "/z", from: sent, hops: 10) else { return #expect(Bool(false)) }
        #expect(error == .tooManyRedirects)
        guard case .take = decide(302, "/z", from: sent, policy: .doNotFollow) else { return #expect(Bool(false)) }
    }

    @Test func policyMayVetoOrAlter() throws {
        let sent = try description(.get)
        let veto = RedirectPolicy.follow { hop in hop.count == 1 ? .stop : .follow(hop.proposal) }
        guard case .take = decide(302, "/z", from: sent, policy: veto) else { return #expect(Bool(false)) }
        let alter = RedirectPolicy.follow { hop in
            var next = hop.proposal
            next.url += "?altered"
            return .follow(next)
        }
        #expect(try followed(decide(302, "/z", from: sent, policy: alter)).url == "http://a/z?altered")
    }
}
