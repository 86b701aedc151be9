/// The SHA-256 of a part, that keeps up with its writing: bytes in order are taken as they come, others are read again when
/// the part has grown up to them.
struct DigestFollower: ~Copyable {
    private var hash: SHA256
    /// So much of the part is in it.
    private(set) var offset: Int64 = 0

    private static let block = 1 << 18

    /// Throws ``ErrandError/outOfMemory``.
    init() throws(ErrandError) {
        guard let hash = SHA256() else { throw .outOfMemory }
        self.hash = hash
    }

    /// These bytes were written there.
    mutating func wrote(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws(ErrandError) {
        guard position == offset else { return }
        try take(bytes)
    }

    /// Reads on, as far as the part is there without a gap (`end`), and at most so many bytes.
    mutating func follow(_ part: borrowing PartFile, to end: Int64, atMost count: Int64) throws(ErrandError) {
        let stop = min(end, offset + count)
        while offset < stop {
            let bytes = try part.read(Int(min(Int64(Self.block), stop - offset)), at: offset)
            guard !bytes.isEmpty else {
                throw .file(.fileUnwritable, part.paths.path(part.paths.part), "became shorter while it was read")
            }
            guard hash.update(bytes) else { throw .outOfMemory }
            offset += Int64(bytes.count)
        }
    }

    /// Lower-case hexadecimal digits; `nil` where it is not there yet. Throws ``ErrandError/outOfMemory``.
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
