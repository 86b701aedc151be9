extension AddressGuard {
    /// A range that services should not be made to reach, with its name in verdicts.
    public struct SpecialRange: Sendable, Hashable {
        /// The addresses.
        public let range: AddressRange
        /// `loopback`, `private`, `link-local`, and so on.
        public let name: String

        init(_ name: String, v4 bits: UInt32, _ prefixLength: Int) {
            self.name = name
            range = AddressRange(IPAddress(v4: bits), prefixLength: prefixLength)
        }

        init(_ name: String, v6 high: UInt64, _ prefixLength: Int) {
            self.init(name, v6: high, 0, prefixLength)
        }

        init(_ name: String, v6 high: UInt64, _ low: UInt64, _ prefixLength: Int) {
            self.name = name
            range = AddressRange(IPAddress(v6: high, low), prefixLength: prefixLength)
        }
    }

    /// The special ranges: those of the IANA registries of special-purpose addresses, address space that is not
    /// assigned, and the metadata services of cloud providers. Ranges may contain each other; the longest prefix gives
    /// the name.
    public static let specialRanges: [SpecialRange] = specialV4 + specialV6

    private static let specialV4: [SpecialRange] = [
        // RFC 791 3.2.
        SpecialRange("this network", v4: 0x0000_0000, 8),
        // RFC 1918.
        SpecialRange("private", v4: 0x0A00_0000, 8),
        SpecialRange("private", v4: 0xAC10_0000, 12),
        SpecialRange("private", v4: 0xC0A8_0000, 16),
        // 100.64.0.0, RFC 6598.
        SpecialRange("carrier-grade NAT", v4: 0x6440_0000, 10),
        // RFC 1122 3.2.1.3.
        SpecialRange("loopback", v4: 0x7F00_0000, 8),
        // 169.254.0.0, RFC 3927.
        SpecialRange("link-local", v4: 0xA9FE_0000, 16),
        // 169.254.169.254 (most clouds), 168.63.129.16 (Azure), 100.100.100.200 (Alibaba).
        SpecialRange("metadata", v4: 0xA9FE_A9FE, 32),
        SpecialRange("metadata", v4: 0xA83F_8110, 32),
        SpecialRange("metadata", v4: 0x6464_64C8, 32),
        // 192.0.0.0, RFC 6890 2.1.
        SpecialRange("protocol assignments", v4: 0xC000_0000, 24),
        // 192.0.2.0, 198.51.100.0, 203.0.113.0, RFC 5737.
        SpecialRange("documentation", v4: 0xC000_0200, 24),
        SpecialRange("documentation", v4: 0xC633_6400, 24),
        SpecialRange("documentation", v4: 0xCB00_7100, 24),
        // 192.88.99.0, RFC 7526.
        SpecialRange("6to4 relay", v4: 0xC058_6300, 24),
        // 198.18.0.0, RFC 2544.
        SpecialRange("benchmarking", v4: 0xC612_0000, 15),
        // 224.0.0.0, RFC 5771.
        SpecialRange("multicast", v4: 0xE000_0000, 4),
        // 240.0.0.0, RFC 1112 4.
        SpecialRange("reserved", v4: 0xF000_0000, 4),
        SpecialRange("broadcast", v4: 0xFFFF_FFFF, 32),
    ]

    private static let specialV6: [SpecialRange] = [
        // All but 2000::/3, the only block of global unicast addresses (RFC 4291 2.4).
        SpecialRange("unassigned", v6: 0, 3),
        SpecialRange("unassigned", v6: 0x4000 << 48, 2),
        SpecialRange("unassigned", v6: 0x8000 << 48, 1),
        SpecialRange("unspecified", v6: 0, 128),
        SpecialRange("loopback", v6: 0, 1, 128),
        // RFC 4291 2.5.5, RFC 2765 2.1.
        SpecialRange("IPv4-compatible", v6: 0, 96),
        SpecialRange("IPv4-mapped", v6: 0, 0xffff_0000_0000, 96),
        SpecialRange("IPv4-translated", v6: 0, 0xffff_0000_0000_0000, 96),
        // 64:ff9b::, RFC 6052; 64:ff9b:1::, RFC 8215.
        SpecialRange("NAT64", v6: 0x0064_ff9b_0000_0000, 96),
        SpecialRange("local NAT64", v6: 0x0064_ff9b_0001_0000, 48),
        // 100::, RFC 6666; 100:0:0:1::, RFC 9780.
        SpecialRange("discard", v6: 0x0100 << 48, 64),
        SpecialRange("dummy", v6: 0x0100 << 48 | 1, 64),
        // RFC 2928, RFC 4380, RFC 5180, RFC 4843, RFC 7343.
        SpecialRange("protocol assignments", v6: 0x2001 << 48, 23),
        SpecialRange("Teredo", v6: 0x2001 << 48, 32),
        SpecialRange("benchmarking", v6: 0x2001_0002_0000_0000, 48),
        SpecialRange("ORCHID", v6: 0x2001_0010_0000_0000, 28),
        SpecialRange("ORCHID", v6: 0x2001_0020_0000_0000, 28),
        // RFC 3849, RFC 9637.
        SpecialRange("documentation", v6: 0x2001_0db8_0000_0000, 32),
        SpecialRange("documentation", v6: 0x3fff << 48, 20),
        // RFC 3056.
        SpecialRange("6to4", v6: 0x2002 << 48, 16),
        // RFC 9602.
        SpecialRange("segment routing", v6: 0x5f00 << 48, 16),
        // RFC 4193.
        SpecialRange("unique local", v6: 0xfc00 << 48, 7),
        // fd00:ec2::254 (AWS).
        SpecialRange("metadata", v6: 0xfd00_0ec2_0000_0000, 0x254, 128),
        // RFC 4291 2.5.6, RFC 3879, RFC 4291 2.7.
        SpecialRange("link-local", v6: 0xfe80 << 48, 10),
        SpecialRange("site-local", v6: 0xfec0 << 48, 10),
        SpecialRange("multicast", v6: 0xff00 << 48, 8),
    ]

    /// The special range with the longest prefix.
    static func specialRange(of address: IPAddress) -> SpecialRange? {
        (address.family == .v4 ? specialV4 : specialV6).lazy
            .filter { $0.range.contains(address) }
            .max { $0.range.prefixLength < $1.range.prefixLength }
    }
}
