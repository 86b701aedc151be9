/// What RFC 9111 leaves to the cache.
struct HTTPCacheRules: Sendable, Hashable {
    /// Whether the cache serves more than one user (RFC 9111 1).
    var isShared = false
    /// How much of the time since the last change a response without a lifetime is fresh for (RFC 9111 4.2.2); 0: none
    /// is. 0...100.
    var heuristicPercent = 10
    /// Seconds; the most that the heuristic gives.
    var heuristicLimit: Int64 = 86_400
    /// Seconds beyond its lifetime for which a response may stand in for a failure, where the server says nothing.
    var staleIfError: Int64?
}
