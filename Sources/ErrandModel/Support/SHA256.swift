/// SHA-256 (FIPS 180-4), by the libcrypto that libcurl has loaded, which uses the processor's instructions for it, or
/// by ``PortableSHA256`` if libcurl uses another TLS library. Used by one task at a time.
package struct SHA256: ~Copyable {
    // Not private: the optimizer refers to the type's metadata from other modules.
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

    /// `nil` if libcrypto has no memory.
    package init?() {
        self.init(Libcrypto.loaded)
    }

    /// Without a `library` the digest is a ``PortableSHA256``.
    init?(_ library: Libcrypto?) {
        guard let library else {
            engine = .portable(PortableSHA256())
            return
        }
        guard let digest = LibcryptoDigest(library) else { return nil }
        engine = .libcrypto(digest)
    }

    /// Adds bytes. Returns false if libcrypto fails.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty || engine.update(bytes)
    }

    /// Adds bytes. Returns false if libcrypto fails.
    package mutating func update(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds the UTF-8 bytes of the text. Returns false if libcrypto fails.
    package mutating func update(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// Adds the eight bytes of the number, little endian. Returns false if libcrypto fails.
    package mutating func update(_ number: UInt64) -> Bool {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    /// The digest of all bytes so far, 32 bytes; more bytes may follow. `nil` if libcrypto has no memory.
    package func digest() -> [UInt8]? {
        switch engine {
        case .libcrypto(let digest): digest.bytesSoFar()
        case .portable(let digest): digest.bytes()
        }
    }

    /// The digest of all bytes, 32 bytes. Ends the computation and is cheaper than ``digest()``. `nil` if libcrypto
    /// fails.
    package consuming func finish() -> [UInt8]? {
        switch consume engine {
        case .libcrypto(let digest): digest.bytes()
        case .portable(let digest): digest.bytes()
        }
    }

    /// The digest of `bytes`; `nil` as in ``init()``.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        if let library = Libcrypto.loaded { return library.digest(of: bytes) }
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.bytes()
    }

    /// Two lower-case hexadecimal digits per byte.
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
