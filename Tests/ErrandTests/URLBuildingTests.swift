import Errand
import HTTPTypes
import Testing

@testable import ErrandClient

private struct Ask: Command {
    var path: String
    var urlRules: URLRules?
    var baseURL: String?
    var cdnURL: String?
    var usesCDN = false
    var query: [QueryItem] = []
}

private struct Prefix: URLFilter {
    var text: String
    func filter(_ url: String, for command: any Command) -> String { text + url }
}

private struct Refusing: URLFilter {
    struct Refusal: Error {}
    func filter(_ url: String, for command: any Command) throws -> String { throw Refusal() }
}

@Suite struct URLBuildingTests {
    private func url(_ ask: Ask, _ change: (inout Client.Configuration) -> Void = { _ in }) throws(ErrandError)
        -> String
    {
        var configuration = Client.Configuration(baseURL: "http://base/v1")
        change(&configuration)
        return try RequestBuilder(configuration).description(of: ask).url
    }

    @Test func theCDNIsUsedWhereAskedFor() throws {
        let ask = Ask(path: "x", usesCDN: true)
        #expect(try url(ask) { $0.cdnURL = "http://cdn/c" } == "http://cdn/c/x")
        #expect(try url(Ask(path: "x")) { $0.cdnURL = "http://cdn" } == "http://base/v1/x")
        let own = Ask(path: "x", baseURL: "http://own", cdnURL: "http://cdn2/", usesCDN: true)
        #expect(try url(own) { $0.cdnURL = "http://cdn" } == "http://cdn2/x")
        #expect(try url(Ask(path: "x", usesCDN: true)) { $0.cdnURL = "http://cdn" } == "http://cdn/x")
        #expect(try url(Ask(path: "http://abs/x", usesCDN: true)) == "http://abs/x")
    }

    @Test func anEmptyCDNIsAnErrorAndNoFallback() {
        let ask = Ask(path: "x", baseURL: "http://own", usesCDN: true)
        #expect(throws: ErrandError.invalidURL) { try url(ask) }
        #expect(throws: ErrandError.invalidURL) { try url(ask) { $0.cdnURL = "" } }
        #expect(throws: ErrandError.invalidURL) { try url(ask) { $0.cdnURL = "cdn" } }
    }

    /// `nil` is none; an empty text is no URL.
    @Test func anEmptyBaseIsAnError() throws {
        #expect(try url(Ask(path: "x", baseURL: nil)) == "http://base/v1/x")
        #expect(throws: ErrandError.invalidURL) { try url(Ask(path: "x", baseURL: "")) }
        #expect(throws: ErrandError.invalidURL) { try url(Ask(path: "x")) { $0.baseURL = "" } }
        #expect(throws: ErrandError.invalidURL) {
            try url(Ask(path: "x", cdnURL: "", usesCDN: true)) { $0.cdnURL = "http://cdn" }
        }
    }

    /// Which origins get the client's credentials is not known then.
    @Test func aClientWithABrokenBaseSendsNothing() throws {
        for broken in ["", "base", "http://"] {
            for path in ["http://abs/x", "x"] {
                #expect(throws: ErrandError.invalidURL) { try url(Ask(path: path)) { $0.baseURL = broken } }
                #expect(throws: ErrandError.invalidURL) { try url(Ask(path: path)) { $0.cdnURL = broken } }
            }
        }
        #expect(try url(Ask(path: "http://abs/x")) { $0.baseURL = nil } == "http://abs/x")
    }

    @Test func filtersRunInOrderOnThePath() throws {
        let ask = Ask(path: "x", query: [QueryItem("q", "1")])
        let filtered = try url(ask) { $0.urlFilters = [Prefix(text: "b/"), Prefix(text: "/a/")] }
        #expect(filtered == "http://base/a/b/x?q=1")
        #expect(try url(ask) { $0.urlFilters = [Prefix(text: "http://other/")] } == "http://other/x?q=1")
    }

    @Test func absoluteURLsAreFilteredByChoice() throws {
        let ask = Ask(path: "HTTP://h/x")
        #expect(try url(ask) { $0.urlFilters = [Prefix(text: "/a")] } == "HTTP://h/x")
        let filtered = try url(Ask(path: "http://h/x")) {
            $0.urlFilters = [QueryParameterFilter(["k": "v"])]
            $0.filtersAbsoluteURLs = true
        }
        #expect(filtered == "http://h/x?k=v")
    }

    @Test func rulesByCommandAndOverride() throws {
        func url(_ rules: URLRules?, _ override: URLRules? = nil, path: String = "/x") throws -> String {
            var configuration = Client.Configuration(baseURL: "http://base/v1")
            configuration.urlFilters = [QueryParameterFilter(["k": "client"])]
            var overrides = RequestOverrides()
            overrides.urlRules = override
            return try RequestBuilder(configuration).url(of: Ask(path: path, urlRules: rules), overrides)
        }
        let own = [QueryParameterFilter(["k": "own"])]
        #expect(try url(nil) == "http://base/x?k=client")
        #expect(try url(URLRules(pathJoining: .append)) == "http://base/v1/x?k=client")
        #expect(try url(URLRules(filters: own)) == "http://base/x?k=own")
        #expect(try url(URLRules(filters: [])) == "http://base/x")
        #expect(try url(nil, path: "http://h/") == "http://h/")
        #expect(try url(URLRules(filtersAbsoluteURLs: true), path: "http://h/") == "http://h/?k=client")
        #expect(try url(nil, URLRules(filtersAbsoluteURLs: true), path: "http://h/") == "http://h/?k=client")
        // Member by member: what the override leaves out is the command's.
        let both = URLRules(pathJoining: .append, filters: own)
        #expect(try url(both, URLRules(filters: [])) == "http://base/v1/x")
        #expect(try url(both, URLRules(pathJoining: .resolve)) == "http://base/x?k=own")
    }

    @Test func aFilterThatThrowsEndsTheRequest() {
        do throws(ErrandError) {
            _ = try url(Ask(path: "x")) { $0.urlFilters = [Prefix(text: "a"), Refusing()] }
            Issue.record("the filter's error was lost")
        } catch {
            #expect(error == .interceptionFailed)
            #expect(error.underlyingError is Refusing.Refusal)
        }
    }

    @Test(arguments: [
        ("x", "x?b=%C3%BC&a"), ("x?", "x?b=%C3%BC&a"), ("x?y=1", "x?y=1&b=%C3%BC&a"), ("x?y&", "x?y&b=%C3%BC&a"),
        ("x#f?g", "x?b=%C3%BC&a#f?g"), ("x?y#f", "x?y&b=%C3%BC&a#f"), ("", "?b=%C3%BC&a"),
    ])
    func commonArguments(path: String, expected: String) {
        let filter = QueryParameterFilter([QueryItem("b", "ü"), QueryItem("a", nil)])
        #expect(filter.filter(path, for: Ask(path: path)) == expected)
        #expect(QueryParameterFilter([]).filter(path, for: Ask(path: path)) == path)
    }

    /// RFC 3986 5.4, through the whole builder, where the base is a folder: 5.4's own base has a last segment, which
    /// ``PathJoining/resolve`` keeps as a folder by YTKNetwork's rule, so here it ends with a slash.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"), ("g?y/./x", "http://a/b/c/g?y/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ])
    func theTableOfTheRFC(path: String, expected: String) throws {
        #expect(try url(Ask(path: path, baseURL: "http://a/b/c/")) == expected)
    }

    @Test(arguments: [
        ("搜索/结果?词=天 气", "http://base/v1/%E6%90%9C%E7%B4%A2/%E7%BB%93%E6%9E%9C?%E8%AF%8D=%E5%A4%A9%20%E6%B0%94"),
        ("😀", "http://base/v1/%F0%9F%98%80"), ("a%2Fb%zz", "http://base/v1/a%2Fb%25zz"),
        ("e\u{301}", "http://base/v1/e%CC%81"), ("a|b^c`{d}", "http://base/v1/a%7Cb%5Ec%60%7Bd%7D"),
        ("a\\b", "http://base/v1/a%5Cb"), ("http://bücher.example/ä", "http://b%C3%BCcher.example/%C3%A4"),
        ("100%", "http://base/v1/100%25"), ("%", "http://base/v1/%25"), ("%%41%4", "http://base/v1/%25%41%254"),
        ("a%zzb?c=50% ü#%", "http://base/v1/a%25zzb?c=50%25%20%C3%BC#%25"), ("%ü%25", "http://base/v1/%25%C3%BC%25"),
        ("http://[fe80::1%eth0]/", "http://[fe80::1%25eth0]/"),
        ("#\u{301}", "http://base/v1/#%CC%81"), ("a\u{A0}b\u{2028}", "http://base/v1/a%C2%A0b%E2%80%A8"),
    ])
    func namesOfAllKinds(path: String, expected: String) throws {
        #expect(try url(Ask(path: path)) == expected)
    }

    /// What browsers would read as a URL of another host: refused, whether it stands alone or before a base.
    @Test(arguments: [
        #"http://good\@evil/"#, #"http://\evil/"#, #"//good\@evil/"#, #"\\evil/x"#, #"/\evil/x"#, #"\/evil/x"#,
        " http://evil/", "  //evil/",
    ])
    func noThirdReading(path: String) {
        #expect(throws: ErrandError.invalidURL) { try url(Ask(path: path)) }
        #expect(throws: ErrandError.invalidURL) { try url(Ask(path: "x", baseURL: path)) }
        #expect(throws: ErrandError.invalidURL) {
            try RequestBuilder(Client.Configuration()).description(of: RawCommand(url: path))
        }
    }

    /// Once, as the base is made: no request asks again.
    @Test(arguments: [
        "http://GOO\u{A0}\u{3000}goo", "http://%EF%BC%85%EF%BC%90%EF%BC%90", "http://evil\u{FF0F}.good",
        "http://256.1.1.1",
        "http://a%2Fb", "http://b%FCcher", "http://\u{AD}",
    ])
    func aBaseHasAHost(base: String) {
        #expect(throws: ErrandError.invalidURL) { try url(Ask(path: "x", baseURL: base)) }
    }

    @Test(arguments: ["http://", "http:", "://h", "mailto:a@b", "http:///x", "ws://h/", "javascript:alert(1)"])
    func whatCannotBeAURL(path: String) {
        #expect(throws: ErrandError.self) { try RequestBuilder(Client.Configuration()).url(of: Ask(path: path)) }
    }
}
