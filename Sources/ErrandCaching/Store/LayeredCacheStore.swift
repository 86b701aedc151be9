import Synchronization

/// A quick store over a lasting one: reads look above first, and what only the lower one had moves up.
///
/// ```swift
/// let store = LayeredCacheStore(over: SQLiteCacheStore(named: "my-service"))
/// ```
///
/// Where the lower store is shared with other processes, what they write or remove is seen once the record above is gone:
/// keep the upper limits small, or leave the upper store out, where that matters.
public final class LayeredCacheStore: CacheStore {
    /// The quick one.
    public let memory: MemoryCacheStore
    /// The lasting one.
    public let lower: any CacheStore
    /// How often the upper store was changed. Holding its lock, and after the lower store, the upper one changes: what a
    /// reader found below before a removal, or a writer put there, does then not come back to life above.
    private let changes = Mutex(Changes())

    private struct Changes {
        var writes: UInt64 = 0
        var removals: UInt64 = 0
    }

    /// Puts `memory` over `lower`.
    public init(memory: MemoryCacheStore = MemoryCacheStore(), over lower: any CacheStore) {
        self.memory = memory
        self.lower = lower
    }

    /// The record of that key from above, or else from below.
    public func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
        if let record = memory.read(key) { return record }
        let seen = changes.withLock { $0 }
        guard let record = try lower.read(key) else { return nil }
        changes.withLock { changes in
            // Too large for above is no failure: it stays below.
            if changes.writes == seen.writes, changes.removals == seen.removals { try? memory.write(record, for: key) }
        }
        return record
    }

    /// Writes to both. Where the lower one fails, its error is thrown and the upper one has the record all the same, unless
    /// something was removed meanwhile.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let seen = changes.withLock { $0.removals }
        defer {
            changes.withLock { changes in
                changes.writes += 1
                // Where something was removed since, this may be gone below.
                if changes.removals == seen { try? memory.write(record, for: key) } else { memory.remove(key) }
            }
        }
        try lower.write(record, for: key)
    }

    /// Removes from both. Returns whether the lower one had it.
    @discardableResult
    public func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        defer { removed { $0.remove(key) } }
        return try lower.remove(key)
    }

    /// Removes from both. Returns how many the lower one had.
    @discardableResult
    public func remove(tag: String) throws(CacheStoreError) -> Int {
        defer { removed { $0.remove(tag: tag) } }
        return try lower.remove(tag: tag)
    }

    /// Removes from both. Returns how many the lower one had.
    @discardableResult
    public func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
        defer { removed { $0.remove(olderThan: instant) } }
        return try lower.remove(olderThan: instant)
    }

    /// Removes from both. Returns how many the lower one had.
    @discardableResult
    public func removeAll() throws(CacheStoreError) -> Int {
        defer { removed { $0.removeAll() } }
        return try lower.removeAll()
    }

    /// Removes from both. Returns how many the lower one had.
    @discardableResult
    public func removeAll(namespace: String) throws(CacheStoreError) -> Int {
        defer { removed { $0.removeAll(namespace: namespace) } }
        return try lower.removeAll(namespace: namespace)
    }

    /// What the lower store holds, the hits of both, and the lower one's misses.
    public func statistics() throws(CacheStoreError) -> CacheStatistics {
        var statistics = try lower.statistics()
        statistics.hits += memory.statistics().hits
        return statistics
    }

    /// How the lower store is doing.
    public var health: CacheHealth { lower.health }

    /// Whether the lower store does.
    public var answersAtOnce: Bool { lower.answersAtOnce }

    /// Whether one of both does.
    public func accepts(byteCount: Int) -> Bool {
        memory.accepts(byteCount: byteCount) || lower.accepts(byteCount: byteCount)
    }

    /// The record of that key where the upper store has it.
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
