/// Reads JSON text (RFC 8259) into a ``JSONValue``, in one pass and in linear time. Foundation's decoder would make an
/// error for each type that a value does not have, and each error contains the whole path to the value.
///
/// The parser accepts what Foundation's decoder accepts: 512 levels, a comma after the last element, UTF-16 and UTF-32,
/// and the first value of a name that occurs twice. It differs in three points. Malformed text is refused within a
/// dropped value, too. A number of 2^53 or more with a fraction is not read as a whole number. A unit of UTF-16 or
/// UTF-32 that is truncated at the end is refused.
struct JSONParser {
    /// The limit of Foundation's decoder.
    static let maximumDepth = 512

    /// Why text is not JSON.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let problem: String
        /// Counted in bytes of UTF-8, whatever the encoding of the text was.
        let offset: Int

        var description: String { "\(problem) at byte \(offset)" }
    }

    let bytes: UnsafeBufferPointer<UInt8>
    var index = 0
    private var depth = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The value of the whole text.
    static func value(of text: UnsafeRawBufferPointer) throws(Failure) -> JSONValue {
        let (encoding, markLength) = JSONTextEncoding.of(text)
        let text = UnsafeRawBufferPointer(rebasing: text[markLength...])
        if encoding == .utf8 { return try value(ofUTF8: text) }
        guard let converted = encoding.utf8(text) else {
            throw Failure(problem: "text that is not UTF-8, UTF-16 or UTF-32", offset: 0)
        }
        return try converted.withUnsafeBufferPointer { (text) throws(Failure) in
            try value(ofUTF8: UnsafeRawBufferPointer(text))
        }
    }

    private static func value(ofUTF8 text: UnsafeRawBufferPointer) throws(Failure) -> JSONValue {
        var parser = JSONParser(text.assumingMemoryBound(to: UInt8.self))
        let value = try parser.value()
        guard parser.nextByte() == nil else { throw parser.failure("unexpected text after the value") }
        return value
    }

    func failure(_ problem: String) -> Failure {
        Failure(problem: index < bytes.count ? problem : "unexpected end of the text", offset: index)
    }

    /// The next byte that is not a blank, without consuming it; `nil` at the end.
    private mutating func nextByte() -> UInt8? {
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            index += 1
        }
        return nil
    }

    private mutating func value() throws(Failure) -> JSONValue {
        guard let first = nextByte() else { throw failure("") }
        switch first {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return try number()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw failure("expected a value")
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(Failure) -> JSONValue {
        let end = index + text.utf8CodeUnitCount
        guard end <= bytes.count else { throw failure("expected a value") }
        for offset in 0..<text.utf8CodeUnitCount where bytes[index + offset] != text.utf8Start[offset] {
            throw failure("expected a value")
        }
        index = end
        return value
    }

    /// Consumes the opening bracket.
    private mutating func enter() throws(Failure) {
        guard depth < Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) nested levels") }
        depth += 1
        index += 1
    }

    /// Consumes a comma, or stops before the closing bracket.
    private mutating func separate(before closing: UInt8) throws(Failure) {
        let next = nextByte()
        if next == UInt8(ascii: ",") {
            index += 1
        } else if next != closing {
            throw failure("expected a comma or a closing bracket")
        }
    }

    private mutating func array() throws(Failure) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        while nextByte() != UInt8(ascii: "]") {
            elements.append(try value())
            try separate(before: UInt8(ascii: "]"))
        }
        index += 1
        depth -= 1
        return .array(elements)
    }

    private mutating func object() throws(Failure) -> JSONValue {
        try enter()
        var members: [String: JSONValue] = [:]
        while nextByte() != UInt8(ascii: "}") {
            guard nextByte() == UInt8(ascii: "\"") else { throw failure("expected a member name") }
            let name = try string()
            guard nextByte() == UInt8(ascii: ":") else { throw failure("expected a colon") }
            index += 1
            if let first = members.updateValue(try value(), forKey: name) { members[name] = first }
            try separate(before: UInt8(ascii: "}"))
        }
        index += 1
        depth -= 1
        return .object(members)
    }
}
