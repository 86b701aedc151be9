/// Where a cache keeps its records.
///
/// ``MemoryCacheStore`` and ``LayeredCacheStore`` are here; `ErrandSQLite` has one on disk. A store judges nothing: whether
/// a record is fresh, and for whom, is for the cache to say.
///
/// Called from a queue of the cache's own, so it may block, for a bounded time; and from several queues where several
/// clients share it. What was written is what a later read finds, unless limits or failures took it. An error of any of
/// these costs the record, never the request.
///
/// Where a removal throws, or a write that was to replace a record, the old record is all the same not to be found any more
/// by who uses this store object, however long it takes until it can be removed: a request that changes something at its
/// server waits for no cache.
public protocol CacheStore: Sendable {
    /// The record of that key; `nil` for none. A record that is torn or not this key's is never returned.
    func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord?

    /// Puts the record in the place of that key's, whole or not at all.
    func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError)

    /// Removes that key's record. Returns whether there was one.
    @discardableResult
    func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool

    /// Removes the records with that tag. Returns how many.
    @discardableResult
    func remove(tag: String) throws(CacheStoreError) -> Int

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns how many.
    @discardableResult
    func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int

    /// Removes all records, of every namespace. Returns how many.
    @discardableResult
    func removeAll() throws(CacheStoreError) -> Int

    /// Removes all records of that namespace. Returns how many.
    @discardableResult
    func removeAll(namespace: String) throws(CacheStoreError) -> Int

    /// What it holds and did.
    func statistics() throws(CacheStoreError) -> CacheStatistics

    /// How it is doing; ``CacheHealth/working`` where a store has no more to say. Cheap: it is asked after every call.
    var health: CacheHealth { get }

    /// Whether no call waits for more than a short lock, never for a disk or another process: it is then called on
    /// whatever thread needs it, and from many at once. Asked once; no by default.
    var answersAtOnce: Bool { get }

    /// Whether ``write(_:for:)`` would take a record that counts for so many bytes (``CacheRecord/byteCount``), where all else
    /// is well. Asked before each write, on any thread: of limits that do not change, not of what is stored. Yes by default.
    func accepts(byteCount: Int) -> Bool

    /// The record of that key where it is at hand without waiting; else `nil`, and ``read(_:)`` is to tell. `nil` by
    /// default. Any thread.
    func readAtOnce(_ key: CacheKey) -> CacheRecord?
}

extension CacheStore {
    /// ``CacheHealth/working``.
    public var health: CacheHealth { .working }

    /// False.
    public var answersAtOnce: Bool { false }

    /// True.
    public func accepts(byteCount: Int) -> Bool { true }

    /// `nil`.
    public func readAtOnce(_ key: CacheKey) -> CacheRecord? { nil }
}
