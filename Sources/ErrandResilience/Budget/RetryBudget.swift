import Synchronization

/// A limit on extra sends, as a share of the requests: retries cannot multiply the load of a service that fails.
///
/// Every request deposits once, when it is first sent. Every retry and every hedge withdraws a token before it is sent;
/// without a token it is not sent. One budget serves all retries and hedges to one host: hedges get the
/// ``withdrawOnly`` view, because their request has already deposited (Finagle `WithdrawOnlyRetryBudget`).
///
/// All methods may be called on any thread; none of them fails or waits.
public final class RetryBudget: Sendable {
    /// The size of the budget.
    public let policy: Policy
    private let machine: Mutex<RetryBudgetMachine>
    private let time: @Sendable () -> Duration

    /// Makes a budget that begins with the tokens of its floor: 10 with the default policy.
    public convenience init(_ policy: Policy = Policy(), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(policy, time: Stopwatch(clock).now)
    }

    init(_ policy: Policy, time: @escaping @Sendable () -> Duration) {
        self.policy = policy
        self.time = time
        machine = Mutex(RetryBudgetMachine(policy))
    }

    /// A request is sent for the first time.
    public func deposit() {
        deposit(now: time())
    }

    /// `now`: a reading of the budget's clock.
    func deposit(now: Duration) {
        machine.withLock { $0.deposited(now: now) }
    }

    /// Takes a token for an extra send. `false`: the budget is exhausted, and the extra send must not be made.
    public func withdraw() -> Bool {
        machine.withLock { $0.withdrawalWanted(now: time()) }
    }

    /// Returns the token of an extra send that was not made, for example because the call was stopped while it waited.
    public func giveBack() {
        machine.withLock { $0.givenBack(now: time()) }
    }

    /// The extra sends that would be allowed now.
    public var available: Int {
        machine.withLock { $0.available(now: time()) }
    }

    /// What the budget has counted.
    public var counts: Counts {
        machine.withLock { $0.counts }
    }

    /// The same budget for a sender that makes no first requests.
    public var withdrawOnly: WithdrawOnlyRetryBudget { WithdrawOnlyRetryBudget(self) }
}
