import Glibc

/// Hosts that are reached without the proxy, in libcurl's syntax (CURLOPT_NOPROXY). An entry that libcurl would
/// silently never match is refused: otherwise requests that should bypass the proxy would be sent to it.
package enum ProxyBypass {
    /// The list for libcurl; `nil` without entries. Throws ``ErrandError/invalidOption``, naming the entry.
    package static func list(_ entries: [String]) throws(ErrandError) -> String? {
        var words: [String] = []
        for entry in entries {
            for part in parts(of: entry) {
                guard let word = word(part) else {
                    throw ErrandError.invalidOption.with(
                        message: "\(part.debugDescription) is not a host name, address or range for a proxy bypass; "
                            + "ports, IPv6 ranges and patterns other than '*.' are not supported")
                }
                words.append(word)
            }
        }
        return joined(words)
    }

    /// `no_proxy` of the environment, without the entries that libcurl cannot match; `nil` if it is not set.
    package static func fromEnvironment() -> String? {
        for name in ["no_proxy", "NO_PROXY"] {
            guard let value = getenv(name), value.pointee != 0 else { continue }
            return joined(parts(of: String(cString: value)).compactMap { word($0) }) ?? ""
        }
        return nil
    }

    /// libcurl accepts `*` only as the single entry.
    private static func joined(_ words: [String]) -> String? {
        if words.contains("*") { return "*" }
        return words.isEmpty ? nil : words.joined(separator: ",")
    }

    private static func parts(of entry: String) -> [Substring] {
        entry.split { $0 == "," || $0 == " " || $0 == "\t" }
    }

    /// The entry as libcurl matches it; `nil` if libcurl cannot match it.
    private static func word(_ part: Substring) -> String? {
        if part == "*" { return "*" }
        let slash = part.split(separator: "/", omittingEmptySubsequences: false)
        guard slash.count <= 2, let first = slash.first else { return nil }
        let bits = slash.count == 2 ? slash[1] : nil
        var address = first
        let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
        if isBracketed { address = address.dropFirst().dropLast() }
        if let width = width(of: String(address)), !isBracketed || width == 128 {
            guard let bits else { return String(address) }
            guard bits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(bits),
                (1...width).contains(count)
            else { return nil }
            // libcurl 7.88.1 never matches a range of IPv6 addresses.
            if width == 128 { return count == width ? String(address) : nil }
            return "\(address)/\(count)"
        }
        guard bits == nil, !isBracketed else { return nil }
        var name = first.hasPrefix("*.") ? first.dropFirst() : first
        let isSuffix = name.hasPrefix(".")
        if isSuffix { name = name.dropFirst() }
        guard let host = try? HostName.ascii(String(name)), isName(host) else { return nil }
        return isSuffix ? "." + host : host
    }

    /// The number of bits of an address; `nil` for other text.
    private static func width(of text: String) -> Int? {
        var storage = in6_addr()
        if inet_pton(AF_INET, text, &storage) == 1 { return 32 }
        return inet_pton(AF_INET6, text, &storage) == 1 ? 128 : nil
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: ".") else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }
}
