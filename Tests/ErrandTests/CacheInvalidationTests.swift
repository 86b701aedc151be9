import Errand
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheInvalidationTests {
    private func urls(
        _ method: HTTPRequest.Method, _ status: Int, _ fields: [(String, String)] = [], url: String = "http://a/x?q#f"
    ) -> [String] {
        HTTPCacheInvalidation.urls(method: method, url: url, statusCode: status, headers: CacheWorld.fields(fields))
    }

    @Test func rfc9111_4_4_unsafeMethodsVoidTheirTarget() {
        for method in [HTTPRequest.Method.post, .put, .delete, .patch, .connect, HTTPRequest.Method("LOCK") ?? .post] {
            #expect(urls(method, 200) == ["http://a/x?q"])
        }
        for method in [HTTPRequest.Method.get, .head, .options, .trace] { #expect(urls(method, 200).isEmpty) }
    }

    @Test(arguments: [
        (200, true), (204, true), (303, true), (399, true), (400, false), (500, false), (100, false), (0, false),
    ])
    func rfc9111_4_4_errorsVoidNothing(status: Int, isVoided: Bool) {
        #expect(urls(.put, status).isEmpty != isVoided)
    }

    @Test(arguments: [
        ("y", ["http://a/y"]), ("/z?1#f", ["http://a/z?1"]), ("http://A:80/y", ["http://A:80/y"]), ("http://a/x?q", []),
        ("../y z", ["http://a/y%20z"]),
        // Nobody voids what is another's.
        ("http://b/y", []), ("https://a/y", []), ("http://a:81/y", []), ("//b/y", []), ("mailto:a@b", []), ("", []),
        ("a\u{1}b", ["http://a/a%20b"]),
    ])
    func rfc9111_4_4_otherTargetsOfTheSameOrigin(value: String, more: [String]) {
        for name in ["Location", "Content-Location"] {
            #expect(urls(.post, 201, [(name, value)]) == ["http://a/x?q"] + more, "\(name): \(value)")
        }
        #expect(urls(.post, 201, [("Location", "y"), ("Content-Location", "y")]) == ["http://a/x?q", "http://a/y"])
    }
}
