import FoundationEssentials

/// Keeps from Foundation's decoder the property lists that would end the process. Of the three forms swift-foundation (6.3
/// at least) reads the OpenStep form within bounds; the XML form by recursion without a bound; and the binary form with
/// traps where an offset or a length is out of range, or round in circles where an object refers to itself.
enum PropertyListGuard {
    /// The bound of Foundation's JSON decoder.
    static let maximumDepth = 512

    static func check(_ body: Response.Body) throws(DecodingError) {
        let problem = body.withBytes { bytes in
            if bytes.starts(with: "bplist".utf8) { return "A binary property list is not read." as String? }
            if bytes.contains(0) { return "A property list in UTF-16 or UTF-32 is not read." }
            return depthProblem(bytes)
        }
        guard let problem else { return }
        throw .dataCorrupted(.init(codingPath: [], debugDescription: problem))
    }

    /// Counts tags without reading them; harmless in text of the OpenStep form.
    private static func depthProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
        var depth = 0
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "!--".utf8) {
                skip(past: "-->", &rest)
            } else if rest.starts(with: "![CDATA[".utf8) {
                skip(past: "]]>", &rest)
            } else if rest.first == UInt8(ascii: "/") {
                depth = max(0, depth - 1)
            } else if let first = rest.first, first != UInt8(ascii: "!"), first != UInt8(ascii: "?") {
                let tag = rest.prefix { $0 != UInt8(ascii: ">") }
                // A ">" inside quotes: whether it ends the tag is what parsers differ in.
                if tag.count(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }) % 2 == 1 {
                    return "A tag has an odd number of quotes."
                }
                if tag.last != UInt8(ascii: "/") { depth += 1 }
                if depth > maximumDepth { return "More than \(maximumDepth) levels." }
                rest = rest[tag.endIndex...]
            }
        }
        return nil
    }

    private static func skip(past end: StaticString, _ rest: inout Slice<UnsafeRawBufferPointer>) {
        let end = Array("\(end)".utf8)
        while !rest.isEmpty, !rest.starts(with: end) { rest = rest.dropFirst() }
        rest = rest.dropFirst(end.count)
    }
}
