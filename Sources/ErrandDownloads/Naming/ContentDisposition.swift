/// Parses `Content-Disposition` (RFC 6266). The disposition type does not matter: a name also counts for `inline`.
enum ContentDisposition {
    /// The decodable `filename*`, else `filename` (RFC 6266 4.3), as the server sent it: not safe to use.
    static func fileName(in value: String) -> String? {
        var parameters = Parameters(value)
        var (plain, extended): (String?, String?)
        while let (name, value) = parameters.next() {
            // Each parameter name counts once (RFC 6266 4.1). The first value wins, so that a value appended later has
            // no effect.
            switch name {
            case "filename": if plain == nil { plain = value }
            case "filename*": if extended == nil { extended = decodingExtended(value) }
            default: break
            }
        }
        return extended ?? plain
    }

    /// RFC 8187 3.2.1: `UTF-8'en'%e2%82%ac`. `nil` where the value is malformed or has a charset that the RFC does not
    /// require.
    static func decodingExtended(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = decodingPercents(parts[2]) else { return nil }
        switch String(parts[0])?.lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// `nil` for a `%` without two hexadecimal digits.
    static func decodingPercents(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// The parameters behind the first semicolon, with names in lower case. Malformed parameters are skipped.
    private struct Parameters {
        private var rest: Substring.UTF8View

        init(_ value: String) {
            rest = value[...].utf8
            skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
            // Some servers omit the type.
            if rest.first == UInt8(ascii: "=") { rest = value[...].utf8 }
        }

        mutating func next() -> (name: String, value: String)? {
            while true {
                skip { $0 == UInt8(ascii: ";") || Self.isBlank($0) }
                guard !rest.isEmpty else { return nil }
                let name = take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") && !Self.isBlank($0) }
                skip(Self.isBlank)
                guard rest.first == UInt8(ascii: "=") else { continue }
                rest.removeFirst()
                skip(Self.isBlank)
                guard let value = rest.first == UInt8(ascii: "\"") ? quoted() : word() else { continue }
                return (name.lowercased(), value)
            }
        }

        /// A value up to the semicolon: many servers send spaces without quotes.
        private mutating func word() -> String? {
            let word = take { $0 != UInt8(ascii: ";") }
            return String(word.trimmingSuffix { $0 == " " || $0 == "\t" })
        }

        /// `nil` where the quote is never closed.
        private mutating func quoted() -> String? {
            rest.removeFirst()
            var bytes: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                // RFC 9110 5.6.4: a backslash quotes the next character.
                bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
                if rest.isEmpty { return nil }
            }
            skip { $0 != UInt8(ascii: ";") }
            return String(decoding: bytes, as: UTF8.self)
        }

        private mutating func skip(_ matches: (UInt8) -> Bool) {
            rest = rest.drop(while: matches)
        }

        private mutating func take(_ matches: (UInt8) -> Bool) -> String {
            let taken = rest.prefix(while: matches)
            rest = rest[taken.endIndex...]
            return String(Substring(taken))
        }

        private static func isBlank(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x09
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ matches: (Character) -> Bool) -> Substring {
        var text = self[...]
        while let last = text.last, matches(last) { text.removeLast() }
        return text
    }
}
