/// Under which name a cache keeps a response: a namespace, and a digest of all that makes two requests the same.
public struct CacheKey: Sendable, Hashable {
    /// Keeps the records of one use of a store apart from those of others, and of other programs; may be empty.
    public let namespace: String
    /// SHA-256 as 64 lowercase hexadecimal digits; nothing of what went into it can be read back.
    public let digest: String

    /// Makes a key of a digest that is known already.
    ///
    /// Returns `nil` where `digest` is not 64 lowercase hexadecimal digits.
    public init?(namespace: String = "", digest: String) {
        let isDigest = digest.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        guard isDigest, digest.utf8.count == 2 * SHA256.byteCount else { return nil }
        self.namespace = namespace
        self.digest = digest
    }

    /// The key of these parts, in their order. Each goes in behind its length, so that no two lists of parts look the same.
    ///
    /// `nil` where libcrypto fails.
    package init?(namespace: String = "", hashing parts: [[UInt8]]) {
        guard var hash = SHA256() else { return nil }
        for part in parts {
            guard hash.update(UInt64(part.count)), hash.update(part) else { return nil }
        }
        guard let digest = hash.finish() else { return nil }
        self.namespace = namespace
        self.digest = SHA256.hex(digest)
    }
}
