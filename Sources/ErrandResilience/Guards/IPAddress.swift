/// An IPv4 or IPv6 address as a number, without a zone.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is a value of its own and differs from `192.0.2.1`. Any thread.
public struct IPAddress: Sendable, Hashable {
    /// The address family.
    public enum Family: Sendable, Hashable {
        /// 32 bits.
        case v4
        /// 128 bits.
        case v6
    }

    /// The family of the address.
    public let family: Family
    /// The first 64 bits of an IPv6 address; 0 for IPv4.
    let high: UInt64
    /// The last 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
    let low: UInt64

    init(v4 bits: UInt32) {
        family = .v4
        high = 0
        low = UInt64(bits)
    }

    init(v6 high: UInt64, _ low: UInt64) {
        family = .v6
        self.high = high
        self.low = low
    }

    /// The address of 4 or 16 bytes in network order; `nil` for any other count.
    public init?(bytes: some Collection<UInt8>) {
        func number(_ part: some Sequence<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(v4: UInt32(truncatingIfNeeded: number(bytes)))
        case 16: self.init(v6: number(bytes.prefix(8)), number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// Reads the text form: four decimal numbers (RFC 6943 3.1.1 strict), or an IPv6 address (RFC 4291 2.2), also with
    /// an IPv4 address at its end. `nil` for other text, such as `127.1`, `0x7f000001`, `010.0.0.1`, brackets, and
    /// addresses with a zone.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 45 else { return nil }
        if bytes.contains(UInt8(ascii: ":")) {
            guard let groups = Self.groups(of: text) else { return nil }
            let number = { (part: ArraySlice<UInt16>) in part.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
            self.init(v6: number(groups[0..<4]), number(groups[4..<8]))
        } else {
            guard let bits = Self.dotted(bytes[...]) else { return nil }
            self.init(v4: bits)
        }
    }

    /// The number of bits: 32 or 128.
    var width: Int { family == .v4 ? 32 : 128 }

    /// Four decimal numbers without leading zeros.
    private static func dotted(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
                part.count == 1 || part.first != 0x30
            else { return nil }
            let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 0x30) }
            guard value <= 255 else { return nil }
            bits = bits << 8 | value
        }
        return bits
    }

    /// The eight groups of an IPv6 address.
    private static func groups(of text: String) -> [UInt16]? {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        switch halves.count {
        case 1:
            guard let all = groups(halves[0], mayEndInV4: true), all.count == 8 else { return nil }
            return all
        case 2:
            guard let front = groups(halves[0], mayEndInV4: false), let back = groups(halves[1], mayEndInV4: true),
                front.count + back.count < 8
            else { return nil }
            return front + Array(repeating: 0, count: 8 - front.count - back.count) + back
        default: return nil
        }
    }

    private static func groups(_ text: Substring, mayEndInV4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let bytes = Array(part)
            if bytes.contains(UInt8(ascii: ".")) {
                guard mayEndInV4, index == parts.count - 1, let bits = dotted(bytes[...]) else { return nil }
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
                continue
            }
            guard (1...4).contains(bytes.count), bytes.allSatisfy(isHex),
                let group = UInt16(String(decoding: bytes, as: UTF8.self), radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups.count <= 8 ? groups : nil
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}

extension IPAddress {
    /// The address and the port of a `sockaddr_in` or `sockaddr_in6` of Linux: the family in the machine's byte order,
    /// the port in network order. `nil` for other families and for too few bytes.
    public static func read(socketAddress bytes: UnsafeRawBufferPointer) -> (address: IPAddress, port: UInt16)? {
        guard bytes.count >= 8 else { return nil }
        let family = bytes.loadUnaligned(fromByteOffset: 0, as: UInt16.self)
        let port = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        let range: Range<Int>
        switch family {
        // AF_INET and AF_INET6 of Linux.
        case 2: range = 4..<8
        case 10: range = 8..<24
        default: return nil
        }
        guard bytes.count >= range.upperBound, let address = IPAddress(bytes: bytes[range]) else { return nil }
        return (address, port)
    }

    /// The IPv4 addresses that an IPv6 address of a transition mechanism embeds: the host behind the mechanism, and for
    /// Teredo also its server.
    var embedded: [IPAddress] {
        guard family == .v6 else { return [] }
        let last = IPAddress(v4: UInt32(truncatingIfNeeded: low))
        switch (high, low >> 32) {
        // Not the unspecified address and loopback.
        case (0, 0) where low <= 1: return []
        // IPv4-compatible (RFC 4291 2.5.5.1), IPv4-mapped (2.5.5.2), IPv4-translated (RFC 2765 2.1).
        case (0, 0), (0, 0xffff), (0, 0xffff_0000): return [last]
        // NAT64 (RFC 6052 2.1).
        case (0x0064_ff9b_0000_0000, 0): return [last]
        case (0x0064_ff9b_0001_0000...0x0064_ff9b_0001_ffff, _): return embeddedLocally
        default: break
        }
        switch high >> 48 {
        // 6to4 (RFC 3056 2).
        case 0x2002: return [IPAddress(v4: UInt32(truncatingIfNeeded: high >> 16))]
        // Teredo (RFC 4380 4): the server, and the client with inverted bits.
        case 0x2001 where (high >> 32) & 0xffff == 0:
            return [IPAddress(v4: UInt32(truncatingIfNeeded: high)), IPAddress(v4: ~UInt32(truncatingIfNeeded: low))]
        default: return []
        }
    }

    /// The IPv4 addresses that an address of 64:ff9b:1::/48 may embed. RFC 8215 leaves the length of the NAT64 prefix
    /// to the network: 48, 56, 64 or 96 bits of the forms of RFC 6052 2.2. A translator takes the bits by their
    /// position, whatever follows them, so the address may mean any of the four. IPv4 addresses in 0.0.0.0/8 count only
    /// if there is no other.
    private var embeddedLocally: [IPAddress] {
        let forms: [UInt64] = [
            (high & 0xffff) << 16 | (low >> 40) & 0xffff,
            (high & 0xff) << 24 | (low >> 32) & 0xff_ffff,
            (low >> 24) & 0xffff_ffff,
            low & 0xffff_ffff,
        ]
        let found = forms.filter { $0 >> 24 != 0 }.map { IPAddress(v4: UInt32($0)) }
        return found.isEmpty ? [IPAddress(v4: 0)] : found
    }
}

extension IPAddress: CustomStringConvertible {
    /// The text form; for IPv6 that of RFC 5952, without an IPv4 address at the end.
    public var description: String {
        guard family == .v6 else {
            return [24, 16, 8, 0].map { String(low >> UInt64($0) & 0xff) }.joined(separator: ".")
        }
        let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { half >> UInt64($0) & 0xffff } }
        // The longest run of zeros, the first among equals, at least two groups.
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start > max(1, best.count) { best = start..<end }
            start = end + 1
        }
        let text = { (part: ArraySlice<UInt64>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard !best.isEmpty else { return text(groups[...]) }
        return text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
    }
}
