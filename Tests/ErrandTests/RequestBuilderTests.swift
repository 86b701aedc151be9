import Errand
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Build: Command {
    var method = HTTPRequest.Method.get
    var path: String
    var baseURL: String?
    var query: [QueryItem] = []
    var headers = HTTPFields()
    var body = RequestBody.empty
    var timeouts: Timeouts?
    var limits: Limits?
}

@Suite struct RequestBuilderTests {
    private func url(
        _ path: String, base: String? = nil, query: [QueryItem] = [], joining: PathJoining = .resolve
    ) throws(ErrandError) -> String {
        var configuration = Client.Configuration(baseURL: base)
        configuration.pathJoining = joining
        return try RequestBuilder(configuration).url(of: Build(path: path, query: query))
    }

    @Test(arguments: [
        ("http://h/v1", "foo", "http://h/v1/foo"),
        ("http://h/v1/", "foo", "http://h/v1/foo"),
        ("http://h/v1", "/foo", "http://h/foo"),
        ("http://h", "foo", "http://h/foo"),
        ("http://h:81", "/", "http://h:81/"),
        ("http://h/v1?x=1#f", "foo", "http://h/v1/foo"),
        ("http://h/v1", "", "http://h/v1/"),
        ("http://h/v1", "?a=1", "http://h/v1/?a=1"),
        ("http://h/v1", "a?b=../c", "http://h/v1/a?b=../c"),
        ("http://h/v1", "../foo", "http://h/foo"),
        ("http://h/v1", "./foo", "http://h/v1/foo"),
        ("http://h/v1", "a/../../../b", "http://h/b"),
        ("http://h/v1", ".hidden", "http://h/v1/.hidden"),
        ("http://h/v1", "//other/x", "http://other/x"),
        ("http://h/v1", "https://other/x", "https://other/x"),
        ("http://h/v1", "HTTP://other", "HTTP://other"),
        ("http://h/v1", "http://o/a/../b/./c?x=../y#/../z", "http://o/b/c?x=../y#/../z"),
        ("http://h/v1", "http://o/..", "http://o/"),
        ("http://h/v1", "http://o/a//b/.x/%2e%2e/c..", "http://o/a//b/.x/%2e%2e/c.."),
        ("http://h/a/../v1", "/foo", "http://h/foo"),
        ("http://h/a/../v1", "foo", "http://h/v1/foo"),
        ("http://h/v1", "./a:b", "http://h/v1/a:b"),
        ("http://h/v1", "a b/ü", "http://h/v1/a%20b/%C3%BC"),
        ("http://h/v1", "a%20b", "http://h/v1/a%20b"),
        ("http://h/v1", "a\"<>b", "http://h/v1/a%22%3C%3Eb"),
        ("http://h/v1", "time/12:30", "http://h/v1/time/12:30"),
    ])
    func joins(base: String, path: String, expected: String) throws {
        #expect(try url(path, base: base) == expected)
    }

    @Test(arguments: [
        ("http://h/v1", "/foo", "http://h/v1/foo"),
        ("http://h/v1/", "foo", "http://h/v1/foo"),
        ("http://h/v1", "?a", "http://h/v1?a"),
        ("http://h/v1", "", "http://h/v1"),
        ("http://h/v1", "#f", "http://h/v1#f"),
        ("http://h/v1/", "?a", "http://h/v1/?a"),
        ("http://h/v1/", "", "http://h/v1/"),
        ("http://h", "?a", "http://h?a"),
        ("http://h/v1", "/", "http://h/v1/"),
        ("http://h/v1", "http://other/x", "http://other/x"),
        ("http://h/v1", "//other/x", "http://h/v1/other/x"),
        ("http://h/v1", "/./x/../y?z=/../w", "http://h/v1/y?z=/../w"),
        ("http://h/v1", "x/..", "http://h/v1/"),
        ("http://h/v1", "a/b/../../c", "http://h/v1/c"),
        ("http://h/v1", "a//../b", "http://h/v1/a/b"),
        ("http://h/v1", "a/%2e%2e/b%2e", "http://h/v1/a/%2e%2e/b%2e"),
        ("http://h/v1", "a?x=../../..", "http://h/v1/a?x=../../.."),
    ])
    func appends(base: String, path: String, expected: String) throws {
        #expect(try url(path, base: base, joining: .append) == expected)
    }

    @Test(arguments: [
        "..", "../x", "/../x", "a/../../x", "./../x", "a/b/../../../v1/x", "%2e%2e/x", "%2E./x", "a/%2e%2E/../x",
        "..#f",
    ])
    func whatIsAppendedCannotLeaveTheBase(path: String) throws {
        do throws(ErrandError) {
            let url = try url(path, base: "http://h/v1", joining: .append)
            Issue.record("\(path) became \(url)")
        } catch {
            #expect(error == .invalidURL)
            #expect(error.message.contains("leads out of the base URL http://h/v1/"))
        }
    }

    @Test func anEmptyPathAndAFilterOnItAreAlike() throws {
        var configuration = Client.Configuration(baseURL: "http://h/v1")
        configuration.pathJoining = .append
        configuration.urlFilters = [QueryParameterFilter(["k": "v"])]
        #expect(try RequestBuilder(configuration).url(of: Build(path: "")) == "http://h/v1?k=v")
    }

    /// RFC 3986 5.4.1 and 5.4.2.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
    func resolvesAsTheRFCSays(reference: String, expected: String) {
        #expect(URLReference("http://a/b/c/d;p?q").resolving(URLReference(reference)).text == expected)
    }

    @Test(arguments: [
        ("http://a", "http://a:80"), ("HTTP://A:80/x", "http://a:80"), ("https://a/", "https://a:443"),
        ("https://u:p@a:444", "https://a:444"), ("http://[::1]", "http://[::1]:80"),
        ("http://[::1]:81/", "http://[::1]:81"), ("http://a:", "http://a:80"),
    ])
    func origins(url: String, expected: String) {
        #expect(URLReference(url).origin == expected)
    }

    @Test func queryIsEncodedAndAppended() throws {
        let items = [QueryItem("q", "a b&c=ü"), QueryItem("flag", nil), QueryItem("empty", "")]
        #expect(try url("/s", base: "http://h", query: items) == "http://h/s?q=a%20b%26c%3D%C3%BC&flag&empty=")
        #expect(try url("/s?x=1#f", base: "http://h", query: [QueryItem("y", "2")]) == "http://h/s?x=1&y=2#f")
        #expect(try url("/s?", base: "http://h", query: [QueryItem("y", "2")]) == "http://h/s?y=2")
    }

    @Test(arguments: ["a\r\nHost: evil", "a\0b", "a\tb", "a\u{7F}"])
    func controlCharactersAreRefused(path: String) {
        #expect(throws: ErrandError.invalidURL) { try url(path, base: "http://h") }
    }

    @Test func unusableURLsAreRefused() {
        #expect(throws: ErrandError.invalidURL) { try url("foo") }
        #expect(throws: ErrandError.invalidURL) { try url("") }
        #expect(throws: ErrandError.invalidURL) { try url("foo", base: "not a url") }
        #expect(throws: ErrandError.invalidURL) { try url("foo", base: "http://") }
        #expect(throws: ErrandError.invalidURL) { try url("http:///x", base: "http://h") }
        #expect(throws: ErrandError.unsupportedScheme) { try url("ftp://h/x", base: "http://h") }
        #expect(throws: ErrandError.unsupportedScheme) { try url("file://h/etc/passwd") }
    }

    @Test(arguments: [("a:b", "./a:b"), ("http:x", "./http:x"), ("http:///x", nil)] as [(String, String?)])
    func aSchemeWithoutAHostIsNamed(path: String, advice: String?) throws {
        do throws(ErrandError) {
            let url = try url(path, base: "http://h")
            Issue.record("\(path) became \(url)")
        } catch {
            #expect(error == .invalidURL)
            #expect(error.message.contains("is a URL of scheme '\(path.prefix { $0 != ":" })'"))
            #expect(error.message.contains("write './") == (advice != nil))
            if let advice { #expect(error.message.contains("'\(advice)'")) }
        }
    }

    @Test func commandHeadersReplaceDefaults() throws {
        var configuration = Client.Configuration(baseURL: "http://h")
        configuration.headers = [.accept: "text/plain", .authorization: "default"]
        configuration.userAgent = "agent"
        var command = Build(path: "x")
        command.headers = [.authorization: "own"]
        command.body = .json(["a": 1])
        let fields = try RequestBuilder(configuration).description(of: command).headers.fields
        #expect(fields[.accept] == "text/plain")
        #expect(fields[fields: .authorization].map(\.value) == ["own"])
        #expect(fields[.userAgent] == "agent")
        #expect(fields[.contentType] == "application/json")
    }

    @Test func ownContentTypeWins() throws {
        var command = Build(path: "x", headers: [.contentType: "application/vnd.x+json"], body: .json(["a": 1]))
        let builder = RequestBuilder(Client.Configuration(baseURL: "http://h"))
        #expect(try builder.description(of: command).headers.fields[values: .contentType] == ["application/vnd.x+json"])
        command.headers = [:]
        command.body = .bytes([1], contentType: nil)
        #expect(try builder.description(of: command).headers[.contentType] == nil)
    }

    @Test func bodies() throws {
        let builder = RequestBuilder(Client.Configuration(baseURL: "http://h"))
        func bytes(_ body: RequestBody) throws -> String {
            String(decoding: try builder.description(of: Build(path: "x", body: body)).bodyBytes, as: UTF8.self)
        }
        #expect(try bytes(.string("ü")) == "ü")
        #expect(try bytes(.form(["b": "2 3", "a": "&"])) == "a=%26&b=2%203")
        #expect(try bytes(.json(["a": 1])) == #"{"a":1}"#)
        #expect(try bytes(.empty) == "")
        #expect(throws: ErrandError.requestEncodingFailed) { try bytes(.json(["a": Double.nan])) }
        #expect(throws: ErrandError.invalidBody) { try bytes(.file("a\0b")) }
        #expect(throws: ErrandError.invalidBody) { try bytes(.file("a", length: -5)) }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(2_592_001), .seconds(Int64.max)])
    func absurdTimeoutsAreRefused(timeout: Duration) {
        let builder = RequestBuilder(Client.Configuration(baseURL: "http://h"))
        let command = Build(path: "x", timeouts: Timeouts(idle: .after(timeout)))
        #expect(throws: ErrandError.invalidLimit) { try builder.description(of: command) }
    }

    @Test func timeoutsRoundUp() throws {
        #expect(try Timeouts.milliseconds(.after(.nanoseconds(1)), "x") == 1)
        #expect(try Timeouts.milliseconds(.milliseconds(1500), "x") == 1500)
        #expect(try Timeouts.milliseconds(.after(Timeouts.maximum), "x") == 2_592_000_000)
        #expect(try Timeouts.milliseconds(nil, "x") == 0)
    }

    @Test(arguments: [0, -1, Int.min, (1 << 50) + 1, Int.max])
    func absurdLimitsAreRefused(limit: Int) {
        let builder = RequestBuilder(Client.Configuration(baseURL: "http://h"))
        do throws(ErrandError) {
            _ = try builder.description(of: Build(path: "x", limits: Limits(bodyBytes: limit)))
            Issue.record("\(limit) was taken")
        } catch {
            #expect(error == .invalidLimit)
            #expect(error.message.contains("'bodyBytes' is \(limit)"))
        }
    }

    @Test func rawCommandsCheckWhatNobodyChecked() {
        #expect(throws: ErrandError.invalidMethod) { try RawCommand(method: "G T", url: "/", headers: []) }
        #expect(throws: ErrandError.invalidMethod) { try RawCommand(method: "", url: "/", headers: []) }
        #expect(throws: ErrandError.invalidHeader) { try RawCommand(method: "GET", url: "/", headers: [("a b", "c")]) }
        for value in ["a\r\nb: c", "a\nb", "a\0b"] {
            #expect(throws: ErrandError.invalidHeader) {
                try RawCommand(method: "GET", url: "/", headers: [("a", value)])
            }
        }
    }
}
