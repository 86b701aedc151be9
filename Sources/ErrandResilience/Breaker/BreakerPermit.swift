import Synchronization

/// The permission of a circuit breaker for one call.
///
/// The permit is released once, with the call's outcome; later releases do nothing. A permit that is dropped without a
/// release is released as ``BreakerOutcome/ignored``. All methods may be called on any thread.
public final class BreakerPermit: Sendable {
    private let breaker: CircuitBreaker
    private let permit: BreakerMachine.Permit
    private let isReleased = Atomic(false)

    init(_ breaker: CircuitBreaker, _ permit: BreakerMachine.Permit) {
        self.breaker = breaker
        self.permit = permit
    }

    deinit {
        release(.ignored)
    }

    /// Reports the outcome of the call, whose duration is the time since the permit was issued.
    public func release(_ outcome: BreakerOutcome) {
        release(outcome, now: nil)
    }

    /// The call waits before it is sent. A probe that waits for longer than its lifetime gives its place to another call.
    func hold() {
        breaker.held(permit)
    }

    /// The call is sent now, after a wait: its duration begins. `now`: a reading of the breaker's clock. Returns the
    /// permit that replaces this one. Throws a refusal if the breaker's state has changed and does not let the call
    /// pass.
    func begin(now: Duration) throws(BreakerRefusal) -> BreakerPermit {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return self }
        return BreakerPermit(breaker, try breaker.used(permit, now: now))
    }

    /// `now`: a reading of the breaker's clock; `nil`: it is read here.
    func release(_ outcome: BreakerOutcome, now: Duration?) {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return }
        breaker.released(permit, outcome, now: now)
    }
}
