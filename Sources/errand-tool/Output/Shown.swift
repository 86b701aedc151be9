import Errand

/// Text of URLs, servers and files, made safe for output.
enum Shown {
    /// A URL without passwords, tokens and terminal control characters. Used for every URL that the tool prints.
    static func url(_ url: String) -> String { text(Redaction.shown(url)) }

    /// Replaces control characters by `\x1b`, and U+0080 to U+009F, which some terminals also interpret, by `\u{9b}`.
    static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isControl) else { return text }
        return text.unicodeScalars.map { $0.isControl ? escape($0) : String($0) }.joined()
    }

    /// A response head (status line and fields). Line ends and tabs are kept, and bytes that are not UTF-8 become
    /// `\xff`.
    static func head(_ bytes: [UInt8]) -> String {
        var text = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            let hasReturn = end > rest.startIndex && end < rest.endIndex && rest[end - 1] == 0x0D
            text += line(rest[..<(hasReturn ? end - 1 : end)])
            if end < rest.endIndex { text += hasReturn ? "\r\n" : "\n" }
            rest = rest[end...].dropFirst()
        }
        return text
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return bytes.map { 0x20..<0x7F ~= $0 || $0 == 0x09 ? String(UnicodeScalar($0)) : hex($0) }.joined()
        }
        return text.unicodeScalars.map { $0.isControl && $0 != "\t" ? escape($0) : String($0) }.joined()
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        scalar.value < 0x80 ? hex(UInt8(scalar.value)) : "\\u{" + String(scalar.value, radix: 16) + "}"
    }

    private static func hex(_ byte: UInt8) -> String {
        "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
}
