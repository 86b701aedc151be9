/// SHA-1 (FIPS 180-4, 6.1) in plain Swift, only for the response to a WebSocket handshake (RFC 6455 1.3), which does
/// not prove an identity.
package enum SHA1 {
    private static let blockSize = 64

    /// The digest, 20 bytes.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var padded = bytes + [0x80]
        while padded.count % blockSize != blockSize - 8 { padded.append(0) }
        withUnsafeBytes(of: (UInt64(bytes.count) &* 8).bigEndian) { padded += $0 }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        for start in stride(from: 0, to: padded.count, by: blockSize) {
            compress(&state, padded[start..<start + blockSize])
        }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private static func compress(_ state: inout [UInt32], _ block: ArraySlice<UInt8>) {
        var words = [UInt32](repeating: 0, count: 80)
        for (index, byte) in block.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
        for index in 16..<80 {
            words[index] = rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
        }
        // The standard's names.
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case 0..<20: ((b & c) ^ (~b & d), 0x5a82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case 40..<60: ((b & c) ^ (b & d) ^ (c & d), 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = rotate(a, 5) &+ mixed &+ e &+ constant &+ words[index]
            (e, d, c, b, a) = (d, c, rotate(b, 30), a, next)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word << bits | word >> (32 - bits)
    }
}
