/// Stores the records of a cache.
///
/// This module has ``MemoryCacheStore`` and ``LayeredCacheStore``; `ErrandSQLite` has a store on disk. A store does not
/// judge records: the cache decides whether a record is fresh and which requests may use it.
///
/// The cache calls the store from its own queue, so a call may block for a bounded time. If several clients share a
/// store, calls come from several queues. A read finds every record that was written before, unless limits or failures
/// removed it. An error of any of these methods loses the record, but does not fail the request.
///
/// If a removal or a replacing write throws, later reads through this store object must not find the old record,
/// however long the removal itself takes. The reason: a request that changes data on its server does not wait for a
/// cache.
///
/// No member has a default implementation, so a misspelt member is a compiler error.
public protocol CacheStore: Sendable {
    /// The record with that key; `nil` if there is none. Never returns a record that is torn or has another key.
    func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord?

    /// Replaces the record with that key, completely or not at all.
    func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError)

    /// Removes the record with that key. Returns whether there was one.
    @discardableResult
    func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool

    /// Removes the records with that tag. Returns their number.
    @discardableResult
    func remove(tag: String) throws(CacheStoreError) -> Int

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns their number.
    @discardableResult
    func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int

    /// Removes all records of all namespaces. Returns their number.
    @discardableResult
    func removeAll() throws(CacheStoreError) -> Int

    /// Removes all records of that namespace. Returns their number.
    @discardableResult
    func removeAll(namespace: String) throws(CacheStoreError) -> Int

    /// The number and size of the stored records, and the hits, misses and evictions of the store.
    func statistics() throws(CacheStoreError) -> CacheStatistics

    /// The health of the store; ``CacheHealth/working`` for a store that cannot fail. Must be cheap: the cache reads it
    /// after every call.
    var health: CacheHealth { get }

    /// Whether every call waits at most for a short lock, and never for a disk or another process. The cache then calls
    /// the store on any thread, and from many threads at once. The cache reads this property once. `false` is right for
    /// every store.
    var answersAtOnce: Bool { get }

    /// Whether ``write(_:for:)`` would take a record of that size (``CacheRecord/byteCount``), if nothing fails. Called
    /// before each write, on any thread. The answer depends on limits that do not change, not on the stored records. A
    /// store without limits returns `true`.
    func accepts(byteCount: Int) -> Bool

    /// The record with that key, if the store can return it without waiting. `nil` means unknown: the cache then calls
    /// ``read(_:)``. `nil` is right for every store. Called on any thread.
    func readAtOnce(_ key: CacheKey) -> CacheRecord?
}

/// The health of a store. A cache logs each change of it.
public struct CacheHealth: Sendable, Hashable {
    /// What a store can do at present.
    public enum Condition: Sendable, Hashable {
        /// Reads and writes work.
        case working
        /// Reads find records; writes are suspended.
        case readingOnly
        /// Suspended: reads find nothing, writes do nothing.
        case off
    }

    /// What the store can do at present.
    public var condition: Condition
    /// The failure that led to ``condition``, or to the last repair; `nil` if there was no failure.
    public var reason: CacheStoreError?
    /// How often a damaged store was set aside and created again.
    public var repairs: Int

    /// Creates a health value.
    public init(_ condition: Condition, reason: CacheStoreError? = nil, repairs: Int = 0) {
        self.condition = condition
        self.reason = reason
        self.repairs = repairs
    }

    /// No failure, now or earlier.
    public static let working = CacheHealth(.working)
}

/// The number and size of the records in a store, and its counters since it was created (in this process).
public struct CacheStatistics: Sendable, Hashable {
    /// Records in the store.
    public var entries: Int
    /// Their total size, as the store's limit counts it.
    public var bytes: Int
    /// Reads that found a record.
    public var hits: Int
    /// Reads that found no record.
    public var misses: Int
    /// Records dropped because of the limits.
    public var evictions: Int
    /// Records dropped because they were torn or belonged to another key.
    public var discarded: Int

    /// Creates statistics.
    public init(
        entries: Int = 0, bytes: Int = 0, hits: Int = 0, misses: Int = 0, evictions: Int = 0, discarded: Int = 0
    ) {
        self.entries = entries
        self.bytes = bytes
        self.hits = hits
        self.misses = misses
        self.evictions = evictions
        self.discarded = discarded
    }
}
