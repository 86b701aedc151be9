import CErrand

/// Host names as the engine looks them up.
package enum HostName {
    /// The name that the engine looks up for a name without escapes: A-labels (`xn--...`) by libcurl's mapping if the
    /// name is not ASCII, and four decimal numbers for an IPv4 address in any notation. Throws
    /// ``ErrandError/invalidURL`` if the result is not a host, and ``ErrandError/unsupportedFeature`` if this libcurl
    /// has no IDN.
    package static func ascii(_ name: String) throws(ErrandError) -> String {
        if name.utf8.allSatisfy(PercentEncoding.isUnreserved), !isOtherNumber(name[...]) { return name }
        var name = name
        // The longest name by RFC 1035 2.3.4, and a NUL.
        var buffer = [CChar](repeating: 0, count: 256)
        let status = name.withUTF8 { bytes in
            buffer.withUnsafeMutableBufferPointer { buffer in
                guard let out = buffer.baseAddress else { return errand_status.internal }
                return errand_host_ascii(errand_bytes(data: bytes.baseAddress, length: bytes.count), out, buffer.count)
            }
        }
        if let error = ErrandError(status) {
            throw error.with(message: "\(name.debugDescription) is not a valid host name")
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The host of a URL as the engine looks it up: the text after the last "@", without port, with escapes decoded, by
    /// ``ascii(_:)``, in lower case, without the root's dot. Throws ``ErrandError/invalidURL`` if it is not a host.
    package static func lookedUp(by url: URLReference) throws(ErrandError) -> Substring {
        var host = url.authority ?? ""
        if let at = host.utf8.lastIndex(of: UInt8(ascii: "@")) { host = host[host.utf8.index(after: at)...] }
        if host.utf8.first == UInt8(ascii: "[") {
            if let end = host.utf8.firstIndex(of: UInt8(ascii: "]")) { host = host[...end] }
        } else if let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")) {
            host = host[..<colon]
        }
        if !host.utf8.allSatisfy(isPlain) || isOtherNumber(host) { host = try decoded(host)[...] }
        if host.utf8.last == UInt8(ascii: ".") { host = host.dropLast() }
        return host
    }

    private static func decoded(_ host: Substring) throws(ErrandError) -> String {
        // An escape in brackets belongs to the name of a zone.
        let isLiteral = host.utf8.first == UInt8(ascii: "[")
        let bytes = isLiteral ? Array(host.utf8) : PercentEncoding.decoded(host.utf8)
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw ErrandError.invalidURL.with(message: "the host \(host) is not UTF-8")
        }
        return try ascii(name).lowercased()
    }

    /// Whether the byte needs neither decoding nor lower case.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte < 0x80 && byte != UInt8(ascii: "%") && !(0x41...0x5A).contains(byte)
    }

    /// Whether the last label begins with a digit, so that the host may be an IPv4 address, in a notation other than
    /// four decimal numbers.
    private static func isOtherNumber(_ host: Substring) -> Bool {
        var label = host.utf8[...]
        if label.last == UInt8(ascii: ".") { label = label.dropLast() }
        if let dot = label.lastIndex(of: UInt8(ascii: ".")) { label = label[label.index(after: dot)...] }
        guard let first = label.first, (0x30...0x39).contains(first) else { return false }
        return !isDotted(host)
    }

    /// Whether the host is four decimal numbers, as `127.0.0.1`, which needs no conversion.
    private static func isDotted(_ host: Substring) -> Bool {
        var (dots, digits, value) = (0, 0, 0)
        for byte in host.utf8 {
            if byte == UInt8(ascii: "."), digits > 0 {
                (dots, digits, value) = (dots + 1, 0, 0)
            } else {
                guard (0x30...0x39).contains(byte), digits == 0 || value > 0 else { return false }
                value = value * 10 + Int(byte & 0xF)
                digits += 1
                guard value < 256 else { return false }
            }
        }
        return dots == 3 && digits > 0
    }
}
