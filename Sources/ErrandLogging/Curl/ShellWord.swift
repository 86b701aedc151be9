/// Text for a POSIX shell (without `$'...'`, which dash does not have).
enum ShellWord {
    /// One shell word for exactly this text, which must not contain a NUL.
    static func quoted(_ text: String) -> String {
        quoted(Array(text.utf8))
    }

    /// One shell word for exactly these bytes, none of which may be 0.
    ///
    /// Terminals act on control characters, and the text of a command must be valid UTF-8. Therefore bytes with control
    /// characters or invalid UTF-8 go through `printf`. Command substitution removes trailing line feeds, so they are
    /// added after it.
    static func quoted(_ bytes: [UInt8]) -> String {
        if !bytes.isEmpty, bytes.allSatisfy(isPlain) { return String(decoding: bytes, as: UTF8.self) }
        if isShowable(bytes), let text = String(validating: bytes, as: UTF8.self) {
            return "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
        }
        let lineFeeds = bytes.reversed().prefix { $0 == 0x0A }.count
        let format = printfFormat(Array(bytes.dropLast(lineFeeds)))
        return "\"$(printf '\(format)')\(String(repeating: "\n", count: lineFeeds))\""
    }

    /// Whether a terminal shows these bytes unchanged: no control characters except tab and line feed.
    static func isShowable(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A }
    }

    /// The format with which `printf '...'` writes these bytes, zeros included. Only octal escapes, which all shells
    /// support.
    static func printfFormat(_ bytes: [UInt8]) -> String {
        var format: [UInt8] = []
        format.reserveCapacity(bytes.count + bytes.count / 2)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                format += [0x25, 0x25]
            case UInt8(ascii: "-") where index == 0, UInt8(ascii: "\\"), UInt8(ascii: "'"), 0..<0x20, 0x7F...:
                // A format that begins with a dash would be taken for an option.
                format += [0x5C, 0x30 + (byte >> 6), 0x30 + (byte >> 3 & 7), 0x30 + (byte & 7)]
            default:
                format.append(byte)
            }
        }
        return String(decoding: format, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "_%+=:,./-@".utf8.contains(byte)
        }
    }
}
