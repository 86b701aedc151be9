extension AddressGuard {
    /// What a client's guard has counted since its engine was started (``Client/addressGuardCounts``). Each engine counts
    /// for itself: a client's own, or that of all clients of a ``SharedEngine``.
    ///
    /// A request counts once for each address that was refused to it. In a dry run it counts once for each such address
    /// that it connects to, or whose kept connection it uses. If a name has several addresses, only those that were
    /// tried count, usually one. A request that the engine resends by itself, such as the second round of Digest,
    /// counts again.
    public struct Counts: Sendable, Hashable {
        /// The refused addresses.
        public internal(set) var refused = 0
        /// In a dry run: the addresses that would have been refused (``AddressGuard/isDryRun``).
        public internal(set) var wouldRefuse = 0
        /// The addresses of ``refused``, or in a dry run of ``wouldRefuse``, by the name of the rule, as in
        /// ``Verdict``. Only rules that have refused something are included, so the number of entries is bounded by the
        /// guard. Possible names are those of ``specialRanges``, the guard's own rules, `port`, `unreadable address`
        /// and `proxied name`.
        public internal(set) var byRule: [String: Int] = [:]
    }
}
