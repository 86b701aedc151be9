import Errand
import ErrandTesting
import Testing

@testable import ErrandResilience

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("192.0.2.1", "192.0.2.1"), ("::", "::"),
        ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1:0:0:4:0:0:0:8", "1:0:0:4::8"), ("1:0:0:4:5:0:0:8", "1::4:5:0:0:8"), ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
        ("::ffff:192.0.2.1", "::ffff:c000:201"), ("64:ff9b::10.0.0.1", "64:ff9b::a00:1"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func texts(_ text: String, _ canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(arguments: [
        "", "1", "127.1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.", ".1.2.3", "1..2.3", "0x7f.0.0.1",
        "2130706433", "1.2.3.+4", " 1.2.3.4", "1.2.3.4 ", "1.2.3.4444", ":", ":::", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1::2::3", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::", "g::", "fe80::1%eth0", "[::1]",
        "1:2:3:4:5:6:7:1.2.3.4",
        "1.2.3.4::", "::1.2.3", ":1", "1:", "::+1", "::1.2.3.4:5", "١.2.3.4",
        "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000",
    ])
    func otherTexts(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func bytesInNetworkOrder() {
        #expect(IPAddress(bytes: [192, 0, 2, 1] as [UInt8]) == IPAddress("192.0.2.1"))
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.replaceSubrange(0..<4, with: [0x20, 1, 0xd, 0xb8])
        bytes[15] = 9
        #expect(IPAddress(bytes: bytes) == IPAddress("2001:db8::9"))
        for count in [0, 3, 5, 15, 17] { #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    private func read(_ bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { IPAddress.read(socketAddress: $0) }.map { "\($0.address) \($0.port)" }
    }

    /// The family in the machine's byte order.
    private func family(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    @Test func socketAddresses() {
        let v4: [UInt8] = family(2) + [0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(read(v4) == "127.0.0.1 8080")
        #expect(read(Array(v4.prefix(8))) == "127.0.0.1 8080")
        #expect(read(Array(v4.prefix(7))) == nil)
        var v6: [UInt8] = family(10) + [0, 80, 1, 2, 3, 4, 0xfe, 0x80]
        v6 += [UInt8](repeating: 0, count: 13)
        v6 += [7, 2, 0, 0, 0]
        #expect(read(v6) == "fe80::7 80")
        #expect(read(Array(v6.prefix(23))) == nil)
        // A Unix socket.
        #expect(read(family(1) + Array("/tmp/socket".utf8)) == nil)
        #expect(read([]) == nil)
        // Not aligned.
        let shifted: [UInt8] = [0] + v4
        let port = shifted.withUnsafeBytes { bytes in
            IPAddress.read(socketAddress: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))?.port
        }
        #expect(port == 8080)
    }

    @Test(arguments: 0..<10)
    func randomAddressesSurviveTheirText(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            // Many groups are 0, so that each place of the run of zeros occurs.
            let bytes = (0..<8).flatMap { _ -> [UInt8] in
                Bool.random(using: &random)
                    ? [0, 0] : [.random(in: 0...255, using: &random), .random(in: 0...255, using: &random)]
            }
            for bytes in [bytes, Array(bytes.prefix(4))] {
                let address = IPAddress(bytes: bytes)
                #expect(address != nil)
                #expect(IPAddress(address?.description ?? "") == address)
            }
        }
    }

    @Test func ranges() throws {
        #expect(try AddressRange("10.1.2.3/8").description == "10.0.0.0/8")
        #expect(try AddressRange("10.1.2.3").description == "10.1.2.3/32")
        #expect(try AddressRange("2001:db8::1/65").description == "2001:db8::/65")
        let v6 = try #require(IPAddress("ffff::"))
        let address = try #require(IPAddress("10.1.2.3"))
        #expect(try AddressRange("::/0").contains(v6))
        #expect(try !AddressRange("::/0").contains(address))
        #expect(try AddressRange("0.0.0.0/0").contains(address))
        #expect(try !AddressRange("0.0.0.0/0").contains(v6))
        #expect(AddressRange(address, prefixLength: -5).prefixLength == 0)
        #expect(AddressRange(address, prefixLength: .max).prefixLength == 32)
        for text in [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "a/8",
        ] {
            #expect(throws: ErrandError.invalidOption) { try AddressRange(text) }
        }
    }

    /// Against a model that compares bit by bit.
    @Test(arguments: 0..<5)
    func randomRanges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let count = Bool.random(using: &random) ? 4 : 16
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            var other = bytes
            let bit = Int.random(in: 0..<count * 8, using: &random)
            other[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            guard let base = IPAddress(bytes: bytes), let changed = IPAddress(bytes: other) else { continue }
            let length = Int.random(in: 0...count * 8, using: &random)
            let range = AddressRange(base, prefixLength: length)
            #expect(range.contains(base))
            #expect(range.contains(changed) == (bit >= length), "\(range), bit \(bit)")
        }
    }
}
