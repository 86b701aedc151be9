import Errand
import Testing

@testable import ErrandModel

/// Against the examples of FIPS 180-4 and RFC 6455 1.3.
@Suite struct SHA1Tests {
    private func hex(_ text: String) -> String {
        SHA256.hex(SHA1.digest(of: Array(text.utf8)))
    }

    @Test func `the standard's examples`() {
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
        #expect(hex(String(repeating: "a", count: 1_000_000)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    }

    @Test(arguments: [55, 56, 63, 64, 65]) func `lengths around a block`(count: Int) {
        let digests = [
            55: "c1c8bbdc22796e28c0e15163d20899b65621d65a", 56: "c2db330f6083854c99d4b5bfb6e8f29f201be699",
            63: "03f09f5b158a7a8cdad920bddc29b81c18a551f5", 64: "0098ba824b5c16427bd7a1122a5a442a25ec644d",
            65: "11655326c708d70319be2610e8a57d9a5b959d3b",
        ]
        #expect(hex(String(repeating: "a", count: count)) == digests[count])
    }

}
