import Errand
import ErrandXML
import Foundation
import FoundationXML
import HTTPTypes
import Testing

@Suite struct XMLResponseTests {
    private func response(_ text: String, _ contentType: String? = "application/xml") -> Response {
        response(Array(text.utf8), contentType)
    }

    private func response(_ bytes: [UInt8], _ contentType: String? = nil) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = contentType
        return Response(statusCode: 200, headers: headers, body: bytes)
    }

    private func root(_ text: String) throws -> XMLResponse.Element {
        try XMLResponse(response: response(text)).root
    }

    @Test func aDocumentIsRead() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- before --><?pi x?>
            <feed xmlns:a="urn:a" v="1 &lt; 2"><title>T &amp; t</title><!-- c --><item n="1"/>
            <a:item><![CDATA[<b>&amp;]]>!</a:item><title>2</title></feed>
            """
        let feed = try root(text)
        #expect(feed.name == "feed" && feed.attributes["v"] == "1 < 2")
        #expect(feed["title"]?.text == "T & t" && feed.elements(named: "title").map(\.text) == ["T & t", "2"])
        #expect(feed["item"]?.attributes == ["n": "1"] && feed["a:item"]?.text == "<b>&amp;!")
        #expect(feed.elements.map(\.name) == ["title", "item", "a:item", "title"] && feed["none"] == nil)
        #expect(feed["a:item"]?.children == [.text("<b>&amp;!")])
        #expect(feed.text == "T & t\n<b>&amp;!2")
        let document = try response(text).xmlDocument()
        #expect(try document.nodes(forXPath: "/feed/title").compactMap(\.stringValue) == ["T & t", "2"])
    }

    /// Each entity comes in a part of its own: when parts were joined by copying, this took minutes.
    @Test(.timeLimit(.minutes(20))) func longTextIsReadInTimeOfItsLength() throws {
        let parts = 300_000
        let text = String(repeating: "a&amp;", count: parts)
        let read = try root("<r><a>\(text)</a><!-- c --><b>x<!-- c --><![CDATA[y]]>z<c/>w</b></r>")
        #expect(read["a"]?.children.count == 1 && read["a"]?.text.utf8.count == 2 * parts)
        let mixed: [XMLResponse.Node] = [.text("xyz"), .element(.init(name: "c")), .text("w")]
        #expect(read["b"]?.children == mixed)
    }

    @Test(
        arguments: [
            "", " ", "text", "<r>", "<r><b></r>", "<r></b>", "<r/><q/>", "<r>&undefined;</r>", "<r>\u{1}</r>",
            "<r a=1/>",
            "<r", "<r/>text", "<", "<!DOCTYPE r>", "<!DOCTYPE", "<!--", "<r><!--</r>", "<?xml", "<?xml ?>",
            "<r a='1' a='2'/>",
            "<r><![CDATA[</r>", "{\"a\": 1}", "<html><br></html>", "\u{0}", "<r>\u{0}</r>", "x<r/>", "</r>", "<a/><b>",
        ])
    func whatIsNotWellFormed(text: String) {
        let error = #expect(throws: ErrandError.self) { try root(text) }
        #expect(error == .responseDecodingFailed && error?.statusCode == 200)
        #expect(throws: ErrandError.responseDecodingFailed) { try response(text).xmlDocument() }
    }

    @Test func theErrorSaysWhere() {
        let text = "<?xml version=\"1.0\"\n?>\n<r>\n  <b></r>"
        let error = #expect(throws: ErrandError.self) { try root(text) }
        #expect((error?.underlyingError as? XMLFailure)?.line == 4)
        #expect((error?.underlyingError as? XMLFailure)?.code == 76)
    }

    /// Neither is a file read nor an entity expanded; in no encoding, and behind nothing that hides it.
    @Test(
        arguments: [
            "<!DOCTYPE r [<!ENTITY x SYSTEM \"file://FILE\">]><r>&x;</r>",
            "<!DOCTYPE r [<!ENTITY x \"hello\">]><r>&x;</r>",
            "<!DOCTYPE r [<!ENTITY % x SYSTEM \"file://FILE\"> %x;]><r>a</r>",
            "<!-- > --><?a ?><!DOCTYPE r SYSTEM \"]>\" [<!ENTITY x SYSTEM \"file://FILE\">]><r>&x;</r>",
            "<!DOCTYPE r PUBLIC '>' \"'\"[<!ENTITY x SYSTEM \"file://FILE\">]><r>&x;</r>",
            "<!--\u{301} --\u{301}> -->\n<!DOCTYPE r [<!ENTITY x SYSTEM \"file://FILE\">]><r>&x;</r>",
            "<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY x SYSTEM \"file://FILE\">]><r>&x;</r>",
        ])
    func declarationsAreRefused(text: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
        try Data("SECRET".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let text = text.replacing("FILE", with: file.path)
        let units = text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 255), UInt8(unit >> 8)] }
        let utf16: [UInt8] = [0xFF, 0xFE] + units
        let bodies = [response(text), response(utf16), response(Array(utf16.dropFirst(2)))]
        for body in bodies {
            let error = #expect(throws: ErrandError.self) { try XMLResponse(response: body) }
            #expect(error == .responseDecodingFailed)
            #expect(throws: ErrandError.responseDecodingFailed) { try body.xmlDocument() }
        }
    }

    @Test func externalSubsetsAreNotLoaded() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString).dtd")
        try Data("<!ENTITY x \"SECRET\"><!ATTLIST r a CDATA \"SECRET\">".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let doctype = "<!DOCTYPE r SYSTEM \"file://\(file.path)\">"
        #expect(try root(doctype + "<r/>").attributes.isEmpty)
        #expect(try response(doctype + "<r/>").xmlDocument().rootElement()?.attribute(forName: "a") == nil)
        let named = response(doctype + "<r>&x;</r>")
        if let element = try? XMLResponse(response: named).root { #expect(!element.text.contains("SECRET")) }
        if let document = try? named.xmlDocument() {
            #expect(document.rootElement()?.stringValue?.contains("SECRET") != true)
        }
        #expect(
            try root("<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0//EN\" \"http://127.0.0.1:1/x.dtd\"><html/>").name
                == "html")
    }

    @Test func bombsAreHarmless() {
        var bomb = "<!DOCTYPE r [<!ENTITY a0 \"ha\">"
        for level in 1...30 { bomb += "<!ENTITY a\(level) \"\(String(repeating: "&a\(level - 1);", count: 10))\">" }
        for text in [bomb + "]><r>&a30;</r>", bomb + "]><r a=\"&a30;\"/>"] {
            #expect(throws: ErrandError.responseDecodingFailed) { try root(text) }
        }
    }

    @Test func nestingIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try root(nested(256)).name == "a")
        #expect(try response(nested(256)).xmlDocument().rootElement()?.name == "a")
        for text in [nested(257), nested(100_000), String(repeating: "<a>", count: 100_000)] {
            let error = #expect(throws: ErrandError.self) { try root(text) }
            #expect((error?.underlyingError as? XMLFailure)?.isTooDeep == true)
            #expect(throws: ErrandError.responseDecodingFailed) { try response(text).xmlDocument() }
        }
    }

    @Test func encodings() throws {
        let declared: [UInt8] =
            Array("<?xml version='1.0' encoding='GBK'?><r>".utf8) + [0xC4, 0xE3] + Array("</r>".utf8)
        #expect(try XMLResponse(response: response(declared)).root.text == "你")
        #expect(try response(declared).xmlDocument().rootElement()?.stringValue == "你")
        let named: [UInt8] = Array("<r>".utf8) + [0xA7, 0x41] + Array("</r>".utf8)
        #expect(try XMLResponse(response: response(named, "text/xml; charset=big5")).root.text == "你")
        // The header's charset wins (RFC 7303 3.2), and .NET's wrong declaration does no harm.
        let both: [UInt8] = Array("<?xml version='1.0' encoding='gbk'?><r>".utf8) + [0xC3, 0xA9] + Array("</r>".utf8)
        #expect(try XMLResponse(response: response(both, "text/xml; charset=utf-8")).root.text == "é")
        #expect(try root("<?xml version=\"1.0\" encoding=\"utf-16\"?><r>é</r>").text == "é")
        #expect(try root("\u{FEFF}<?xml version=\"1.0\" encoding=\"x\"?><r>é</r>").text == "é")
        let utf16 = "<?xml version='1.0' encoding='utf-16'?><r>é</r>".utf16.flatMap { unit -> [UInt8] in
            [UInt8(unit >> 8), UInt8(unit & 255)]
        }
        #expect(try XMLResponse(response: response(utf16)).root.text == "é")
        #expect(throws: ErrandError.responseDecodingFailed) { try root("<?xml version='1.0' encoding='utf-7'?><r/>") }
    }

    @Test func longTextsAreWhole() throws {
        let text = String(repeating: "0123456789é", count: 100_000)
        #expect(
            try root("<r>\(text)<b/>\(text)</r>").children == [.text(text), .element(.init(name: "b")), .text(text)])
    }

    /// Each of them is read through a null pointer where it is handed to FoundationXML as it is.
    @Test(
        arguments: [
            "<r><?p?></r>", "<?p?><r/>", "<r/><?p?>", "<!DOCTYPE r SYSTEM \"<!--\"><?p?><r/>",
            "<r><?a <!-- ?><?p?></r>",
            "<r><!-- <? --><?p?></r>", "<r><![CDATA[<?]]><?p?></r>", "<r a='?>'><?p?></r>",
            "<?xml version='1.0'?><?p?><r/>",
        ])
    func instructionsWithoutData(text: String) throws {
        #expect(try root(text).name == "r")
        #expect(try response(text).xmlDocument().rootElement()?.name == "r")
        #expect(throws: ErrandError.responseDecodingFailed) { try root("<r a=\"<!--\"/><?p?>-->") }
        #expect(try root("<r><![CDATA[<?p?>]]></r>").text == "<?p?>")
    }

    /// Whatever comes, it is a document or a typed error.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func brokenDocumentsAreBorne(seed: UInt64) {
        var generator = SplitMix(state: seed)
        let good = Array(
            "<?xml version='1.0'?><!DOCTYPE r><r xmlns:p='u' a=\"1\"><p:b>x&amp;&#65;</p:b><![CDATA[c]]><!--d--></r>"
                .utf8)
        let pieces = [
            "<", ">", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "&", "&#0;", "&#x110000;", "&#xD800;", "&x;",
            "<p:q>",
            "xmlns='v'", " xmlns:p=''", "<?", "?>", "<?p?>", "<!DOCTYPE r SYSTEM 'x'>", "[", "]", "'", "\"", "=",
            "\u{e9}",
            "\u{0}", ":",
        ].map { Array($0.utf8) }
        var accepted = 0
        for _ in 0..<1500 {
            var body = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0...body.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: body.insert(contentsOf: pieces[Int.random(in: pieces.indices, using: &generator)], at: index)
                case 1: body.removeSubrange(index..<min(body.count, index + 5))
                case 2: body.insert(UInt8.random(in: 0...255, using: &generator), at: index)
                default: body.insert(contentsOf: body[index..<min(body.count, index + 15)], at: index)
                }
            }
            do throws(ErrandError) {
                let document = try response(body).xmlDocument()
                #expect(document.rootElement() != nil)
                accepted += 1
            } catch {
                #expect(error == .responseDecodingFailed)
            }
        }
        #expect(accepted > 0 && accepted < 1500)
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test func aCommandMayAnswerWithIt() throws {
        struct Get: Command {
            var path = "x"
            typealias Response = XMLResponse
        }
        #expect(try Get().decode(response("<r>1</r>")).root.text == "1")
        #expect(throws: ErrandError.responseDecodingFailed) { try Get().decode(response("<r>1")) }
    }
}
