/// How a store is doing. A change of it is what a cache writes to its log.
public struct CacheHealth: Sendable, Hashable {
    /// What a store can do.
    public enum Condition: Sendable, Hashable {
        /// All.
        case working
        /// Records are found, none are stored for the time being.
        case readingOnly
        /// Nothing for the time being: reads find nothing, writes do nothing.
        case off
    }

    /// What it can do.
    public var condition: Condition
    /// The failure that led to ``condition``, or to the last repair; `nil` where all went well.
    public var reason: CacheStoreError?
    /// How often what was damaged was put aside and made anew.
    public var repairs: Int

    /// Makes one.
    public init(_ condition: Condition, reason: CacheStoreError? = nil, repairs: Int = 0) {
        self.condition = condition
        self.reason = reason
        self.repairs = repairs
    }

    /// All well, and always was.
    public static let working = CacheHealth(.working)
}
