import Errand
import ErrandTesting
import HTTPTypes
import Testing

@Suite struct ResponseTextTests {
    private func response(_ charset: String?, _ bytes: [UInt8]) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = charset.map { "text/plain; charset=\($0)" }
        return Response(statusCode: 200, headers: headers, body: bytes)
    }

    @Test(
        arguments: [
            ("gbk", [0xC4, 0xE3, 0xBA, 0xC3, 0x41], "你好A"), ("GB2312", [0xC4, 0xE3], "你"),
            ("gb18030", [0x94, 0x39, 0xDA, 0x33, 0x81, 0x30, 0x81, 0x30], "\u{1F4A9}\u{80}"),
            ("big5", [0xA7, 0x41, 0xA6, 0x6E], "你好"), ("shift_jis", [0x93, 0xFA, 0x96, 0x7B, 0xB1, 0x5C], "日本ｱ\\"),
            ("Shift_JIS", [0x87, 0x40], "①"), ("euc-kr", [0xB0, 0xA1, 0x81, 0x41], "가갂"),
            ("euc-jp", [0xC6, 0xFC, 0xCB, 0xDC, 0x8E, 0xB1], "日本ｱ"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42, 0x21], "日本!"),
            ("windows-1252", [0x80, 0x81, 0x93, 0xE9, 0xFF], "€\u{81}“éÿ"), ("iso-8859-1", [0x80, 0xE9], "€é"),
            ("us-ascii", [0x41, 0xE9], "Aé"), ("windows-1251", [0xCF, 0xF0, 0xE8], "При"),
            ("koi8-r", [0xF0, 0xD2, 0xC9], "При"), ("iso-8859-9", [0x80, 0xFD], "€ı"), ("iso-8859-15", [0xA4], "€"),
            ("windows-874", [0x80, 0xA1], "€ก"), ("macintosh", [0x8E, 0xDB], "é€"), ("ibm866", [0x8F], "П"),
            ("x-mac-cyrillic", [0x80], "А"), ("iso-8859-8-i", [0xE0], "א"), ("windows-1256", [0xC7], "ا"),
            ("utf-16le", [0x41, 0, 0x3D, 0xD8, 0, 0xDE], "A😀"), ("utf-16be", [0, 0x41, 0xD8, 0x3D, 0xDE, 0], "A😀"),
            ("utf-16", [0x41, 0], "A"), ("UTF-8", [0xC3, 0xA9], "é"), ("\"utf8\"", [0xC3, 0xA9], "é"),
            ("\"", [0xC3, 0xA9], "é"), ("", [0xC3, 0xA9], "é"), (" \"GBK\" ", [0xC4, 0xE3], "你"),
            ("gbk", [], ""), ("utf-16", [], ""), ("gbk;q=1", [0xC4, 0xE3], "你"),
        ] as [(String, [UInt8], String)])
    func charsets(label: String, bytes: [UInt8], expected: String) throws {
        #expect(try response(label, bytes).text() == expected)
        #expect(try response(label, bytes).text(lossy: true) == expected)
    }

    @Test func aByteOrderMarkWins() throws {
        #expect(try response("gbk", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9]).text() == "é")
        #expect(try response(nil, [0xFF, 0xFE, 0x41, 0]).text() == "A")
        #expect(try response("utf-8", [0xFE, 0xFF, 0, 0x41]).text() == "A")
        #expect(try response("foo", [0xEF, 0xBB, 0xBF, 0x41]).text() == "A")
        #expect(try response(nil, [0xEF, 0xBB, 0xBF]).text() == "")
        #expect(try response(nil, [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF]).text() == "\u{FEFF}")
        #expect(try response("utf-16be", [0xFE, 0xFF, 0, 0x41]).text(charset: "utf-16be") == "A")
    }

    @Test func theCallerKnowsBetter() throws {
        #expect(try response("utf-8", [0xC4, 0xE3]).text(charset: "gbk") == "你")
        #expect(try response(nil, [0xFF, 0xFE]).text(charset: "windows-1252") == "ÿþ")
        #expect(throws: ErrandError.responseDecodingFailed) { try response("utf-8", [0x41]).text(charset: "nonsense") }
    }

    @Test(
        arguments: [
            ("utf-8", [0x41, 0xFF, 0x42], "A\u{FFFD}B"), ("gbk", [0x41, 0xFF, 0x42], "A\u{FFFD}B"),
            ("gbk", [0xC4, 0xE3, 0xC4], "你\u{FFFD}"), ("big5", [0x41, 0xA7], "A\u{FFFD}"),
            ("shift_jis", [0x93, 0xFA, 0xFD, 0x41], "日\u{FFFD}A"), ("euc-kr", [0xFF, 0x41], "\u{FFFD}A"),
            ("utf-16le", [0x41, 0, 0x42], "A\u{FFFD}"), ("utf-16le", [0, 0xD8, 0x41, 0], "\u{FFFD}A"),
            ("windows-1253", [0xD2, 0xE1], "\u{FFFD}α"), ("iso-2022-jp", [0x41, 0x80, 0x42], "A\u{FFFD}B"),
        ] as [(String, [UInt8], String)])
    func whatIsNotValid(label: String, bytes: [UInt8], repaired: String) throws {
        #expect(throws: ErrandError.responseDecodingFailed) { try response(label, bytes).text() }
        #expect(try response(label, bytes).text(lossy: true) == repaired)
    }

    @Test func theErrorSaysWhere() {
        let error = #expect(throws: ErrandError.self) { try response("gbk", [0x41, 0x42, 0xFF, 0x43]).text() }
        #expect(error?.message == "the body is not valid text in charset 'gbk' at byte 2")
        #expect(error?.response?.body.count == 4)
    }

    /// None of these may reach the C library, which takes suffixes, module paths and much else for a name.
    @Test(
        arguments: [
            "foo", "utf-7", "hz-gb-2312", "iso-2022-kr", "GBK//TRANSLIT", "//IGNORE", "../../x", "/etc/passwd",
            "UTF-8//",
            "ISO-10646/UCS4/", "x-user-defined", "\u{e9}", "gbk,utf-8", "IBM1364", "iso-2022-cn-ext",
        ])
    func unknownCharsets(label: String) throws {
        let error = #expect(throws: ErrandError.self) { try response(label, [0x41]).text() }
        #expect(error == .responseDecodingFailed)
        #expect(error?.message.hasSuffix("is not supported") == true)
        #expect(try response(label, [0x41, 0xFF]).text(lossy: true) == "A\u{FFFD}")
    }

    /// Chunks of the converter's own end in the middle of characters.
    @Test func longTextsAreWhole() throws {
        for offset in 0..<3 {
            let bytes = [UInt8](repeating: 0x41, count: offset) + (0..<40_000).flatMap { _ in [0xC4, 0xE3] as [UInt8] }
            let expected = String(repeating: "A", count: offset) + String(repeating: "你", count: 40_000)
            #expect(try response("gbk", bytes).text() == expected)
        }
    }

    /// Every label has its converter, and no bytes make one trap, loop or be refused when they may be repaired.
    @Test func everyEncodingBearsAnyBytes() throws {
        var generator = SeededGenerator(seed: 7)
        for label in Self.labels {
            for _ in 0..<40 {
                let count = Int.random(in: 0..<300, using: &generator)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let repaired = try response(label, bytes).text(charset: label, lossy: true)
                #expect(!repaired.isEmpty || count < 16)
                if let strict = try? response(label, bytes).text(charset: label) { #expect(strict == repaired) }
            }
            #expect(
                try response(label, [0x30, 0x39]).text(charset: label)
                    == (label.hasPrefix("utf-16") ? label.digits : "09"))
        }
    }

    private static let labels = [
        "utf-8", "ibm866", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7",
        "iso-8859-8",
        "iso-8859-8-i", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "koi8-r", "koi8-u",
        "macintosh", "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
        "windows-1255", "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic", "gbk", "gb18030", "big5",
        "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr", "utf-16be", "utf-16le",
    ]

    @Test func jsonInTheCharsetThatIsNamed() throws {
        let bytes = Array("{\"a\":\"".utf8) + [0xC4, 0xE3] + Array("\"}".utf8)
        #expect(try response("gbk", bytes).json()["a"] == "你")
        #expect(try response("gbk", bytes).decode([String: String].self) == ["a": "你"])
        #expect(throws: ErrandError.responseDecodingFailed) { try response(nil, bytes).json() }
        #expect(throws: ErrandError.responseDecodingFailed) { try response("foo", bytes).json() }
        #expect(try response("gbk", Array("\"é\"".utf8)).json() == "é")
        #expect(try response(nil, [0x5B, 0, 0x31, 0, 0x5D, 0]).json() == [1])
    }

    @Test func aCommandOfTextIsDecoded() throws {
        #expect(try GetText().decode(response("big5", [0xA7, 0x41])) == "你")
        #expect(throws: ErrandError.responseDecodingFailed) { try GetText().decode(response("big5", [0xA7])) }
    }
}

extension String {
    /// What the two bytes of "09" are as one unit of UTF-16.
    fileprivate var digits: String { self == "utf-16be" ? "\u{3039}" : "\u{3930}" }
}
