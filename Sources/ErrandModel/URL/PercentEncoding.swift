package import HTTPTypes

/// Percent-encoding by RFC 3986, on bytes.
package enum PercentEncoding {
    private static let hex = Array("0123456789ABCDEF".utf8)

    /// Whether the byte may be part of a URL without encoding: every printable ASCII character except the few that no
    /// part of a URL allows (`"`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|`, `}`). One bit for each.
    static func isURLByte(_ byte: UInt8) -> Bool {
        let bits: UInt64 = byte & 0x40 == 0 ? 0xAFFF_FFFA_0000_0000 : 0x47FF_FFFE_AFFF_FFFF
        return byte < 0x80 && (bits >> UInt64(byte & 0x3F)) & 1 == 1
    }

    /// RFC 3986 2.3.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Encodes the bytes that no part of a URL may have (spaces, quotes, non-ASCII, a `%` without two hexadecimal
    /// digits); encoded text stays as it is. Throws ``ErrandError/invalidURL`` for control characters, which are an
    /// attack or a mistake, and for text that browsers would read as a URL of another host
    /// (``URLReference/hidesAuthority(_:)``).
    package static func url(_ text: String) throws(ErrandError) -> String {
        if isURL(text) { return text }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ErrandError.invalidURL.with(
                message: "the URL \(Redaction.quoted(text)) contains a control character")
        }
        guard !URLReference.hidesAuthority(text) else {
            throw ErrandError.invalidURL.with(
                message: "the URL \(Redaction.quoted(text)) has a backslash or a space in or next to its host")
        }
        let encoded = encode(text, keeping: isURLByte)
        return isURL(encoded) ? encoded : encodingStrayPercents(encoded)
    }

    /// The text of a field that contains a URL. Bytes that are UTF-8 are used as they are. Otherwise each byte above
    /// ASCII is percent-encoded, because its charset is not known; browsers and curl do the same.
    package static func text(_ field: HTTPField) -> String {
        field.withUnsafeBytesOfValue { bytes in
            String(validating: bytes, as: UTF8.self) ?? encode(bytes) { $0 < 0x80 }
        }
    }

    /// Whether the text needs no encoding. Every request calls this, so it reads the stored bytes without a copy.
    private static func isURL(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(isURL) ?? Array(text.utf8).withUnsafeBufferPointer(isURL)
    }

    private static func isURL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            guard isURLByte(bytes[index]) else { return false }
            if bytes[index] == 0x25 {
                guard index + 2 < bytes.count, isHexDigit(bytes[index + 1]), isHexDigit(bytes[index + 2]) else {
                    return false
                }
                index += 2
            }
            index += 1
        }
        return true
    }

    private static func encodingStrayPercents(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            bytes.append(byte)
            guard byte == 0x25 else { continue }
            let digits = rest.prefix(2)
            if digits.count < 2 || !digits.allSatisfy(isHexDigit) { bytes += [0x32, 0x35] }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        hexDigit(byte) != nil
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// The bytes with their escapes decoded. A `%` without two hexadecimal digits stays as it is.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        decode(text).bytes
    }

    /// The text with its escapes decoded; bytes that are not UTF-8 are replaced.
    package static func decoded(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(0x25) else { return String(text) }
        return String(decoding: decode(text.utf8).bytes, as: UTF8.self)
    }

    /// The bytes with their escapes decoded; `nil` for a `%` without two hexadecimal digits.
    package static func decodedStrictly(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let (bytes, isStrict) = decode(text)
        return isStrict ? bytes : nil
    }

    private static func decode(_ text: some Sequence<UInt8>) -> (bytes: [UInt8], isStrict: Bool) {
        var bytes: [UInt8] = []
        var isStrict = true
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte != 0x25 {
                bytes.append(byte)
            } else if digits.count == 2, let high = digits.first.flatMap(hexDigit),
                let low = digits.last.flatMap(hexDigit)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
                isStrict = false
            }
        }
        return (bytes, isStrict)
    }

    /// A component of a query or form: encodes all characters except unreserved ones.
    static func component(_ text: String) -> String {
        text.utf8.allSatisfy(isUnreserved) ? text : encode(text, keeping: isUnreserved)
    }

    /// `a=1&b=2`.
    package static func query(_ items: [QueryItem]) -> String {
        var result = ""
        for item in items {
            if !result.isEmpty { result += "&" }
            result += component(item.name)
            if let value = item.value { result += "=" + component(value) }
        }
        return result
    }

    /// Appends `query`, already encoded, to the query of `url`, before its fragment.
    package static func appending(_ query: String, to url: String) -> String {
        guard !query.isEmpty else { return url }
        // Compares bytes, not characters: "#" before a combining mark is a delimiter, too.
        let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let head = url[..<end]
        var separator = "?"
        if head.utf8.contains(UInt8(ascii: "?")) {
            separator = head.utf8.last == UInt8(ascii: "?") || head.utf8.last == UInt8(ascii: "&") ? "" : "&"
        }
        return head + separator + query + url[end...]
    }

    package static func encode(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        encode(text.utf8, keeping: isKept)
    }

    private static func encode(_ given: some Collection<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(given.count + 16)
        for byte in given {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [0x25, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
