extension RetryBudget {
    /// What a budget has counted since it was made.
    public struct Counts: Sendable, Hashable {
        /// The requests that paid into the budget.
        public internal(set) var deposits = 0
        /// The extra sends that the budget allowed, without those given back.
        public internal(set) var withdrawals = 0
        /// The extra sends that the budget refused (Finagle `budget_exhausted`).
        public internal(set) var refusals = 0
    }
}
