/// The SHA-256 of a part, computed while the part is written. Bytes that arrive in order are hashed at once. Other
/// bytes are read back from the part when the gap before them is filled.
struct DigestFollower: ~Copyable {
    private var hash: SHA256
    /// The number of bytes of the part in the hash.
    private(set) var offset: Int64 = 0

    private static let block = 1 << 18

    /// Throws ``ErrandError/outOfMemory``.
    init() throws(ErrandError) {
        guard let hash = SHA256() else { throw .outOfMemory }
        self.hash = hash
    }

    /// `bytes` were written at `position`.
    mutating func wrote(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws(ErrandError) {
        guard position == offset else { return }
        try take(bytes)
    }

    /// Reads on up to `end`, the position of the first gap in the part, and at most `count` bytes.
    mutating func follow(_ part: borrowing PartFile, to end: Int64, atMost count: Int64) throws(ErrandError) {
        let stop = min(end, offset + count)
        while offset < stop {
            let bytes = try part.read(Int(min(Int64(Self.block), stop - offset)), at: offset)
            guard !bytes.isEmpty else {
                throw .file(.fileUnwritable, part.paths.path(part.paths.part), "was truncated while it was read")
            }
            guard hash.update(bytes) else { throw .outOfMemory }
            offset += Int64(bytes.count)
        }
    }

    /// The digest as lower-case hexadecimal digits; `nil` if bytes below `end` are missing. Throws
    /// ``ErrandError/outOfMemory``.
    func digest(upTo end: Int64) throws(ErrandError) -> String? {
        guard offset >= end else { return nil }
        guard let digest = hash.digest() else { throw .outOfMemory }
        return SHA256.hex(digest)
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) throws(ErrandError) {
        guard hash.update(bytes) else { throw .outOfMemory }
        offset += Int64(bytes.count)
    }
}
