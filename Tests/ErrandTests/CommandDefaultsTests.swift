import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandModel

/// Says nothing but where.
private struct Plain: Command {
    var path: String { "plain" }
}

private struct Bytes: Command {
    var path: String { "bytes" }
    typealias Response = [UInt8]
}

private struct Own: Command {
    var path: String { "own" }
    struct Response: ResponseConvertible, Decodable {
        var length: Int
        init(response: Errand.Response) { length = response.body.bytes.count }
    }
}

@Suite struct CommandDefaultsTests {
    private let response = Errand.Response(statusCode: 200, body: Array("[1]".utf8))

    @Test func aCommandWithoutAResponseTypeGetsTheResponse() throws {
        let value: Errand.Response = try Plain().decode(response)
        #expect(value.statusCode == 200)
        #expect(value.body.bytes == Array("[1]".utf8))
        #expect(Plain().method == .get)
    }

    @Test func typesThatTakeAResponseAreNotReadAsJSON() throws {
        #expect(try Bytes().decode(response) == Array("[1]".utf8))
        #expect(try Own().decode(response).length == 3)
    }

    @Test(arguments: [
        ("http://h/a/../b?x=/../y#/../z", "http", "h", "/a/../b", "x=/../y", "/../z"),
        ("http://h?q", "http", "h", "", "q", nil),
        ("//h/p", nil, "h", "/p", nil, nil),
        ("a:b", "a", nil, "b", nil, nil),
        ("1:b", nil, nil, "1:b", nil, nil),
        ("p#\u{301}f", nil, nil, "p", nil, "\u{301}f"),
        ("", nil, nil, "", nil, nil),
    ])
    func references(
        text: String, scheme: String?, authority: String?, path: String, query: String?, fragment: String?
    ) {
        let reference = URLReference(text)
        #expect(reference.scheme.map(String.init) == scheme)
        #expect(reference.authority.map(String.init) == authority)
        #expect(String(reference.path) == path)
        #expect(reference.query.map(String.init) == query)
        #expect(reference.fragment.map(String.init) == fragment)
        #expect(reference.text == text)
    }
}
