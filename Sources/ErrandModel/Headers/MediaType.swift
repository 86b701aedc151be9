/// A media type (RFC 9110 8.3.1) in lower case, with its parameters. `nil` for text that is not a media type.
struct MediaType: Hashable {
    let type: String
    let subtype: String
    let parameters: [(name: String, value: String)]

    init?(_ text: String) {
        var scanner = Scanner(Array(text.utf8))
        scanner.skipBlanks()
        guard let type = scanner.token(), scanner.take(UInt8(ascii: "/")), let subtype = scanner.token() else {
            return nil
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = scanner.parameters()
    }

    /// The value of the first parameter of that lower-case name; `nil` if it is missing or empty.
    func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    static func == (left: MediaType, right: MediaType) -> Bool {
        left.type == right.type && left.subtype == right.subtype
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
    }
}

extension MediaType {
    /// Reads what servers send, not only what the grammar allows: a malformed parameter is skipped up to the next `;`.
    private struct Scanner {
        private let bytes: [UInt8]
        private var index = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        var isAtEnd: Bool { index >= bytes.count }
        var next: UInt8? { index < bytes.count ? bytes[index] : nil }

        mutating func take(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            index += 1
            return true
        }

        mutating func skipBlanks() {
            while let byte = next, byte == 0x20 || byte == 0x09 { index += 1 }
        }

        /// RFC 9110 5.6.2; `*` is a token byte, so this reads ranges as well.
        mutating func token() -> String? {
            let start = index
            while let byte = next, Self.isTokenByte(byte) { index += 1 }
            return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
        }

        mutating func parameters() -> [(name: String, value: String)] {
            var found: [(name: String, value: String)] = []
            while !isAtEnd {
                skipTo(UInt8(ascii: ";"))
                guard take(UInt8(ascii: ";")) else { break }
                skipBlanks()
                guard let name = token() else { continue }
                skipBlanks()
                guard take(UInt8(ascii: "=")) else { continue }
                skipBlanks()
                found.append((name.lowercased(), value()))
            }
            return found
        }

        /// A quoted string (5.6.4), also without a closing quote, or the rest up to `;`.
        private mutating func value() -> String {
            guard take(UInt8(ascii: "\"")) else {
                let start = index
                skipTo(UInt8(ascii: ";"))
                var end = index
                while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
                return String(decoding: bytes[start..<end], as: UTF8.self)
            }
            var value: [UInt8] = []
            while let byte = next {
                index += 1
                if byte == UInt8(ascii: "\"") { break }
                if byte == UInt8(ascii: "\\"), let escaped = next {
                    index += 1
                    value.append(escaped)
                } else {
                    value.append(byte)
                }
            }
            return String(decoding: value, as: UTF8.self)
        }

        private mutating func skipTo(_ byte: UInt8) {
            while let found = next, found != byte { index += 1 }
        }

        private static func isTokenByte(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default:
                "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }
}
