import FoundationEssentials
import HTTPTypes
import Testing

@testable import Errand

@Suite struct ResponseDecodingTests {
    private struct Pair: Codable, Hashable {
        var a: Int
    }

    private func response(_ text: String) -> Response {
        Response(statusCode: 200, body: Array(text.utf8))
    }

    private static let head = #"<?xml version="1.0"?><plist version="1.0">"#

    @Test func propertyListsAreRead() throws {
        let xml = Self.head + "<dict><key>a</key><integer>1</integer></dict></plist>"
        #expect(try response(xml).decodePropertyList(Pair.self) == Pair(a: 1))
        #expect(try response(#"{"x" = "y";}"#).decodePropertyList([String: String].self) == ["x": "y"])
        struct Get: Command {
            var path = "x"
            typealias Response = PropertyList<Pair>
        }
        #expect(try Get().decode(response(xml)).value == Pair(a: 1))
    }

    @Test(arguments: [
        "", "<plist>", "{\"a\":1}", "bplist00", "bplist", "<plist><dict></plist>", "\u{0}", "<", "<a b='>",
    ])
    func whatIsNoPropertyList(text: String) {
        let error = #expect(throws: ErrandError.self) { try response(text).decodePropertyList(Pair.self) }
        #expect(error == .responseDecodingFailed && error?.underlyingError != nil)
    }

    /// Foundation reads each of these by recursion without a bound, or would if it were asked.
    @Test(
        arguments: [
            ("<array>", ""), ("<dict><key>a</key>", ""), ("<array>", "</array>"), ("<plist>", ""),
            ("<array><!-- </array></array> -->", ""), ("<array a=\"></array>\">", ""), ("<array >", "</array >"),
            ("(", ""), ("{a=", ""), ("<array><string><![CDATA[</array></array>]]></string>", ""),
        ])
    func nestingIsBounded(opening: String, closing: String) throws {
        let deep = String(repeating: opening, count: 100_000) + String(repeating: closing, count: 100_000)
        for text in [Self.head + deep, deep] {
            #expect(throws: ErrandError.responseDecodingFailed) {
                try response(text).decodePropertyList([[String]].self)
            }
        }
        let wide = String(repeating: "<array></array><array/>", count: 1000)
        let value = try response("\(Self.head)<array>\(wide)</array></plist>").decodePropertyList([[String]].self)
        #expect(value.count == 2000)
    }

    /// Foundation's decoder ends the process where the 513th level opens with the last byte, whatever the text was
    /// converted from before.
    @Test(
        arguments: [
            "", "; charset=utf-8", "; charset=iso-8859-1", "; charset=gbk", "; charset=iso-2022-jp",
            "; charset=utf-16le",
            "; charset=nonsense",
        ], ["[", "{\"a\":["])
    func nestingIsBoundedInEveryCharset(charset: String, opening: String) {
        let text = Array(String(repeating: opening, count: 513).utf8)
        let wide: [UInt8] = text.flatMap { [$0, 0] }
        let bodies: [[UInt8]] = [text, text + [0x1B, 0x28, 0x42], wide, [0xE9] + text, Array(text.dropLast())]
        for body in bodies {
            let response = Response(
                statusCode: 200, headers: [.contentType: "application/json\(charset)"], body: body)
            #expect(throws: ErrandError.responseDecodingFailed) { try response.json() }
            #expect(throws: ErrandError.responseDecodingFailed) { try response.decode([Pair].self) }
            #expect(throws: ErrandError.responseDecodingFailed) { try JSONShape.any.check(response) }
        }
    }

    @Test func utf16PropertyListsAreRefused() {
        let units = Array((Self.head + "<array/></plist>").utf16)
        let body: [UInt8] = [0xFF, 0xFE] + units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        #expect(throws: ErrandError.responseDecodingFailed) {
            try Response(statusCode: 200, body: body).decodePropertyList([String].self)
        }
    }

    @Test func theFirstDecoderThatSucceedsCounts() throws {
        let decoders: [(Response) throws -> Int] = [
            { try $0.decode(Pair.self).a }, { try $0.decodePropertyList(Pair.self).a },
            { _ in throw CancellationError() },
        ]
        #expect(try response(#"{"a": 1}"#).decodeFirst(of: decoders) == 1)
        #expect(
            try response(Self.head + "<dict><key>a</key><integer>2</integer></dict></plist>").decodeFirst(of: decoders)
                == 2)
        let error = #expect(throws: ErrandError.self) { try response("<html>").decodeFirst(of: decoders) }
        #expect(error == .responseDecodingFailed && error?.statusCode == 200)
        let errors = (error?.underlyingError as? CompoundDecodingError)?.errors ?? []
        #expect(errors.count == 3)
        #expect(errors.first as? ErrandError == .responseDecodingFailed && errors.last is CancellationError)
        #expect(throws: ErrandError.responseDecodingFailed) { try response("x").decodeFirst(of: [(Response) -> Int]()) }
    }
}
