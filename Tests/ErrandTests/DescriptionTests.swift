import Errand
import ErrandTesting
import HTTPTypes
import Testing

private struct GetUser: Command {
    var name: String
    var path: String { "users/\(segment: name)/photos" }
}

/// What people see who print a value, and paths that are made of values.
@Suite struct DescriptionTests {
    @Test(arguments: [
        ("ada", "ada"), ("a/b", "a%2Fb"), ("a?b#c", "a%3Fb%23c"), ("50%", "50%25"), ("%2F", "%252F"),
        ("a b", "a%20b"), ("ü", "%C3%BC"), ("..", "%2E%2E"), (".", "%2E"), ("...", "..."), ("", ""), ("a:b", "a%3Ab"),
    ])
    func aSegmentIsOne(name: String, expected: String) throws {
        #expect("\(segment: name)" == expected)
        let url = try Client.stubbed(StubTransport()).describe(GetUser(name: name)).url
        #expect(url == "http://test/users/\(expected)/photos")
    }

    @Test func aSegmentMayBeANumber() {
        #expect("users/\(segment: 7)" == "users/7")
    }

    @Test func aJSONValueIsPrintedAsJSON() throws {
        let value: JSONValue = ["b": [1, 2.5, .null, true], "a": ["name": "x\"y\\z\n\u{1}\u{9B}ü"]]
        let text = #"{"a": {"name": "x\"y\\z\n\u0001\u009bü"}, "b": [1, 2.5, null, true]}"#
        #expect("\(value)" == text)
        #expect(String(reflecting: value) == text)
        #expect(try Response(statusCode: 200, body: Array(text.utf8)).json() == value)
    }

    @Test func aHeaderBlockIsPrintedFieldByField() {
        let block = HeaderBlock([.accept: "a/b", .authorization: "Bearer secret", .userAgent: "t"])
        #expect("\(block)" == "Accept: a/b\nAuthorization: REDACTED\nUser-Agent: t")
        #expect(String(reflecting: block) == block.description)
    }

    @Test func anyObjectIsSaidByName() throws {
        let shape: JSONShape = ["user": .anyObject, "tags": .anyArray]
        try shape.check(["user": ["id": 1], "tags": ["a", 1]])
        try shape.check(["user": [:], "tags": []])
        #expect(throws: ShapeMismatch.self) { try shape.check(["user": [], "tags": []]) }
        #expect(throws: ShapeMismatch.self) { try shape.check(["user": .null, "tags": []]) }
        #expect(throws: ShapeMismatch.self) { try shape.check(["user": [:], "tags": [:]]) }
    }
}
