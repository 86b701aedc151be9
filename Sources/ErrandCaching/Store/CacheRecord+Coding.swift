/// The bytes of a record on a disk or on a wire:
///
/// | part | bytes |
/// |---|---|
/// | mark `ERRC`, format, zero | 4, 2, 2 |
/// | the fields in the order below | numbers little endian; text and bytes after their length |
/// | SHA-256 of the key and of all preceding bytes | 32 |
///
/// SHA-256 is used instead of a CRC: the program already has it, and with the processor's instructions for it SHA-256
/// is as fast as a disk. Because the digest includes the key, it also rejects a record of another key, which a CRC of
/// the bytes would accept.
extension CacheRecord {
    /// `ERRC`.
    private static let mark: UInt32 = 0x4352_5245
    /// Increased with every change of the fields. A record of another format is a miss.
    private static let format: UInt16 = 1

    /// The record as bytes that only ``init(encoded:for:)-([UInt8],_)`` with the same key accepts. For stores; may be
    /// called from any thread.
    ///
    /// Throws ``CacheStoreError/recordTooLarge`` if a part is larger than 4 GiB, and ``CacheStoreError/unavailable`` if
    /// libcrypto fails.
    public func encoded(for key: CacheKey) throws(CacheStoreError) -> [UInt8] {
        var writer = BinaryWriter(capacity: byteCount)
        writer.number(Self.mark)
        writer.number(Self.format)
        writer.number(UInt16(0))
        writer.number(Int64(status))
        for number in [storedAt, requestedAt, respondedAt, version] { writer.number(number) }
        writer.optional(timeToLive) { $0.number($1) }
        writer.text(url)
        writer.text(method)
        for text in [applicationVersion, sensitiveDigest, varyDigest] { writer.optional(text) { $0.text($1) } }
        writer.texts(varyNames)
        writer.texts(tags)
        writer.bytes(head)
        writer.bytes(body)
        guard writer.isWhole else {
            throw CacheStoreError.recordTooLarge.with(message: "a field of the record is larger than 4 GiB")
        }
        guard let seal = writer.output.withUnsafeBytes({ Self.seal(of: $0, for: key) }) else {
            throw CacheStoreError.unavailable.with(message: "libcrypto does not provide SHA-256")
        }
        writer.raw(seal)
        return writer.output
    }

    /// The record in these bytes; `nil` if the bytes belong to another key, have another format, are torn, or are not a
    /// record. For stores; may be called from any thread. Allocates no more memory than the size of the bytes.
    public init?(encoded bytes: UnsafeRawBufferPointer, for key: CacheKey) {
        guard bytes.count >= SHA256.byteCount else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(SHA256.byteCount))
        let found = UnsafeRawBufferPointer(rebasing: bytes[content.count...])
        guard let seal = Self.seal(of: content, for: key), seal.withUnsafeBytes({ $0.elementsEqual(found) }) else {
            return nil
        }
        self.init(content: content)
    }

    /// The record in these bytes; `nil` as with ``init(encoded:for:)``.
    public init?(encoded bytes: [UInt8], for key: CacheKey) {
        guard let record = bytes.withUnsafeBytes({ CacheRecord(encoded: $0, for: key) }) else { return nil }
        self = record
    }

    /// The checks are strict even if the digest is valid: the bytes may come from a program with a bug.
    init?(content: UnsafeRawBufferPointer) {
        var reader = BinaryReader(content)
        guard reader.number(UInt32.self) == Self.mark, reader.number(UInt16.self) == Self.format,
            reader.number(UInt16.self) == 0,
            let status = reader.number(Int64.self).flatMap(Int.init(exactly:)),
            let storedAt = reader.number(Int64.self), let requestedAt = reader.number(Int64.self),
            let respondedAt = reader.number(Int64.self), let version = reader.number(Int64.self),
            let timeToLive = reader.optional({ $0.number(Int64.self) }),
            let url = reader.text(), let method = reader.text(),
            let applicationVersion = reader.optional({ $0.text() }),
            let sensitiveDigest = reader.optional({ $0.text() }), let varyDigest = reader.optional({ $0.text() }),
            let varyNames = reader.texts(), let tags = reader.texts(),
            let head = reader.bytes(), let body = reader.bytes(), reader.isAtEnd
        else { return nil }
        self.init(
            url: url, method: method, status: status, head: head, body: body, storedAt: storedAt,
            requestedAt: requestedAt, respondedAt: respondedAt, timeToLive: timeToLive, version: version,
            applicationVersion: applicationVersion, sensitiveDigest: sensitiveDigest, varyNames: varyNames,
            varyDigest: varyDigest, tags: tags)
    }

    private static func seal(of content: UnsafeRawBufferPointer, for key: CacheKey) -> [UInt8]? {
        guard var hash = SHA256(), hash.update(UInt64(key.namespace.utf8.count)), hash.update(key.namespace),
            hash.update(key.digest), hash.update(content)
        else { return nil }
        return hash.finish()
    }
}
