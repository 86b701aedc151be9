import Errand
import HTTPTypes
import Testing

@testable import ErrandTesting

/// What the rules compare.
@Suite struct RequestMatchingTests {
    private static let url = "http://ada@h:80/a?x=1&y=2"

    private func sent(
        _ url: String = RequestMatchingTests.url, method: String = "GET", headers: HTTPFields = [:],
        body: String? = nil, type: String = ""
    ) -> HAR.Sent {
        HAR.Sent(
            method: method, url: url, headers: headers,
            body: body.map { HAR.Body(bytes: Array($0.utf8), mimeType: type) })
    }

    private func parts(
        _ recorded: HAR.Sent, _ other: HAR.Sent, _ matching: RequestMatching = RequestMatching()
    ) -> [RequestDifference.Part] {
        matching.differences(recorded: recorded, sent: other).map(\.part)
    }

    @Test func urlsAreComparedByTheirParts() {
        #expect(parts(sent(), sent("http://H/a?y=2&x=1")).isEmpty)
        #expect(parts(sent("http://h"), sent("http://h:80/")).isEmpty)
        #expect(parts(sent(), sent("https://h/a?x=1&y=2")) == [.scheme, .port])
        #expect(parts(sent(), sent("http://h:81/b?x=1&y=2")) == [.port, .path])
        #expect(parts(sent(), sent("https://g:81/a?x=1&y=2"), RequestMatching(url: .target)).isEmpty)
        #expect(parts(sent("http://[::1]/"), sent("http://[::1]:80/")).isEmpty)
        #expect(parts(sent(), sent("http://h/a?x=1&y=3")) == [.query])
    }

    @Test func queriesAreComparedByRule() {
        let (one, other) = (sent("http://h/?a=1&t=5&b=%41"), sent("http://h/?b=%41&a=1&t=6"))
        #expect(parts(one, other) == [.query])
        #expect(parts(one, other, RequestMatching(query: .ignoring(["t"]))).isEmpty)
        #expect(parts(one, other, RequestMatching(query: .only(["a", "b"]))).isEmpty)
        #expect(parts(one, other, RequestMatching(query: .only(["t"]))) == [.query])
        let (ordered, turned) = (sent("http://h/?a=1&b=2"), sent("http://h/?b=2&a=1"))
        #expect(parts(ordered, turned).isEmpty)
        #expect(parts(ordered, turned, RequestMatching(query: .exact)) == [.query])
    }

    @Test func methodsAndFieldsAreComparedByChoice() {
        #expect(parts(sent(), sent(method: "HEAD")) == [.method])
        #expect(parts(sent(), sent(method: "HEAD"), RequestMatching(comparesMethod: false)).isEmpty)
        let (one, other) = (
            sent(headers: [.accept: "a", .userAgent: "x"]), sent(headers: [.accept: "b", .userAgent: "y"])
        )
        #expect(parts(one, other).isEmpty)
        #expect(parts(one, other, RequestMatching(fields: [.accept])) == [.field("accept")])
        #expect(parts(one, one, RequestMatching(fields: [.accept])).isEmpty)
    }

    @Test func bodiesAreComparedByType() {
        let json = sent(body: #"{"a": [1, {"b": 2}], "c": null}"#, type: "application/json; charset=utf-8")
        #expect(parts(json, sent(body: #"{"c":null,"a":[1.0,{"b":2}]}"#)).isEmpty)
        #expect(parts(json, sent(body: #"{"c":null,"a":[1,{"b":3}]}"#)) == [.body(at: "a[1].b")])
        #expect(parts(json, sent(body: #"{"c":null,"a":[1]}"#)) == [.body(at: "a[1]")])
        #expect(parts(json, sent(body: "{}"), RequestMatching(body: .ignored)).isEmpty)
        #expect(parts(json, sent(body: "no JSON")) == [.body(at: "byte 0")])
        let text = sent(body: #"{"a":1}"#, type: "text/plain")
        #expect(parts(text, sent(body: #"{"a": 1}"#)) == [.body(at: "byte 5")])
        #expect(parts(text, sent(body: #"{"a": 1}"#), RequestMatching(body: .json)).isEmpty)
        #expect(parts(sent(), sent(body: "")).isEmpty)
        #expect(parts(sent(), sent(body: "a")) == [.body(at: "byte 0")])
        var beginning = sent(body: "abc")
        beginning.body?.isTruncated = true
        #expect(parts(beginning, sent(body: "abcdef")).isEmpty)
    }

    @Test func boundariesDoNotCount() {
        func form(_ boundary: String, _ text: String) -> HAR.Sent {
            sent(
                body: "--\(boundary)\r\n\r\n\(text)\r\n--\(boundary)--\r\n",
                type: "multipart/form-data; boundary=\"\(boundary)\"")
        }
        #expect(parts(form("a", "1"), form("longer", "1")).isEmpty)
        #expect(parts(form("a", "1"), form("a", "2")) == [.body(at: "byte 14")])
        var beginning = form("a", "1")
        beginning.body?.bytes.removeLast(9)
        beginning.body?.isTruncated = true
        #expect(parts(beginning, form("longer", "1")).isEmpty)
    }

    @Test func differencesReadWell() {
        let long = String(repeating: "x", count: 40)
        let found = RequestMatching().differences(
            recorded: sent("http://h/a", body: long + "1" + long), sent: sent("http://h/b", body: long + "2" + long))
        #expect(
            found.map(\.description) == [
                "path: '/a' was recorded, '/b' was sent",
                "body at byte 40: '...\(String(repeating: "x", count: 16))1\(String(repeating: "x", count: 23))...' "
                    + "was recorded, '...\(String(repeating: "x", count: 16))2\(String(repeating: "x", count: 23))...' was sent",
            ])
    }
}
