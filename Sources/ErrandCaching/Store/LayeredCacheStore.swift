import Synchronization

/// A fast store above a persistent one. Reads try the upper store first. A record that is found only in the lower store
/// is copied to the upper store.
///
/// ```swift
/// let store = LayeredCacheStore(over: SQLiteCacheStore(named: "my-service"))
/// ```
///
/// If other processes share the lower store, their writes and removals become visible only after the record has left
/// the upper store. If that matters, keep the limits of the upper store small, or use no upper store.
public final class LayeredCacheStore: CacheStore {
    /// The fast upper store.
    public let memory: MemoryCacheStore
    /// The persistent lower store.
    public let lower: any CacheStore
    /// Counts changes of the upper store. The upper store changes after the lower one, while this lock is held.
    /// Therefore a record that a reader found in the lower store before a removal, or that a writer put there, does not
    /// reappear in the upper store.
    private let changes = Mutex(Changes())

    private struct Changes {
        var writes: UInt64 = 0
        var removals: UInt64 = 0
    }

    /// Makes a store with `memory` above `lower`.
    public init(memory: MemoryCacheStore = MemoryCacheStore(), over lower: any CacheStore) {
        self.memory = memory
        self.lower = lower
    }

    /// The record with that key, from the upper store or, failing that, from the lower one.
    public func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
        if let record = memory.read(key) { return record }
        let seen = changes.withLock { $0 }
        guard let record = try lower.read(key) else { return nil }
        changes.withLock { changes in
            // A record that is too large for the upper store stays in the lower one; that is no failure.
            if changes.writes == seen.writes, changes.removals == seen.removals { try? memory.write(record, for: key) }
        }
        return record
    }

    /// Writes to both stores. If the lower store fails, its error is thrown. The upper store then has the record
    /// nevertheless, unless something was removed meanwhile.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let seen = changes.withLock { $0.removals }
        defer {
            changes.withLock { changes in
                changes.writes += 1
                // After a removal since `seen`, the record may be gone from the lower store.
                if changes.removals == seen { try? memory.write(record, for: key) } else { memory.remove(key) }
            }
        }
        try lower.write(record, for: key)
    }

    /// Removes the record from both stores. Returns whether the lower store had it.
    @discardableResult
    public func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        defer { removed { $0.remove(key) } }
        return try lower.remove(key)
    }

    /// Removes the records from both stores. Returns how many the lower store had.
    @discardableResult
    public func remove(tag: String) throws(CacheStoreError) -> Int {
        defer { removed { $0.remove(tag: tag) } }
        return try lower.remove(tag: tag)
    }

    /// Removes the records from both stores. Returns how many the lower store had.
    @discardableResult
    public func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
        defer { removed { $0.remove(olderThan: instant) } }
        return try lower.remove(olderThan: instant)
    }

    /// Removes the records from both stores. Returns how many the lower store had.
    @discardableResult
    public func removeAll() throws(CacheStoreError) -> Int {
        defer { removed { $0.removeAll() } }
        return try lower.removeAll()
    }

    /// Removes the records from both stores. Returns how many the lower store had.
    @discardableResult
    public func removeAll(namespace: String) throws(CacheStoreError) -> Int {
        defer { removed { $0.removeAll(namespace: namespace) } }
        return try lower.removeAll(namespace: namespace)
    }

    /// The number and size of the records in the lower store, the hits of both stores, and the misses of the lower
    /// store.
    public func statistics() throws(CacheStoreError) -> CacheStatistics {
        var statistics = try lower.statistics()
        statistics.hits += memory.statistics().hits
        return statistics
    }

    /// The health of the lower store.
    public var health: CacheHealth { lower.health }

    /// Whether the lower store answers at once.
    public var answersAtOnce: Bool { lower.answersAtOnce }

    /// Whether at least one of the stores accepts a record of that size.
    public func accepts(byteCount: Int) -> Bool {
        memory.accepts(byteCount: byteCount) || lower.accepts(byteCount: byteCount)
    }

    /// The record with that key, if the upper store has it.
    public func readAtOnce(_ key: CacheKey) -> CacheRecord? {
        memory.readAtOnce(key)
    }

    private func removed(_ remove: (MemoryCacheStore) -> Void) {
        changes.withLock { changes in
            changes.removals += 1
            remove(memory)
        }
    }
}
