/// SHA-256 (FIPS 180-4) in plain Swift, for processes without OpenSSL 3.
struct PortableSHA256 {
    private static let blockSize = 64

    /// FIPS 180-4, 4.2.2.
    private static let constants: [UInt32] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    ]

    /// FIPS 180-4, 5.3.3.
    private var state: [UInt32] = [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    ]

    /// The bytes after the last whole block; fewer than a block.
    private var rest: [UInt8] = []
    private var byteCount: UInt64 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        byteCount &+= UInt64(bytes.count)
        var bytes = bytes[...]
        if !rest.isEmpty {
            let taken = bytes.prefix(Self.blockSize - rest.count)
            rest += taken
            bytes = bytes.dropFirst(taken.count)
            guard rest.count == Self.blockSize else { return }
            rest.withUnsafeBytes { block in Self.compress(&state, block) }
            rest.removeAll(keepingCapacity: true)
        }
        while bytes.count >= Self.blockSize {
            Self.compress(&state, UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.blockSize)))
            bytes = bytes.dropFirst(Self.blockSize)
        }
        rest += bytes
    }

    /// The digest of all bytes so far, 32 bytes.
    func bytes() -> [UInt8] {
        var last = self
        // A one bit, zeros, and the length in bits fill the last block (FIPS 180-4, 5.1.1).
        let zeros = (2 * Self.blockSize - 9 - rest.count) % Self.blockSize
        var padding: [UInt8] = [0x80] + Array(repeating: 0, count: zeros)
        withUnsafeBytes(of: (byteCount &* 8).bigEndian) { padding += $0 }
        padding.withUnsafeBytes { last.update($0) }
        return last.state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    /// FIPS 180-4, 6.2.2.
    private static func compress(_ state: inout [UInt32], _ block: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: blockSize) { words in
            for index in 0..<16 {
                words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            }
            for index in 16..<64 {
                let early = words[index - 15]
                let late = words[index - 2]
                let first = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)
                let second = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10)
                words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
            }
            // The standard's names.
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            constants.withUnsafeBufferPointer { constants in
                for index in 0..<64 {
                    let mixed = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ ((e & f) ^ (~e & g))
                    let first = h &+ mixed &+ constants[index] &+ words[index]
                    let second =
                        (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ ((a & b) ^ (a & c) ^ (b & c))
                    (h, g, f, e) = (g, f, e, d &+ first)
                    (d, c, b, a) = (c, b, a, first &+ second)
                }
            }
            for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
        }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        (word >> count) | (word << (32 - count))
    }
}
