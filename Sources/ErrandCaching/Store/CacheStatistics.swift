/// What a store holds, and what it did since it was made (in this process).
public struct CacheStatistics: Sendable, Hashable {
    /// Records that it holds.
    public var entries: Int
    /// Their size as the store's limit counts it.
    public var bytes: Int
    /// Reads that found a record.
    public var hits: Int
    /// Reads that found none.
    public var misses: Int
    /// Records dropped for the limits' sake.
    public var evictions: Int
    /// Records dropped because they were torn or not ours.
    public var discarded: Int

    /// Makes one.
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
