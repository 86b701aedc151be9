import Synchronization

/// A limit on extra sends, as a share of the requests: retries cannot multiply the load of a service that fails.
///
/// Every request deposits once, when it is first sent to the host. Every retry and every hedge withdraws a token before
/// it is sent; without a token it is not sent. Every other extra send (a redirect within the host, a replay, a request
/// that libcurl resends on another connection) is charged: it is sent in any case, but takes a token, so fewer tokens
/// are left for retries. The answer to a challenge is counted and takes no token. One budget serves all extra sends to
/// one host: hedges get the ``withdrawOnly`` view, because their request has already deposited (Finagle
/// `WithdrawOnlyRetryBudget`).
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
        withdraw(now: time())
    }

    /// `now`: a reading of the budget's clock.
    func withdraw(now: Duration) -> Bool {
        machine.withLock { $0.withdrawalWanted(now: now) }
    }

    /// Takes a token for an extra send that is made in any case, because the exchange needs it or because it was made
    /// already. If there is no token, the budget goes into debt. It then allows no extra send until deposits have paid
    /// the debt or the charge has left the window.
    public func charge() {
        charge(now: time())
    }

    /// `now`: a reading of the budget's clock.
    func charge(now: Duration) {
        machine.withLock { $0.charged(now: now) }
    }

    /// Returns the token of a charge whose send was not made.
    func returnCharge() {
        machine.withLock { $0.chargeReturned(now: time()) }
    }

    /// Takes the payment for a transfer before it is sent. `now`: a reading of the budget's clock.
    func pay(_ payment: SendPayment, now: Duration) {
        machine.withLock { machine in
            switch payment {
            case .deposit: machine.deposited(now: now)
            case .charge: machine.charged(now: now)
            case .count: machine.counted()
            }
        }
    }

    /// The transfer that paid at the time `paid` was not sent.
    func takeBack(_ payment: SendPayment, paid: Duration) {
        machine.withLock { machine in
            switch payment {
            case .deposit: machine.depositReturned(now: time(), made: paid)
            case .charge: machine.chargeReturned(now: time(), taken: paid)
            case .count: machine.countReturned()
            }
        }
    }

    /// Counts the answer to a challenge, which takes no token.
    func count() {
        machine.withLock { $0.counted() }
    }

    /// Returns the token of an extra send that was not made, for example because the call was stopped while it waited.
    /// Only for tokens that were taken within the window.
    public func giveBack() {
        machine.withLock { $0.givenBack(now: time()) }
    }

    /// Returns a token. `taken`: when the token was taken, as a reading of the budget's clock. A token that has left
    /// the window is forgotten already; then only the counts change.
    func giveBack(taken: Duration) {
        machine.withLock { $0.givenBack(now: time(), taken: taken) }
    }

    /// The extra sends that would be allowed now.
    public var available: Int {
        machine.withLock { $0.available(now: time()) }
    }

    /// Whether ``withdraw()`` would return true now. Takes and counts nothing.
    var hasToken: Bool { policy.isDryRun || available > 0 }

    /// What the budget has counted.
    public var counts: Counts {
        machine.withLock { $0.counts }
    }

    /// The same budget for a sender that makes no first requests.
    public var withdrawOnly: WithdrawOnlyRetryBudget { WithdrawOnlyRetryBudget(self) }
}
