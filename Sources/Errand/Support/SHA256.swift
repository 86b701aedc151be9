import CLibcrypto

/// SHA-256 (FIPS 180-4) by libcrypto, which has the processor's own instructions for it; libcurl loads it anyway. Used by
/// one task at a time.
package struct SHA256: ~Copyable {
    private let context: OpaquePointer

    package static let byteCount = 32

    /// `nil` where libcrypto has no memory, or no such digest (a provider left out by its configuration).
    package init?() {
        guard let algorithm = Self.algorithm, let context = EVP_MD_CTX_new() else { return nil }
        guard EVP_DigestInit_ex(context, algorithm, nil) == 1 else {
            EVP_MD_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Takes in more bytes. Returns whether libcrypto did.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty || EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
    }

    /// Takes in more bytes. Returns whether libcrypto did.
    package mutating func update(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Takes in the text's UTF-8 bytes. Returns whether libcrypto did.
    package mutating func update(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// Takes in the number's eight bytes, little endian. Returns whether libcrypto did.
    package mutating func update(_ number: UInt64) -> Bool {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    /// The digest of all bytes so far, 32 bytes; more may follow. `nil` where libcrypto has no memory.
    package func digest() -> [UInt8]? {
        // Finishing ends a context, so a copy of it is finished.
        guard let copy = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(copy) }
        guard EVP_MD_CTX_copy_ex(copy, context) == 1 else { return nil }
        return Self.output { EVP_DigestFinal_ex(copy, $0, nil) }
    }

    /// The digest of all bytes, 32 bytes, and the end of it: cheaper than ``digest()``. `nil` where libcrypto fails.
    package consuming func finish() -> [UInt8]? {
        Self.output { EVP_DigestFinal_ex(context, $0, nil) }
    }

    /// The digest of `bytes`, or `nil` as in ``init()``.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        guard let algorithm else { return nil }
        return output { EVP_Digest(bytes, bytes.count, $0, nil, algorithm, nil) }
    }

    /// The 32 bytes that `fill` writes; `nil` where it does not answer 1, as libcrypto's functions do.
    private static func output(_ fill: (UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8]? {
        var isWhole = false
        let digest = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, filled in
            isWhole = fill(buffer.baseAddress) == 1
            filled = isWhole ? byteCount : 0
        }
        return isWhole ? digest : nil
    }

    /// Looked up once: `EVP_sha256()` has OpenSSL 3 look it up anew for each digest, which takes longer than a short one.
    /// Never freed, never changed, and for any thread.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    /// Two lowercase digits a byte.
    package static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digits[Int(byte >> 4)]
                buffer[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
