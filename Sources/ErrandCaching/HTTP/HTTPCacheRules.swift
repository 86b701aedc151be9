/// The choices that RFC 9111 leaves to the cache.
struct HTTPCacheRules: Sendable, Hashable {
    /// Whether the cache serves more than one user (RFC 9111 1).
    var isShared = false
    /// The heuristic freshness lifetime, in percent of the time since the last modification (RFC 9111 4.2.2); 0: no
    /// heuristic freshness. 0...100.
    var heuristicPercent = 10
    /// Seconds; the longest heuristic lifetime.
    var heuristicLimit: Int64 = 86_400
    /// Seconds after its expiry for which a response may be served on failure, where the server sets no limit.
    var staleIfError: Int64?
}
