import Glibc

/// A host, compared as libcurl compares it with the hosts that are reached without the proxy (CURLOPT_NOPROXY). Where
/// versions of libcurl differ, the host counts as one of them.
struct ProxyTarget {
    private enum Address: Equatable {
        case version4(UInt32)
        case version6([UInt8])
    }

    /// In lower case, without a dot at the end; an IPv6 address without brackets.
    private let name: String
    private let address: Address?

    /// `nil` for a host that cannot be read with certainty, such as a name with escapes.
    ///
    /// - Parameter origin: In the format of ``URLReference/origin``, with a port.
    init?(origin: String) {
        // Each byte is one character from here on.
        guard origin.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        var host = origin[...]
        guard let colon = host.lastIndex(of: ":") else { return nil }
        host = host[..<colon]
        guard let slash = host.lastIndex(of: "/") else { return nil }
        host = host[host.index(after: slash)...]
        if host.hasPrefix("["), host.hasSuffix("]") {
            name = String(host.dropFirst().dropLast())
            guard let bytes = Self.version6(name) else { return nil }
            address = .version6(bytes)
            return
        }
        if host.hasSuffix(".") { host = host.dropLast() }
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfName) else { return nil }
        name = String(host)
        address = Self.version4(name).map { .version4($0) }
    }

    /// Whether `list`, made by ``ProxyBypass``, contains the host.
    func isAmong(_ list: String) -> Bool {
        list.split(separator: ",").contains { isMeant(by: $0) }
    }

    private func isMeant(by word: Substring) -> Bool {
        if word == "*" { return true }
        // A name includes all names below it.
        var suffix = word.lowercased()
        if suffix.hasPrefix(".") { suffix.removeFirst() }
        if suffix.hasSuffix(".") { suffix.removeLast() }
        if !suffix.isEmpty, name == suffix || name.hasSuffix(".\(suffix)") { return true }

        let parts = word.split(separator: "/", maxSplits: 1)
        guard let address, let first = parts.first else { return false }
        switch address {
        case .version4(let number):
            guard let other = Self.version4(String(first)) else { return false }
            let bits = parts.count == 2 ? Int(parts[1]) ?? 32 : 32
            return (number ^ other) >> (32 - bits) == 0
        case .version6(let bytes):
            return Self.version6(String(first)) == bytes
        }
    }

    /// An IPv4 address in any notation of URLs (WHATWG URL 3.5), as libcurl reads it: `127.1` is `127.0.0.1`.
    private static func version4(_ text: String) -> UInt32? {
        var storage = in_addr()
        guard inet_aton(text, &storage) != 0 else { return nil }
        return UInt32(bigEndian: storage.s_addr)
    }

    private static func version6(_ text: String) -> [UInt8]? {
        var storage = in6_addr()
        guard inet_pton(AF_INET6, text, &storage) == 1 else { return nil }
        return withUnsafeBytes(of: &storage) { Array($0) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
