/// What a store holds, and its counters since it was created (in this process).
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
