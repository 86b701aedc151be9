import Errand
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct ResponseDecodingTests {
    private struct Pair: Codable, Hashable {
        var a: Int
    }

    private func response(_ text: String) -> Response {
        Response(statusCode: 200, body: Array(text.utf8))
    }

    private static let head = #"<?xml version="1.0"?><plist version="1.0">"#

    /// A 204, or a body that got lost: what was wanted is told, and no parser's words about the end of a text.
    @Test func anEmptyBodyIsCalledSo() throws {
        struct Item: Decodable, Sendable {}
        struct Get: Command {
            var path = "x"
            typealias Response = Item
        }
        let byCommand = #expect(throws: ErrandError.self) { _ = try Get().decode(response("")) }
        #expect(byCommand == .responseDecodingFailed)
        #expect(byCommand?.message == "the body is empty, expected a JSON Item")
        #expect(byCommand?.underlyingError is DecodingError)
        let list = #expect(throws: ErrandError.self) { try response("").decode([Item].self) }
        #expect(list?.message == "the body is empty, expected a JSON Array<Item>")
        let propertyList = #expect(throws: ErrandError.self) { try response("").decodePropertyList(Pair.self) }
        #expect(propertyList?.message == "the body is empty, expected a property list Pair")
        let other = #expect(throws: ErrandError.self) { try response("x").decode(Pair.self) }
        #expect(other?.message.hasPrefix("the body is not a JSON Pair: ") == true)
    }

    @Test func propertyListsAreRead() throws {
        let xml = Self.head + "<dict><key>a</key><integer>1</integer></dict></plist>"
        #expect(try response(xml).decodePropertyList(Pair.self) == Pair(a: 1))
        #expect(try response(#"{"x" = "y";}"#).decodePropertyList([String: String].self) == ["x": "y"])
        // No markup in the OpenStep form.
        #expect(try response(#"{"x" = "a < </?";}"#).decodePropertyList([String: String].self) == ["x": "a < </?"])
        struct Get: Command {
            var path = "x"
            typealias Response = PropertyList<Pair>
        }
        #expect(try Get().decode(response(xml)).value == Pair(a: 1))
    }

    /// All that may stand between and within elements.
    @Test func markupOfPropertyListsIsRead() throws {
        let marked = #"""
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version='1.0'><!-- it's > --><dict><?a </dict>?>
            <!--></dict>--><key>a</key><integer>1</integer></dict ></plist>
            """#
        for text in [marked, "\u{FEFF}" + marked] {
            #expect(try response(text).decodePropertyList(Pair.self) == Pair(a: 1))
        }
        let section = "<array><string><![CDATA[</string></array>]]></string></array></plist>"
        #expect(try response(Self.head + section).decodePropertyList([String].self) == ["</string></array>"])
        let date = "<array><date>2024-01-02T03:04:05Z</date></array></plist>"
        let expected = [Date(timeIntervalSince1970: 1_704_164_645)]
        #expect(try response(Self.head + date).decodePropertyList([Date].self) == expected)
    }

    @Test func longPropertyListsAreRead() throws {
        let text = Self.head + "<array>" + String(repeating: "<dict></dict>", count: 100_000) + "</array></plist>"
        #expect(try response(text).decodePropertyList([[String: String]].self).count == 100_000)
    }

    /// Foundation's decoder ends the process for each of these.
    @Test func integersAndDatesAreChecked() {
        let opening: [UInt8] = Array((Self.head + "<integer>").utf8)
        let closing: [UInt8] = Array("</integer></plist>".utf8)
        for bytes: [UInt8] in [Array(repeating: 0xFF, count: 16), Array(repeating: 0xF8, count: 5)] {
            #expect(throws: ErrandError.responseDecodingFailed) {
                try Response(statusCode: 200, body: opening + bytes + closing).decodePropertyList(Int.self)
            }
        }
        let date = Self.head + "<date>-9223372036854775807-01-01T00:00:00Z</date></plist>"
        #expect(throws: ErrandError.responseDecodingFailed) { try response(date).decodePropertyList(Date.self) }
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
            // What closes a container for some readers of markup, and none for Foundation.
            ("<array><?</array>?>", ""), ("<array><?</?>", ""), ("<array><?a </array>?>", "</array>"),
            ("<array><!--></array>-->", ""), ("<array><!---></array>-->", ""), ("<dict><key/></key>", ""),
            ("<array><string/></string>", ""), ("<array></?>", ""), ("<array><?></array>?>", ""),
            ("<array><!x></array>", ""), ("<array a='\"></array>'>", ""), ("<arrays>", "</arrays>"),
            ("<array/ >", ""), ("<array></arrays>", ""), ("<!DOCTYPE </array>><array>", ""),
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
