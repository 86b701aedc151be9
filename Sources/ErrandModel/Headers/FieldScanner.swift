/// Reads a field's value part by part (RFC 9110 5.6): tokens, quoted strings, and the text between them.
package struct FieldScanner {
    private let bytes: [UInt8]
    /// The index of the next byte. May be set back to an earlier one.
    package var position = 0

    package init(_ value: String) {
        bytes = Array(value.utf8)
    }

    package var isAtEnd: Bool { position >= bytes.count }

    package func isNext(_ scalar: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: scalar)
    }

    package mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard isNext(scalar) else { return false }
        position += 1
        return true
    }

    package mutating func skip(_ matches: (UInt8) -> Bool) {
        while position < bytes.count, matches(bytes[position]) { position += 1 }
    }

    package mutating func skipBlanks() {
        skip(FieldTokens.isBlank)
    }

    package mutating func skip(to scalar: Unicode.Scalar) {
        skip { $0 != UInt8(ascii: scalar) }
    }

    /// Skips blanks and empty members of a list.
    package mutating func skipBlanks(and separator: Unicode.Scalar) {
        skip { FieldTokens.isBlank($0) || $0 == UInt8(ascii: separator) }
    }

    /// The bytes from `start` to the present position.
    package func text(from start: Int) -> String {
        String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// The text up to a byte that does not match; `nil` if it is empty.
    package mutating func text(while matches: (UInt8) -> Bool) -> String? {
        let start = position
        skip(matches)
        return position > start ? text(from: start) : nil
    }

    /// RFC 9110 5.6.2; `*` is a token byte, so this reads ranges of media types as well.
    package mutating func token() -> String? {
        text(while: FieldTokens.isTokenByte)
    }

    /// The text up to `end`, without blanks at its end.
    package mutating func text(to end: Unicode.Scalar) -> String {
        let start = position
        skip(to: end)
        var last = position
        while last > start, FieldTokens.isBlank(bytes[last - 1]) { last -= 1 }
        return String(decoding: bytes[start..<last], as: UTF8.self)
    }

    /// The content of a quoted string (RFC 9110 5.6.4), and whether a quote closes it; otherwise it goes to the end.
    /// `nil`, with the position unchanged, if no quote is next.
    package mutating func quoted() -> (text: String, isClosed: Bool)? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            // A backslash escapes the next character.
            if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
            text.append(bytes[position])
            position += 1
        }
        return (String(decoding: text, as: UTF8.self), take("\""))
    }
}
