import Synchronization

/// Stores records in memory and drops the least recently used first. May be used from any thread. A call waits at most
/// for a short lock.
///
/// Reading, writing and removing take constant time, however many records there are. Removing by tag takes time in
/// proportion to the tagged records. Only removing by age or namespace scans all records.
public final class MemoryCacheStore: CacheStore {
    /// The limits of the store. The size of a record is its ``CacheRecord/byteCount``.
    public struct Limits: Sendable, Hashable {
        /// Bytes of all records; default 32 MiB.
        public var bytes: Int
        /// Number of records; default 10,000.
        public var entries: Int
        /// Bytes of one record; default 4 MiB. This limit prevents one record from displacing all others.
        public var bytesPerEntry: Int

        /// Creates limits. With a limit of 0 or less, the store keeps nothing.
        public init(bytes: Int = 32 << 20, entries: Int = 10_000, bytesPerEntry: Int = 4 << 20) {
            self.bytes = bytes
            self.entries = entries
            self.bytesPerEntry = bytesPerEntry
        }
    }

    /// The most that the store holds.
    public let limits: Limits
    private let contents = Mutex(MemoryCacheContents())

    /// Creates an empty store.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The record with that key. Reading makes it the most recently used. Never throws.
    public func read(_ key: CacheKey) -> CacheRecord? {
        contents.withLock { $0.read(key) }
    }

    /// Like ``read(_:)``, but a miss is not counted.
    public func readAtOnce(_ key: CacheKey) -> CacheRecord? {
        contents.withLock { $0.find(key) }
    }

    /// True.
    public var answersAtOnce: Bool { true }

    /// Stores the record, and drops others if the limits require it.
    ///
    /// Throws ``CacheStoreError/recordTooLarge`` for a record beyond ``Limits/bytesPerEntry`` or ``Limits/bytes``.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let bytes = record.byteCount
        guard accepts(byteCount: bytes) else {
            // The old record is outdated.
            remove(key)
            throw CacheStoreError.recordTooLarge.with(
                message:
                    "the record has \(bytes) bytes, more than the limit of \(min(limits.bytesPerEntry, limits.bytes))"
            )
        }
        contents.withLock { $0.write(record, bytes: bytes, for: key, limits: limits) }
    }

    /// Whether a record of that size is within ``limits``.
    public func accepts(byteCount: Int) -> Bool {
        byteCount <= limits.bytesPerEntry && byteCount <= limits.bytes && limits.entries > 0
    }

    /// Removes the record with that key. Returns whether there was one. Never throws.
    @discardableResult
    public func remove(_ key: CacheKey) -> Bool {
        contents.withLock { $0.remove(key) }
    }

    /// Removes the records with that tag. Returns their number. Never throws.
    @discardableResult
    public func remove(tag: String) -> Int {
        contents.withLock { $0.remove(tag: tag) }
    }

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns their number. Never throws.
    @discardableResult
    public func remove(olderThan instant: Int64) -> Int {
        contents.withLock { $0.remove(olderThan: instant) }
    }

    /// Removes all records. Returns their number. Never throws.
    @discardableResult
    public func removeAll() -> Int {
        contents.withLock { $0.removeAll() }
    }

    /// Removes all records of that namespace. Returns their number. Never throws.
    @discardableResult
    public func removeAll(namespace: String) -> Int {
        contents.withLock { $0.removeAll(namespace: namespace) }
    }

    /// The number and size of the stored records, and the hits, misses and evictions of the store. Never throws.
    public func statistics() -> CacheStatistics {
        contents.withLock { $0.statistics }
    }

    /// ``CacheHealth/working``: memory does not fail.
    public var health: CacheHealth { .working }
}
