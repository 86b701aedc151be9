import FoundationEssentials

/// Keeps from Foundation's decoder the property lists that would end the process. Of the three forms swift-foundation
/// (6.3 at least) reads the OpenStep form within bounds; the XML form by recursion without a bound, and with traps
/// where an integer is no UTF-8 or the year of a date does not fit; and the binary form with traps where an offset or a
/// length is out of range, or round in circles where an object refers to itself.
enum PropertyListGuard {
    private typealias Text = Slice<UnsafeRawBufferPointer>

    /// The bound of Foundation's JSON decoder.
    static let maximumDepth = 512
    /// A date has 20 bytes; in less than this no year is near the bounds of `Int64`.
    static let maximumDateLength = 32
    /// What Foundation reads by recursion.
    private static let containers = ["array", "dict", "plist"]

    static func check(_ body: Response.Body) throws(DecodingError) {
        let problem = body.withBytes { bytes in
            if bytes.starts(with: "bplist".utf8) { return "A binary property list is not read." as String? }
            if bytes.contains(0) { return "A property list in UTF-16 or UTF-32 is not read." }
            // Of other charsets Foundation reads none, but it notices late.
            if String(validating: bytes, as: UTF8.self) == nil { return "The property list is not UTF-8." }
            return isXML(bytes) ? markupProblem(bytes) : nil
        }
        guard let problem else { return }
        throw .dataCorrupted(.init(codingPath: [], debugDescription: problem))
    }

    /// Foundation takes for XML what begins with "<", behind a byte order mark and white space.
    private static func isXML(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text: Text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.first(where: { $0 > 0x20 }) == UInt8(ascii: "<")
    }

    /// Finds markup where Foundation's `XMLPlistScanner` does: it skips what that one skips, and where that one throws,
    /// it does not matter what stands behind. So no container ends here that goes on there. Other elements are not
    /// counted: Foundation takes `<key/></key>` for one key.
    private static func markupProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
        var depth = 0
        var rest: Text = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.first == UInt8(ascii: "?") {
                // Foundation takes it for a whole instruction within a container, and for the begin of one outside.
                if rest.starts(with: "?>".utf8) { return "A processing instruction has no name." }
                skip(past: "?>", &rest)
            } else if rest.starts(with: "!--".utf8) {
                // XML 1.0 2.5: the hyphens of "<!-->" do not end the comment.
                rest = rest.dropFirst(3)
                skip(past: "-->", &rest)
            } else if rest.starts(with: "![CDATA[".utf8) {
                skip(past: "]]>", &rest)
            } else {
                let tag = rest.prefix { $0 != UInt8(ascii: ">") }
                rest = rest[tag.endIndex...]
                if let problem = tagProblem(tag, before: rest, &depth) { return problem }
            }
        }
        return nil
    }

    /// `tag`: what is between "<" and the first ">", with which `rest` begins.
    private static func tagProblem(_ tag: Text, before rest: Text, _ depth: inout Int) -> String? {
        // A ">" inside quotes: whether it ends the tag is what parsers differ in.
        if endsInQuotes(tag) { return "A tag ends within quotes." }
        switch tag.first {
        case UInt8(ascii: "!"):
            // A document type with declarations Foundation refuses, too.
            let isPlain = tag.starts(with: "!DOCTYPE".utf8) && !tag.contains(UInt8(ascii: "["))
            return isPlain ? nil : "A declaration that a property list has not."
        case UInt8(ascii: "/"):
            let name = tag.dropFirst().prefix { $0 > 0x20 }
            let isName = !name.isEmpty && name.allSatisfy { (0x61...0x7A).contains($0) }
            if !isName { return "A closing tag that a property list has not." }
            if containers.contains(where: { name.elementsEqual($0.utf8) }) { depth = max(0, depth - 1) }
        default:
            // Foundation looks at the first letters of a name only.
            if tag.starts(with: "date".utf8) {
                let text = rest.dropFirst().prefix(maximumDateLength)
                if !text.contains(UInt8(ascii: "<")) { return "A date of \(maximumDateLength) bytes or more." }
            } else if tag.last != UInt8(ascii: "/"), containers.contains(where: { tag.starts(with: $0.utf8) }) {
                depth += 1
                if depth > maximumDepth { return "More than \(maximumDepth) levels." }
            }
        }
        return nil
    }

    private static func endsInQuotes(_ tag: Text) -> Bool {
        var quote: UInt8?
        for byte in tag where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            if quote == nil {
                quote = byte
            } else if quote == byte {
                quote = nil
            }
        }
        return quote != nil
    }

    private static func skip(past end: String, _ rest: inout Text) {
        while !rest.isEmpty, !rest.starts(with: end.utf8) { rest = rest.dropFirst() }
        rest = rest.dropFirst(end.utf8.count)
    }
}
