extension CircuitBreaker {
    /// What a breaker has counted since it was made.
    public struct Counts: Sendable, Hashable {
        /// The calls that passed, including those of a dry run. If the state changes while a client's request waits for
        /// a limit, the breaker decides about the request again, and it counts a second time, as allowed or refused.
        public internal(set) var allowed = 0
        /// The calls that were refused (resilience4j "not permitted").
        public internal(set) var refused = 0
        /// The calls that passed only because of ``BreakerPolicy/isDryRun``.
        public internal(set) var wouldRefuse = 0
        /// How often the breaker opened.
        public internal(set) var openings = 0
        /// The probes that did not end within ``BreakerPolicy/permitLifetime``.
        public internal(set) var expired = 0
        /// The results that were not counted, because the state had changed since the call passed.
        public internal(set) var late = 0
    }
}
