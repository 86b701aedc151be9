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

    /// The origin that the breaker protects, or the name of whatever else it protects.
    public let name: String
    /// The thresholds and times.
    public let policy: BreakerPolicy
    private let guarded: Mutex<Guarded>
    private let time: @Sendable () -> Duration
    private let onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    /// The count of the map that the breaker belongs to; `nil`: the breaker belongs to no map.
    private let overrides: OverrideCount?

    /// Makes a closed breaker.
    ///
    /// - Parameter onTransition: is called after each change of state, on the thread whose call caused the change, and
    ///   outside of locks. Changes that different threads cause may be reported out of order.
    public convenience init(
        name: String = "", _ policy: BreakerPolicy = BreakerPolicy(), clock: any Clock<Duration> = ContinuousClock(),
        onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)? = nil
    ) {
        self.init(name, policy, time: Stopwatch(clock).now, JitterSource(), onTransition)
    }

    init(
        _ name: String, _ policy: BreakerPolicy, time: @escaping @Sendable () -> Duration, _ random: JitterSource,
        _ onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?,
        countedBy overrides: OverrideCount? = nil
    ) {
        self.overrides = overrides
        self.name = name
        self.policy = policy
        self.time = time
        self.onTransition = onTransition
        guarded = Mutex(Guarded(machine: BreakerMachine(policy), random: random))
    }

    deinit {
        overrides?.changed(from: guarded.withLock { $0.machine.name }, to: .closed)
    }

    /// The permit for a call. Throws a refusal that says when another call may pass.
    public func permit() throws(BreakerRefusal) -> BreakerPermit {
        BreakerPermit(self, try issue(now: time()))
    }

    /// A permit that the caller must release by ``released(_:_:now:)``; nothing else releases it. `now`: a reading of the
    /// breaker's clock.
    func issue(now: Duration) throws(BreakerRefusal) -> BreakerMachine.Permit {
        if let permit = guarded.withLock({ $0.machine.permitIfClosed(now: now) }) { return permit }
        let (decision, transitions) = guarded.withLock { guarded in
            let random = guarded.random.next()
            return guarded.machine.permitWanted(now: now, random: random)
        }
        for transition in transitions { onTransition?(self, transition) }
        switch decision {
        case .allow(let permit): return permit
        case .refuse(let refusal): throw refusal
        }
    }

    /// `now`: a reading of the breaker's clock; `nil`: it is read here.
    func released(_ permit: BreakerMachine.Permit, _ outcome: BreakerOutcome, now: Duration?) {
        let now = now ?? time()
        let transition = guarded.withLock { guarded -> BreakerTransition? in
            if outcome == .success, guarded.machine.succeededIfHealthy(permit, now: now) { return nil }
            let random = guarded.random.next()
            return guarded.machine.permitReleased(permit, outcome, now: now, random: random)
        }
        if let transition { onTransition?(self, transition) }
    }

    /// The call of a permit waits before it is sent.
    func held(_ permit: BreakerMachine.Permit) {
        guarded.withLock { $0.machine.permitHeld(permit) }
    }

    /// The call of a permit is sent now, after a wait. `now`: a reading of the breaker's clock. Returns the permit that
    /// the call uses from now on. Throws a refusal if the state has changed and does not let the call pass.
    func used(_ permit: BreakerMachine.Permit, now: Duration) throws(BreakerRefusal) -> BreakerMachine.Permit {
        let (decision, transitions) = guarded.withLock { guarded in
            let random = guarded.random.next()
            return guarded.machine.permitUsed(permit, now: now, random: random)
        }
        for transition in transitions { onTransition?(self, transition) }
        switch decision {
        case .allow(let used): return used
        case .refuse(let refusal): throw refusal
        }
    }

    /// Sets a state that stays until ``release()``. Calls under way are not counted in the new state.
    public func force(_ override: BreakerOverride) {
        operate { $0.overridden(override) }
    }

    /// Closes the breaker with an empty window, whether it was forced, open or half-open.
    public func release() {
        operate { $0.released() }
    }

    private func operate(_ change: (inout BreakerMachine) -> BreakerTransition?) {
        let transition = guarded.withLock { guarded in
            let former = guarded.machine.name
            defer { overrides?.changed(from: former, to: guarded.machine.name) }
            return change(&guarded.machine)
        }
        if let transition { onTransition?(self, transition) }
    }

    /// The present state. An open breaker becomes half-open with the first call after its open time, not before.
    public var state: BreakerState { guarded.withLock { $0.machine.name } }

    /// The calls that the present state has counted, as far as they are still in the window.
    public var tally: BreakerTally {
        guarded.withLock { guarded in
            guarded.machine.timePassed(now: time())
            return guarded.machine.tally
        }
    }

    /// What the breaker has counted since it was made.
    public var counts: Counts { guarded.withLock { $0.machine.counts } }
}
