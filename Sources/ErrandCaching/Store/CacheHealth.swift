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
    /// The failure that led to ``condition``, or to the last repair; `nil` where there was no failure.
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
