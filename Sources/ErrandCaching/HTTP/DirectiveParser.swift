/// Reads a list of directives, `name`, `name=token` or `name="quoted"` (RFC 9111 5.2). Unreadable text is skipped up to
/// the next comma, so that a directive after the comma still counts.
struct DirectiveParser {
    enum Argument: Hashable {
        case none
        case text(String)
        case malformed
    }

    struct Directive: Hashable {
        /// In lower case.
        let name: String
        let argument: Argument
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) {
        bytes = Array(value.utf8)
    }

    mutating func next() -> Directive? {
        while true {
            skip { Self.isBlank($0) || $0 == Self.comma }
            guard position < bytes.count else { return nil }
            let start = position
            skip(FieldTokens.isTokenByte)
            guard position > start else {
                skipToComma()
                continue
            }
            let name = String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
            skip(Self.isBlank)
            guard position < bytes.count, bytes[position] == Self.equals else {
                skipToComma()
                return Directive(name: name, argument: .none)
            }
            position += 1
            skip(Self.isBlank)
            return Directive(name: name, argument: argument())
        }
    }

    private mutating func argument() -> Argument {
        guard position < bytes.count, bytes[position] == Self.quote else {
            let start = position
            skipToComma()
            let text = FieldTokens.trimmed(Substring(String(decoding: bytes[start..<position], as: UTF8.self)))
            return text.isEmpty ? .malformed : .text(text)
        }
        let opening = position
        position += 1
        var text: [UInt8] = []
        while position < bytes.count, bytes[position] != Self.quote {
            // RFC 9110 5.6.4: a backslash escapes the next character.
            if bytes[position] == Self.backslash, position + 1 < bytes.count { position += 1 }
            text.append(bytes[position])
            position += 1
        }
        if position < bytes.count {
            position += 1
            skip(Self.isBlank)
            if position == bytes.count || bytes[position] == Self.comma {
                return .text(String(decoding: text, as: UTF8.self))
            }
        }
        // The string has no closing quote, or text follows it. The directive ends at the next comma, so that a stray
        // quote cannot hide a no-store. Each quote is read twice at most: as the end of one string and as the start of
        // another.
        position = opening
        skipToComma()
        return .malformed
    }

    private mutating func skipToComma() {
        skip { $0 != Self.comma }
    }

    private mutating func skip(_ matches: (UInt8) -> Bool) {
        while position < bytes.count, matches(bytes[position]) { position += 1 }
    }

    private static let comma = UInt8(ascii: ",")
    private static let equals = UInt8(ascii: "=")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }
}
