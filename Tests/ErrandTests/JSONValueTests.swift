import Errand
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct JSONValueTests {
    private func json(_ text: String) throws -> JSONValue {
        try Response(statusCode: 200, headers: [.contentType: "text/json"], body: Array(text.utf8)).json()
    }

    @Test(
        arguments: [
            ("null", .null), ("true", true), ("false", false), ("0", 0), ("-1", -1), ("1.5", 1.5), ("1.0", 1),
            ("1e2", 100),
            ("\"\"", ""), ("\"1\"", "1"), ("\"\\ud83d\\ude00\"", "😀"), ("[]", []), ("{}", [:]),
            (" [1, \"a\"] ", [1, "a"]),
            ("{\"a\": {\"b\": [null]}}", ["a": ["b": [.null]]]), ("{\"foo\":\"bar\"}", ["foo": "bar"]),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9007199254740993", .integer(9_007_199_254_740_993)), ("18446744073709551616", .number(0x1p64)),
            ("1e-400", 0), ("\u{feff}[1]", [1]), ("[true, 1]", [true, 1]), ("[[[]]]", [[[]]]),
            ("", .null), (" ", .null),
        ] as [(String, JSONValue)])
    func values(text: String, expected: JSONValue) throws {
        #expect(try json(text) == expected)
    }

    @Test(
        arguments: [
            "{invalid}", "  ", "\n", "[", "]", "[,]", "[1,,]", "{\"a\"}", "nul", "1 2", "\"", "\"\\ud800\"", "1e400",
            "NaN",
            "-", "01",
            "[1}", "\u{0}", "'a'", "<html>",
        ])
    func whatIsNoJSON(text: String) {
        let error = #expect(throws: ErrandError.self) { try self.json(text) }
        #expect(error == .responseDecodingFailed)
        #expect(error?.underlyingError != nil)
        #expect(error?.response?.body.count == text.utf8.count)
    }

    @Test func bytesThatAreNoUTF8() {
        #expect(throws: ErrandError.responseDecodingFailed) {
            try Response(statusCode: 200, body: Array("\"".utf8) + [0xFF, 0xFE, 0x22]).json()
        }
    }

    /// The decoder's own limit is what keeps the stack whole, on a callback queue's thread too.
    @Test(arguments: ["[", "{\"a\":"], [100_000, 513])
    func nestingIsBounded(opening: String, depth: Int) {
        #expect(throws: ErrandError.responseDecodingFailed) {
            try self.json(String(repeating: opening, count: depth))
        }
        let closed = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(throws: ErrandError.responseDecodingFailed) { try self.json(closed) }
    }

    @Test func deepNestingIsRead() throws {
        var value = try json(String(repeating: "[", count: 500) + "7" + String(repeating: "]", count: 500))
        for _ in 0..<500 { value = value[0] ?? .null }
        #expect(value == 7)
    }

    @Test func numbersAreEqualByValue() {
        #expect(JSONValue.integer(1) == .number(1) && JSONValue.number(1) == .integer(1))
        #expect(JSONValue.integer(1) != .number(1.5) && JSONValue.integer(.max) != .number(0x1p63))
        #expect(JSONValue.integer(1) != .bool(true) && JSONValue.bool(false) != .null && JSONValue.string("1") != 1)
        #expect(Set([JSONValue.integer(1), .number(1), .number(1.5), .number(-0.0), 0]).count == 3)
        #expect(JSONValue.number(0x1p80) == .number(0x1p80))
    }

    @Test func membersAreReached() throws {
        let value = try json(#"{"users": [{"name": "ada", "age": 36, "x": 1.5, "ok": true, "none": null}]}"#)
        let user = value["users"]?[0]
        #expect(user?["name"]?.string == "ada" && user?["age"]?.integer == 36 && user?["age"]?.number == 36)
        #expect(user?["x"]?.number == 1.5 && user?["x"]?.integer == nil && user?["ok"]?.bool == true)
        #expect(user?["none"]?.isNull == true && user?["missing"] == nil && user?["name"]?.integer == nil)
        #expect(value["users"]?.array?.count == 1 && value.object?.keys.first == "users" && value.array == nil)
        #expect(
            value["users"]?[1] == nil && value["users"]?[-1] == nil && value[0] == nil && value["users"]?["a"] == nil)
        #expect(JSONValue.number(0x1p63).integer == nil && JSONValue.number(.nan).integer == nil)
    }

    @Test func nullsAreRemoved() throws {
        let value = try json(
            #"{"key": "value", "nullkey": null, "array": [{"subnullkey": null}, null], "o": {"a": null}}"#)
        #expect(value.removingNulls == ["key": "value", "array": [[:], .null], "o": [:]])
        #expect(JSONValue.null.removingNulls == .null)
    }

    @Test func valuesAreWrittenAndReadAgain() throws {
        let value: JSONValue = [
            "a": [1, 2.5, .null, true, "x\u{1F600}\n"], "b": [:], "c": [], "d": .integer(.min), "e": .number(1e300),
        ]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
        #expect(throws: (any Error).self) { try JSONEncoder().encode([JSONValue.number(.nan)]) }
    }

    @Test func aCommandMayAnswerWithAValue() throws {
        struct Get: Command {
            var path = "x"
            typealias Response = JSONValue
        }
        #expect(try Get().decode(Errand.Response(statusCode: 200, body: Array(" ".utf8))) == .null)
        #expect(try Get().decode(Errand.Response(statusCode: 200, body: Array("[1]".utf8))) == [1])
        #expect(Get().shape == nil && Get().acceptedContentTypes == .inherited)
    }
}
