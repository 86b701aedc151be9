extension RetryBudget {
    /// What a budget has counted since it was made.
    public struct Counts: Sendable, Hashable {
        /// The requests that paid into the budget, without those that were not sent.
        public internal(set) var deposits = 0
        /// The extra sends that the budget allowed or that were charged, without those given back.
        public internal(set) var withdrawals = 0
        /// The extra sends that were made without asking the budget: redirects within the service, replays, and
        /// requests that the engine has resent by itself, also within the losers of hedges. They are among the
        /// withdrawals. Both numbers include answers to challenges, which take no token.
        public internal(set) var charges = 0
        /// The extra sends that the budget refused (Finagle `budget_exhausted`).
        public internal(set) var refusals = 0
        /// The extra sends that a dry run allowed although the budget would have refused them (``Policy/isDryRun``).
        /// They are among the withdrawals.
        public internal(set) var wouldRefuse = 0
    }
}
