extension RetryBudget {
    /// The size of a retry budget.
    ///
    /// In the last ``window`` the budget allows at most `ratio * requests + floor * window` extra sends. With the
    /// defaults a service that fails every request sees 1.1 times the load, and one request a second from each client.
    /// Finagle `RetryBudget` (20 % and 10/s), tower `TpsBudget`.
    public struct Policy: Sendable, Hashable {
        /// The extra sends that a request pays for; 0.1 by default, 0...10.
        public let ratio: Double
        /// The extra sends a second that are allowed without requests to pay for them, averaged over ``window``; 1 by
        /// default, 0...1,000,000. The floor lets a client with few requests retry.
        public let floorPerSecond: Double
        /// How long the deposit of a request counts; 10 s by default, 100 ms to one hour.
        public let window: Duration
        /// If true, every extra send is allowed, and ``RetryBudget/Counts/wouldRefuse`` tells how many the budget would
        /// have refused. False by default.
        public let isDryRun: Bool

        /// Allows so many extra sends that none is refused. If a command chooses it (``Command/resilience``), it has no
        /// budget.
        public static let unlimited = Policy(ratio: 10, floorPerSecond: 1_000_000)

        /// Makes a policy. Numbers that are out of range are clamped; NaN gives the default.
        public init(
            ratio: Double = 0.1, floorPerSecond: Double = 1, window: Duration = .seconds(10), isDryRun: Bool = false
        ) {
            self.ratio = ratio.clamped(0...10, nan: 0.1)
            self.floorPerSecond = floorPerSecond.clamped(0...1_000_000, nan: 1)
            self.window = min(max(window, .milliseconds(100)), .seconds(3600))
            self.isDryRun = isDryRun
        }
    }
}
