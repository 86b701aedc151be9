import Errand
import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct ContentTypesTests {
    private func response(_ contentType: String?, body: String = "x", status: Int = 200) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = contentType
        return Response(statusCode: status, headers: headers, body: Array(body.utf8))
    }

    @Test(
        arguments: [
            ("application/json", true), ("text/json", true), ("text/javascript", true), ("nonstandard/json", false),
            ("application/problem+json", true), ("APPLICATION/JSON; charset=utf-8", true), ("application/json;", true),
            (" application/json ", true), ("application/json ;x", true), ("application/jsonx", false),
            ("application/json+xml", false), ("text/html", false), ("json", false), ("", false), ("/", false),
            ("application/", false), ("application/json, text/html", false), ("application/json text/html", false),
            ("\"application/json\"", false), ("*/*", false),
        ])
    func json(contentType: String, isAccepted: Bool) {
        #expect(ContentTypes.json.accepts(response(contentType)) == isAccepted)
        #expect(ContentTypes.any.accepts(response(contentType)))
    }

    @Test(
        arguments: [
            ("image/*", "image/png", true), ("image/*", "IMAGE/PNG", true), ("image/*", "text/png", false),
            ("Image/PNG", "image/png;q=1", true), ("*/*", "a/b", true), ("*/*", "nonsense", false),
            ("+json", "a/b+json", true), ("+json", "a/json", false), ("+JSON", "a/b+json", true),
            ("application/*+json", "application/geo+json", true), ("application/*+json", "image/geo+json", false),
            ("text/html; charset=utf-8", "text/html", true), ("nonsense", "nonsense", false), ("", "text/html", false),
            ("image", "image/png", false), ("image/", "image/png", false),
        ])
    func ranges(range: String, contentType: String, isAccepted: Bool) {
        #expect(ContentTypes.of([range]).accepts(contentType: contentType) == isAccepted)
        #expect(ContentTypes.of(["x/y", range]).accepts(contentType: contentType) == isAccepted)
    }

    @Test func aResponseWithoutBodyPasses() throws {
        for status in [200, 204, 205, 304] {
            #expect(ContentTypes.json.accepts(response("text/html", body: "", status: status)))
            #expect(ContentTypes.json.accepts(response(nil, body: "", status: status)))
            try ContentTypes.json.check(response(nil, body: "", status: status))
        }
        #expect(!ContentTypes.json.accepts(response(nil)))
        #expect(!ContentTypes.of(["*/*"]).accepts(contentType: nil))
        #expect(ContentTypes.any.accepts(response(nil)))
    }

    @Test func theErrorNamesBoth() {
        let response = response("text/html; charset=utf-8", body: "<html>")
        let error = #expect(throws: ErrandError.self) { try ContentTypes.xml.check(response) }
        #expect(error == .contentTypeNotAccepted)
        #expect(error?.statusCode == 200)
        #expect(error?.response?.body.bytes == Array("<html>".utf8))
        #expect(
            error?.message
                == "the content type is 'text/html; charset=utf-8', expected application/xml, text/xml, +xml")
        let missing = #expect(throws: ErrandError.self) { try ContentTypes.json.check(self.response(nil)) }
        #expect(missing?.message.hasPrefix("the content type is missing, expected application/json") == true)
    }

    @Test func unionsTakeEither() {
        let both = ContentTypes.json.union(.xml).union(.json)
        #expect(both.accepts(contentType: "text/xml") && both.accepts(contentType: "text/json"))
        #expect(!both.accepts(contentType: "text/html"))
        #expect(
            both.description == "application/json, text/json, text/javascript, +json, application/xml, text/xml, +xml")
        #expect(ContentTypes.json.union(.any) == .any && ContentTypes.any.union(.json).description == "any")
        #expect(!ContentTypes.of([]).accepts(contentType: "a/b"))
    }

    /// What servers send, and what nobody should.
    @Test(
        arguments: [
            ("text/html; charset=utf-8", "utf-8"), ("text/html;charset=\"utf-8\"", "utf-8"),
            ("text/html; a=b; CHARSET=X", "X"), ("text/html; charset = x", "x"), ("text/html; charset=", nil),
            ("text/html; charset", nil), ("text/html; charset=\"", nil), ("text/html; charset=\"a", "a"),
            ("text/html; charset=\"a\\\"b\\\\\"", "a\"b\\"), ("text/html; x=\"; charset=a\"; charset=b", "b"),
            ("text/html;;; ;charset=a", "a"), ("text/html; =x; charset=a", "a"), ("text/html; charset=a b ; c", "a b"),
            ("text/html; charset=\"a\\", "a\\"), ("text/html", nil), ("text/html; charset=a; charset=b", "a"),
            ("text/html; charset=; charset=b", "b"), ("text/html; \u{e9}=1; charset=\u{e9}", "\u{e9}"),
        ] as [(String, String?)])
    func parameters(text: String, charset: String?) {
        #expect(MediaType(text)?.parameter("charset") == charset)
    }
}
