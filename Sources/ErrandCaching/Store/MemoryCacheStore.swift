import Synchronization

/// Records in memory, the least recently used dropped first. Any thread; nothing here waits but for a short lock.
///
/// Reading, writing and removing take the same time however many records there are, and removing by tag what the tagged
/// ones take; only removing by age or namespace looks at all.
public final class MemoryCacheStore: CacheStore {
    /// What it holds at most. A record counts by ``CacheRecord/byteCount``.
    public struct Limits: Sendable, Hashable {
        /// Bytes of all records: 32 MiB.
        public var bytes: Int
        /// How many records: 10,000.
        public var entries: Int
        /// Bytes of one record, so that one does not drive out all others: 4 MiB.
        public var bytesPerEntry: Int

        /// Makes limits; 0 or less keeps nothing.
        public init(bytes: Int = 32 << 20, entries: Int = 10_000, bytesPerEntry: Int = 4 << 20) {
            self.bytes = bytes
            self.entries = entries
            self.bytesPerEntry = bytesPerEntry
        }
    }

    /// What it holds at most.
    public let limits: Limits
    private let contents = Mutex(MemoryCacheContents())

    /// Makes an empty store.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The record of that key; it is then the most recently used. Never throws.
    public func read(_ key: CacheKey) -> CacheRecord? {
        contents.withLock { $0.read(key) }
    }

    /// As ``read(_:)``, but a key that is not found is not counted.
    public func readAtOnce(_ key: CacheKey) -> CacheRecord? {
        contents.withLock { $0.find(key) }
    }

    /// True.
    public var answersAtOnce: Bool { true }

    /// Stores the record and drops others where the limits want it.
    ///
    /// Throws ``CacheStoreError/recordTooLarge`` beyond ``Limits/bytesPerEntry`` or ``Limits/bytes``.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let bytes = record.byteCount
        guard accepts(byteCount: bytes) else {
            // The old one is not what the key stands for any more.
            remove(key)
            throw CacheStoreError.recordTooLarge.with(
                message: "the record counts for \(bytes) bytes, the limit is \(min(limits.bytesPerEntry, limits.bytes))"
            )
        }
        contents.withLock { $0.write(record, bytes: bytes, for: key, limits: limits) }
    }

    /// Whether that is within ``limits``.
    public func accepts(byteCount: Int) -> Bool {
        byteCount <= limits.bytesPerEntry && byteCount <= limits.bytes && limits.entries > 0
    }

    /// Removes that key's record. Returns whether there was one. Never throws.
    @discardableResult
    public func remove(_ key: CacheKey) -> Bool {
        contents.withLock { $0.remove(key) }
    }

    /// Removes the records with that tag. Returns how many. Never throws.
    @discardableResult
    public func remove(tag: String) -> Int {
        contents.withLock { $0.remove(tag: tag) }
    }

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns how many. Never throws.
    @discardableResult
    public func remove(olderThan instant: Int64) -> Int {
        contents.withLock { $0.remove(olderThan: instant) }
    }

    /// Removes all records. Returns how many. Never throws.
    @discardableResult
    public func removeAll() -> Int {
        contents.withLock { $0.removeAll() }
    }

    /// Removes all records of that namespace. Returns how many. Never throws.
    @discardableResult
    public func removeAll(namespace: String) -> Int {
        contents.withLock { $0.removeAll(namespace: namespace) }
    }

    /// What it holds and did. Never throws.
    public func statistics() -> CacheStatistics {
        contents.withLock { $0.statistics }
    }
}
