import Errand

/// A document as text without the XML declaration, decoded by the encoding that the response or the document names. A
/// document that declares entities is refused. The text is decoded here and not by libxml2, so that the check for
/// entities sees the same text as the parser: a search of the raw bytes would miss a declaration in another encoding.
struct XMLText {
    /// The text as UTF-8.
    let bytes: [UInt8]

    init(_ response: Response) throws(ErrandError) {
        let declared = response.charset == nil ? Self.declaredCharset(response.body) : nil
        let whole = Array(try response.text(charset: declared).utf8)
        var document = whole[...]
        if document.starts(with: "<?xml".utf8) { document = Self.skipped(document, past: "?>") }
        if Self.hasInternalSubset(document) {
            throw .responseDecodingFailed.with(
                message: "the XML document has an internal DTD subset, which is not supported", response: response)
        }
        // The line ends of the declaration are kept, so that line numbers in errors are right.
        bytes = whole[..<document.startIndex].filter { $0 == 0x0A } + Self.withSafeInstructions(document)
    }

    /// The charset that the document's first bytes declare (XML 1.0, appendix F); `nil` if they have a byte order
    /// mark or declare no charset.
    private static func declaredCharset(_ body: Response.Body) -> String? {
        body.withBytes { bytes in
            if bytes.starts(with: [0x3C, 0x00, 0x3F, 0x00]) { return "utf-16le" }
            if bytes.starts(with: [0x00, 0x3C, 0x00, 0x3F]) { return "utf-16be" }
            guard bytes.starts(with: "<?xml".utf8) else { return nil }
            let declaration = String(decoding: bytes.prefix(256).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
            guard let match = declaration.firstMatch(of: #/\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._\-]*)["']/#) else {
                return nil
            }
            // The declaration was read byte by byte, so the document is not UTF-16, even if the declaration says so, as
            // .NET's StringWriter does.
            let label = match.1.lowercased()
            return label.hasPrefix("utf-16") ? "utf-8" : label
        }
    }

    /// Whether the document type declaration has a `[` (XML 1.0, 2.8). It may occur only before the root element.
    private static func hasInternalSubset(_ document: ArraySlice<UInt8>) -> Bool {
        var rest = document
        while true {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
            if rest.starts(with: "<!--".utf8) {
                rest = skipped(rest.dropFirst(4), past: "-->")
            } else if rest.starts(with: "<?".utf8) {
                rest = skipped(rest.dropFirst(2), past: "?>")
            } else {
                break
            }
        }
        guard rest.starts(with: "<!".utf8) else { return false }
        var quote: UInt8?
        for byte in rest {
            switch byte {
            case quote: quote = nil
            case UInt8(ascii: "\""), UInt8(ascii: "'"): if quote == nil { quote = byte }
            case UInt8(ascii: "[") where quote == nil: return true
            case UInt8(ascii: ">") where quote == nil: return false
            default: break
            }
        }
        return false
    }

    /// The document with a blank inserted into `<?target?>`: FoundationXML (6.3 at least) reads a null pointer if a
    /// processing instruction has no data, which XML 1.0, 2.6, allows.
    private static func withSafeInstructions(_ document: ArraySlice<UInt8>) -> [UInt8] {
        var safe: [UInt8] = []
        safe.reserveCapacity(document.count)
        var rest = document
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            safe += rest[..<start]
            rest = rest[start...]
            let after: ArraySlice<UInt8>
            if rest.starts(with: "<!--".utf8) {
                after = skipped(rest.dropFirst(4), past: "-->")
            } else if rest.starts(with: "<![CDATA[".utf8) {
                after = skipped(rest.dropFirst(9), past: "]]>")
            } else if rest.starts(with: "<!".utf8) {
                after = skippedDeclaration(rest)
            } else if rest.starts(with: "<?".utf8) {
                let target = rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") }
                if target.last == UInt8(ascii: "?"), rest[target.endIndex...].first == UInt8(ascii: ">") {
                    safe += target.dropLast() + [0x20]
                    rest = rest[(target.endIndex - 1)...]
                }
                after = skipped(rest, past: "?>")
            } else {
                after = rest.dropFirst()
            }
            safe += rest[..<after.startIndex]
            rest = after
        }
        return safe + rest
    }

    /// Skips literals too: a literal in a document type declaration may hold `<` and `>`.
    private static func skippedDeclaration(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var quote: UInt8?
        for (index, byte) in zip(text.indices, text) {
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote == nil, byte == UInt8(ascii: ">") {
                return text[(index + 1)...]
            }
        }
        return text.dropFirst(text.count)
    }

    /// The text after the first `end`; empty if `end` does not occur.
    private static func skipped(_ text: ArraySlice<UInt8>, past end: StaticString) -> ArraySlice<UInt8> {
        let end = Array("\(end)".utf8)
        var rest = text
        while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
        return rest.dropFirst(end.count)
    }
}
