import Synchronization

/// Refuses calls to an endpoint that fails, and lets a few calls probe whether it works again (Nygard "circuit breaker",
/// resilience4j `CircuitBreaker`).
///
/// A closed breaker lets all calls pass and judges their results. It opens when the share of failed or slow calls
/// reaches its threshold. After the open time it is half-open: a few calls pass, and their results close or reopen it.
/// Each permit carries the epoch of its state, so a late result of an earlier state is not counted.
///
/// A breaker belongs to one endpoint or origin, not to a client; ``CircuitBreakers`` has one for each. All methods may
/// be called on any thread; none of them waits.
public final class CircuitBreaker: Sendable {
    private struct Guarded: Sendable {
        var machine: BreakerMachine
        var random: JitterSource
    }

    /// The origin or name of what the breaker protects.
    public let name: String
    /// The thresholds and times.
    public let policy: BreakerPolicy
    private let guarded: Mutex<Guarded>
    private let time: @Sendable () -> Duration
    private let onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?

    /// Makes a closed breaker.
    ///
    /// - Parameter onTransition: is called after each change of state, on the thread whose call caused the change, and
    ///   outside of locks. Changes that different threads cause may be reported in another order.
    public convenience init(
        name: String = "", _ policy: BreakerPolicy = BreakerPolicy(), clock: any Clock<Duration> = ContinuousClock(),
        onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)? = nil
    ) {
        self.init(name, policy, time: Stopwatch(clock).now, JitterSource(), onTransition)
    }

    init(
        _ name: String, _ policy: BreakerPolicy, time: @escaping @Sendable () -> Duration, _ random: JitterSource,
        _ onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    ) {
        self.name = name
        self.policy = policy
        self.time = time
        self.onTransition = onTransition
        guarded = Mutex(Guarded(machine: BreakerMachine(policy), random: random))
    }

    /// The permit for a call. Throws a refusal that says when another call may pass.
    public func permit() throws(BreakerRefusal) -> BreakerPermit {
        try permit(now: time())
    }

    /// `now`: a reading of the breaker's clock.
    func permit(now: Duration) throws(BreakerRefusal) -> BreakerPermit {
        let (decision, transitions) = guarded.withLock { guarded in
            let random = guarded.random.next()
            return guarded.machine.permitWanted(now: now, random: random)
        }
        for transition in transitions { onTransition?(self, transition) }
        switch decision {
        case .allow(let permit): return BreakerPermit(self, permit)
        case .refuse(let refusal): throw refusal
        }
    }

    /// `now`: a reading of the breaker's clock; `nil`: it is read here.
    func released(_ permit: BreakerMachine.Permit, _ outcome: BreakerOutcome, now: Duration?) {
        let now = now ?? time()
        let transition = guarded.withLock { guarded in
            let random = guarded.random.next()
            return guarded.machine.permitReleased(permit, outcome, now: now, random: random)
        }
        if let transition { onTransition?(self, transition) }
    }

    /// Sets a state that stays until ``release()``. Calls under way are not counted in the new state.
    public func force(_ override: BreakerOverride) {
        if let transition = guarded.withLock({ $0.machine.overridden(override) }) { onTransition?(self, transition) }
    }

    /// Closes the breaker with an empty window, whether it was forced, open or half-open.
    public func release() {
        if let transition = guarded.withLock({ $0.machine.released() }) { onTransition?(self, transition) }
    }

    /// The present state. An open breaker becomes half-open with the next call after its time, not before.
    public var state: BreakerState { guarded.withLock { $0.machine.name } }

    /// The calls that the present state has counted, as far as they are in the window.
    public var tally: BreakerTally {
        guarded.withLock { guarded in
            guarded.machine.timePassed(now: time())
            return guarded.machine.tally
        }
    }

    /// What the breaker has counted since it was made.
    public var counts: Counts { guarded.withLock { $0.machine.counts } }
}
