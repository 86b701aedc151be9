/// A range of IP addresses in CIDR form (RFC 4632 3.1, RFC 4291 2.3): all addresses whose first bits are those of the
/// base. Any thread.
public struct AddressRange: Sendable, Hashable {
    /// The first address of the range.
    public let base: IPAddress
    /// How many bits all addresses of the range share: 0...32 for IPv4, 0...128 for IPv6.
    public let prefixLength: Int

    /// The range of the first `prefixLength` bits of `address`. Clamps the length to the width of the address, and sets
    /// the remaining bits of the base to zero.
    public init(_ address: IPAddress, prefixLength: Int) {
        let length = prefixLength.clamped(0...address.width)
        self.prefixLength = length
        base =
            address.family == .v4
            ? IPAddress(v4: UInt32(truncatingIfNeeded: address.low & Self.mask(length + 32)))
            : IPAddress(v6: address.high & Self.mask(length), address.low & Self.mask(length - 64))
    }

    /// Reads `10.0.0.0/8` or `fd00::/8`; an address alone is a range of one address. Bits after the prefix are ignored.
    ///
    /// Throws ``ErrandError/invalidOption`` for other text; the message has the text.
    public init(_ text: String) throws(ErrandError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { throw Self.unreadable(text) }
        guard parts.count == 2 else {
            self.init(address, prefixLength: address.width)
            return
        }
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(digits), length <= address.width
        else { throw Self.unreadable(text) }
        self.init(address, prefixLength: length)
    }

    private static func unreadable(_ text: String) -> ErrandError {
        ErrandError.invalidOption.with(message: "'\(text)' is not a range of IP addresses such as 10.0.0.0/8")
    }

    /// Whether the address is in the range. An IPv4 address is never in a range of IPv6 addresses, nor the other way
    /// round.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.family == base.family else { return false }
        if base.family == .v4 { return (address.low ^ base.low) & Self.mask(prefixLength + 32) == 0 }
        return (address.high ^ base.high) & Self.mask(prefixLength) == 0
            && (address.low ^ base.low) & Self.mask(prefixLength - 64) == 0
    }

    /// 64 bits of which the first `length` are set.
    private static func mask(_ length: Int) -> UInt64 {
        if length <= 0 { return 0 }
        return length >= 64 ? .max : ~(.max >> UInt64(length))
    }
}

extension AddressRange: CustomStringConvertible {
    /// `10.0.0.0/8`.
    public var description: String { "\(base)/\(prefixLength)" }
}
