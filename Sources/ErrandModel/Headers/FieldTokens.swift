import HTTPTypes

/// Comma-separated names, as in `Vary` and `Connection` (RFC 9110 5.6.1).
package enum FieldTokens {
    /// The names in lower case, in order; `nil` for a member that is not a token.
    package static func members(_ values: [String]) -> [String?] {
        values.flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ","))
                .map { trimmed(Substring($0)) }
                .filter { !$0.isEmpty }
                .map { $0.utf8.allSatisfy(isTokenByte) ? $0.lowercased() : nil }
        }
    }

    /// The text without blanks at either end.
    package static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8
        while let byte = bytes.first, isBlank(byte) { bytes.removeFirst() }
        while let byte = bytes.last, isBlank(byte) { bytes.removeLast() }
        return String(Substring(bytes))
    }

    /// RFC 9110 5.6.3: a space or a tab.
    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }

    /// RFC 9110 5.6.2.
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
