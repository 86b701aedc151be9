import Errand
import ErrandTesting
import FoundationEssentials
import Testing

@testable import ErrandModel

/// The parser against Foundation's decoder, which reads a `JSONValue` through its `Decodable` way.
@Suite struct JSONParserTests {
    private func parsed(_ text: [UInt8]) -> JSONValue? {
        text.withUnsafeBytes { try? JSONParser.value(of: $0) }
    }

    private func decoded(_ text: [UInt8]) -> JSONValue? {
        guard (try? JSONGuard.check(Data(text))) != nil else { return nil }
        return try? JSONDecoder().decode(JSONValue.self, from: Data(text))
    }

    @Test(arguments: [
        "1", "1.0", "1e2", "-0", "-0.0", "0e5", "1E+2", "1e18", "9007199254740993.0", "9223372036854775807.0",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1e19",
        "123456789012345678e1", "1.5e1", "0.1e1", "1.", "1.e1", ".5", "+1", "0x10", "00", "-01", "1e", "1e+", "1e400",
        "-1e400", "1e-400", "1e-320", "5e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "1e308", "1e309",
        "12345678901234567890123", "100000000000000000000e-2", "184467440737095516150e-1", "0.10000000000000000555",
        "0e99999999999999999999", "1e99999999999999999999", "1e-99999999999999999999", "1e2147483648",
        "1.00000000000000000000000000000", "-", "--1", "1-", "1e5.5", "1.5.5", "1ee5", "2e-", "1_000", "1x",
        "[1,]", "[,1]", "[,]", "[1,,]", "[1 2]", "[1]]", "[1\r\n\t ,2]", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\":}",
        "{1:2}", "{a:1}", "{\"a\" :1 }", "{\"a\":1 \"b\":2}", "{\"a\":[}", "{\"a\":1,\"a\":2}",
        "{\"\\u0061\":1,\"a\":2}", "{\"e\\u0301\":1,\"\\u00e9\":2}", "\"\\u0000\"", "\"\u{7f}\"", "\"\t\"", "\"\\x\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00\"", "\"\\ud83d\\u0041\"", "\"\\ude00\"",
        "\"\\ud83d\"", "\"\\ud83dx\"", "\"\\ud83d\\\"", "\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "\"a\"b", "\"", "\"\\",
        "\"\\u",
        "tru", "truex", "true x", "nullnull", "[truefalse]", "nul", "Infinity", "-Infinity", "NaN", "'a'", "",
        " ", "[1]\u{0}", "\u{0c}1", "\u{feff}1", "\u{feff}\u{feff}1", "1\u{a0}", "[1]//x", "/*x*/1", "\u{1}",
        "\"é😀\u{0}\"", "\"\u{2028}\"", "[\"a\\\"b\",{\"c\\n\":[true,false,null,-1.5e-3]}]",
    ])
    func readsWhatFoundationReads(text: String) {
        let text = Array(text.utf8)
        #expect(isSame(parsed(text), decoded(text)), "\(String(describing: parsed(text)))")
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x31, 0xFF], [0xFF],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x5B, 0x31, 0xE9, 0x5D], [0xEF, 0xBB, 0xBF], [0xFE, 0xFF],
            [0xFF, 0xFE],
            [0], [0, 0], [0, 0, 0], [0, 0, 0, 0], [0x31, 0], [0, 0x31], [0, 0, 0, 0x31], [0x31, 0, 0, 0],
            [0xFE, 0xFF, 0, 0x31], [0xFF, 0xFE, 0x31, 0], [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x31],
            [0x22, 0, 0, 0xD8, 0x22, 0],
            [0x22, 0, 0, 0, 0, 0xD8, 0, 0, 0x22, 0, 0, 0], [0x22, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0x22, 0, 0, 0],
        ] as [[UInt8]])
    func readsBytesAsFoundationDoes(text: [UInt8]) {
        #expect(isSame(parsed(text), decoded(text)))
    }

    /// Where it is stricter, or more exact, on purpose.
    @Test func whereItDiffers() {
        #expect(parsed(Array(#"{"a":1,"a":"\ud800"}"#.utf8)) == nil)
        #expect(isSame(parsed(Array("9007199254740993.5".utf8)), .number(9_007_199_254_740_994)))
        #expect(parsed([0x5B, 0, 0x5D, 0, 0x31]) == nil)
        #expect(isSame(parsed([0xFF, 0xFE, 0, 0, 0x31, 0, 0, 0]), .integer(1)))
    }

    @Test func theWholeRangeOfUnicode() {
        let text = "[\"a\u{e9}\u{20ac}\u{1F600}\\u00e9\", {\"\u{4e2d}\": 1.5}]"
        let value = JSONValue.array([.string("aé€😀é"), ["中": 1.5]])
        let units = Array(text.utf16)
        let scalars = text.unicodeScalars.map(\.value)
        let wide: [[UInt8]] = [
            units.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }, units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
            scalars.flatMap { [UInt8($0 >> 24), UInt8($0 >> 16), UInt8($0 >> 8 & 255), UInt8($0 & 255)] },
            scalars.flatMap { [UInt8($0 & 255), UInt8($0 >> 8 & 255), UInt8($0 >> 16), UInt8($0 >> 24)] },
        ]
        let marks: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE], [0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0]]
        #expect(isSame(parsed(Array(text.utf8)), value))
        for (bytes, mark) in zip(wide, marks) {
            #expect(isSame(parsed(bytes), value) && isSame(parsed(mark + bytes), value))
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func agreesWithFoundationOnBrokenText(seed: UInt64) {
        var maker = JSONTextMaker(generator: SeededGenerator(seed: seed))
        var valid = 0
        for _ in 0..<5_000 {
            let text = maker.brokenText()
            let expected = decoded(text)
            if expected != nil { valid += 1 }
            #expect(isSame(parsed(text), expected), "\(String(decoding: text, as: UTF8.self).debugDescription)")
        }
        #expect(valid > 1_000 && valid < 4_000)
    }

    @Test func theLimitOfLevelsIsFoundations() {
        for (opening, inner, closing) in [("[", "", "]"), ("{\"a\":", "1", "}"), ("[{\"a\":", "1", "}]")] {
            let levels = opening.count == 6 ? 2 : 1
            let deepest = 512 / levels
            func text(_ count: Int) -> [UInt8] {
                Array(
                    (String(repeating: opening, count: count) + inner + String(repeating: closing, count: count)).utf8)
            }
            #expect(parsed(text(deepest)) != nil)
            #expect(parsed(text(deepest + 1)) == nil && parsed(text(100_000)) == nil)
        }
    }

    /// Through `JSONDecoder` 20 KB of this take 14 seconds.
    @Test(.timeLimit(.minutes(20)), arguments: ["[", "{\"a\":"])
    func deepTextIsReadInTimeOfItsLength(opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        let deep = String(repeating: opening, count: 500) + "1" + String(repeating: closing, count: 500)
        let text = Array("[\(Array(repeating: deep, count: 100).joined(separator: ","))]".utf8)
        let response = Response(statusCode: 200, body: text)
        #expect(try response.json().array?.count == 100)
        #expect(try response.decode([JSONValue].self).count == 100)
        #expect(try JSONShape.array(of: .any).check(response).array?.count == 100)
    }

    @Test func withinAnotherTypeTheLevelsAreFewer() throws {
        struct Holder: Decodable {
            var value: JSONValue
        }
        func text(_ levels: Int) -> Response {
            let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return Response(statusCode: 200, body: Array("{\"value\":\(value)}".utf8))
        }
        #expect(try text(60).decode(Holder.self).value.array?.count == 1)
        #expect(throws: ErrandError.responseDecodingFailed) { try text(65).decode(Holder.self) }
    }

    @Test func optionsOfADecoderApply() throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let response = Response(statusCode: 200, body: Array("{user_name: 'ada', /* so */ }".utf8))
        #expect(try response.decode(JSONValue.self, using: decoder) == ["user_name": "ada"])
        #expect(throws: ErrandError.responseDecodingFailed) { try response.json() }
        #expect(try Response(statusCode: 200, body: [0x7B, 0x7D]).decode([String: JSONValue].self).isEmpty)
        #expect(throws: ErrandError.responseDecodingFailed) {
            try Response(statusCode: 200, body: [0x7B, 0x7D]).decode([JSONValue].self)
        }
    }

    @Test func errorsTellWhere() {
        let error = #expect(throws: ErrandError.self) {
            try Response(statusCode: 200, body: Array("[1, \"a\u{1}\"]".utf8)).json()
        }
        guard case DecodingError.dataCorrupted(let context)? = error?.underlyingError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "unescaped control character in a string at byte 6")
    }
}
