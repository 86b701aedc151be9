/// A retry budget as hedges see it: tokens are withdrawn, and no request deposits a second time (Finagle's class of the
/// same name). A view may have its own budget in front of the shared one; an extra send then needs a token of both.
///
/// All methods may be called on any thread; none of them fails or waits.
public struct WithdrawOnlyRetryBudget: Sendable {
    private let shared: RetryBudget
    private let own: RetryBudget?

    init(_ shared: RetryBudget, own: RetryBudget? = nil) {
        self.shared = shared
        self.own = own
    }

    /// A view that withdraws from `own` too. The caller deposits in `own`.
    public func limited(by own: RetryBudget) -> WithdrawOnlyRetryBudget {
        WithdrawOnlyRetryBudget(shared, own: own)
    }

    /// Takes a token for an extra send. `false`: a budget is exhausted, and the extra send must not be made.
    public func withdraw() -> Bool {
        guard let own else { return shared.withdraw() }
        guard own.withdraw() else { return false }
        guard shared.withdraw() else {
            own.giveBack()
            return false
        }
        return true
    }

    /// `now`: a reading of the clock that both budgets share.
    func withdraw(now: Duration) -> Bool {
        guard let own else { return shared.withdraw(now: now) }
        guard own.withdraw(now: now) else { return false }
        guard shared.withdraw(now: now) else {
            own.giveBack(taken: now)
            return false
        }
        return true
    }

    /// Returns a token. `taken`: when the token was taken, as a reading of the clock that both budgets share.
    func giveBack(taken: Duration) {
        own?.giveBack(taken: taken)
        shared.giveBack(taken: taken)
    }

    /// Returns the token of an extra send that was not made.
    public func giveBack() {
        own?.giveBack()
        shared.giveBack()
    }
}
