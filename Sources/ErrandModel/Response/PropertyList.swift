import FoundationEssentials

/// A value that is read from a property list instead of JSON.
///
/// ```swift
/// struct GetManifest: Command {
///     var path = "manifest.plist"
///     typealias Response = PropertyList<Manifest>
/// }
/// ```
public struct PropertyList<Value: Decodable & Sendable>: ResponseConvertible {
    /// The decoded value.
    public var value: Value

    /// Reads the body; see ``Response/decodePropertyList(_:using:)``.
    public init(response: Response) throws {
        value = try response.decodePropertyList(Value.self)
    }
}

extension PropertyList: Equatable where Value: Equatable {}
extension PropertyList: Hashable where Value: Hashable {}

/// Rejects property lists with which Foundation's decoder would crash the process. Of the three formats,
/// swift-foundation (6.3 at least) reads only the OpenStep format within bounds. The XML reader recurses without a
/// bound, and traps on an integer that is not UTF-8 and on a date whose year does not fit. The binary reader traps on
/// an offset or a length that is out of range, and loops forever on an object that refers to itself.
enum PropertyListGuard {
    private typealias Text = Slice<UnsafeRawBufferPointer>

    /// The same limit as that of Foundation's JSON decoder.
    static let maximumDepth = 512
    /// A date has 20 bytes. In fewer than 32 bytes no year comes near the bounds of `Int64`.
    static let maximumDateLength = 32
    /// The elements that Foundation reads by recursion.
    private static let containers = ["array", "dict", "plist"]

    static func check(_ body: Response.Body) throws(DecodingError) {
        let problem = body.withBytes { bytes in
            if bytes.starts(with: "bplist".utf8) { return "Binary property lists are not supported." as String? }
            if bytes.contains(0) { return "Property lists in UTF-16 or UTF-32 are not supported." }
            // Foundation reads no other charset, but notices that late.
            if String(validating: bytes, as: UTF8.self) == nil { return "The property list is not UTF-8." }
            return isXML(bytes) ? markupProblem(bytes) : nil
        }
        guard let problem else { return }
        throw .dataCorrupted(.init(codingPath: [], debugDescription: problem))
    }

    /// Foundation reads a body as XML if it begins with "<", after a byte order mark and white space.
    private static func isXML(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text: Text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.first(where: { $0 > 0x20 }) == UInt8(ascii: "<")
    }

    /// Finds markup where Foundation's `XMLPlistScanner` finds it. This function skips what the scanner skips; where
    /// the scanner throws, the rest does not matter. So a container never ends here while it continues in the scanner.
    /// Other elements are not counted: Foundation reads `<key/></key>` as one key.
    private static func markupProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
        var depth = 0
        var rest: Text = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.first == UInt8(ascii: "?") {
                // Foundation reads it as a whole instruction within a container, and as the start of one outside.
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

    /// `tag` is the text between "<" and the first ">"; `rest` begins with that ">".
    private static func tagProblem(_ tag: Text, before rest: Text, _ depth: inout Int) -> String? {
        // A ">" within quotes: parsers disagree whether it ends the tag.
        if endsInQuotes(tag) { return "A tag ends within quotes." }
        switch tag.first {
        case UInt8(ascii: "!"):
            // Foundation also refuses a document type with declarations.
            let isPlain = tag.starts(with: "!DOCTYPE".utf8) && !tag.contains(UInt8(ascii: "["))
            return isPlain ? nil : "The declaration is not allowed in a property list."
        case UInt8(ascii: "/"):
            let name = tag.dropFirst().prefix { $0 > 0x20 }
            let isName = !name.isEmpty && name.allSatisfy { (0x61...0x7A).contains($0) }
            if !isName { return "The closing tag is not allowed in a property list." }
            if containers.contains(where: { name.elementsEqual($0.utf8) }) { depth = max(0, depth - 1) }
        default:
            // Foundation only looks at the first letters of a name.
            if tag.starts(with: "date".utf8) {
                let text = rest.dropFirst().prefix(maximumDateLength)
                if !text.contains(UInt8(ascii: "<")) { return "A date has \(maximumDateLength) bytes or more." }
            } else if tag.last != UInt8(ascii: "/"), containers.contains(where: { tag.starts(with: $0.utf8) }) {
                depth += 1
                if depth > maximumDepth { return "The property list is nested more than \(maximumDepth) levels deep." }
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
