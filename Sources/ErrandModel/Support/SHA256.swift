/// SHA-256 (FIPS 180-4): by the libcrypto that libcurl has loaded, which has the processor's own instructions for it; by
/// ``PortableSHA256`` where libcurl uses another TLS library. Used by one task at a time.
package struct SHA256: ~Copyable {
    // Not private: the optimizer refers to its metadata from other modules.
    enum Engine: ~Copyable {
        case libcrypto(LibcryptoDigest)
        case portable(PortableSHA256)

        mutating func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
            switch consume self {
            case .libcrypto(let digest):
                let isDone = digest.update(bytes)
                self = .libcrypto(digest)
                return isDone
            case .portable(var digest):
                digest.update(bytes)
                self = .portable(digest)
                return true
            }
        }
    }

    private var engine: Engine

    package static let byteCount = 32

    /// `nil` where libcrypto has no memory.
    package init?() {
        self.init(Libcrypto.loaded)
    }

    /// Without a `library`: ``PortableSHA256``.
    init?(_ library: Libcrypto?) {
        guard let library else {
            engine = .portable(PortableSHA256())
            return
        }
        guard let digest = LibcryptoDigest(library) else { return nil }
        engine = .libcrypto(digest)
    }

    /// Takes in more bytes. Returns whether libcrypto did.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty || engine.update(bytes)
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
        switch engine {
        case .libcrypto(let digest): digest.bytesSoFar()
        case .portable(let digest): digest.bytes()
        }
    }

    /// The digest of all bytes, 32 bytes, and the end of it: cheaper than ``digest()``. `nil` where libcrypto fails.
    package consuming func finish() -> [UInt8]? {
        switch consume engine {
        case .libcrypto(let digest): digest.bytes()
        case .portable(let digest): digest.bytes()
        }
    }

    /// The digest of `bytes`, or `nil` as in ``init()``.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        if let library = Libcrypto.loaded { return library.digest(of: bytes) }
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.bytes()
    }

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
