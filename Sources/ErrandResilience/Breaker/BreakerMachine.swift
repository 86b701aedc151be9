/// The states of a circuit breaker.
///
/// Each state has an epoch, which grows with every transition. A permit carries the epoch in which it was issued. The
/// result of a permit with another epoch is not counted, so a call from before the failure cannot vote as a probe. A
/// probe's permit lives for a limited time, so a permit that is lost cannot keep the breaker half-open.
package struct BreakerMachine: Sendable {
    package enum State: Sendable {
        case closed
        /// `opening`: how many times in a row the breaker has opened; 1 is the first time.
        case open(until: Duration, opening: Int)
        case halfOpen(BreakerProbes, opening: Int)
        case overridden(BreakerOverride)
    }

    package struct Permit: Sendable, Hashable {
        package let number: UInt64
        package let epoch: UInt64
        package let issued: Duration
        /// Whether the result is counted. False for calls that only a dry run let pass.
        package let isCounted: Bool
    }

    package enum Decision: Sendable, Hashable {
        case allow(Permit)
        case refuse(BreakerRefusal)
    }

    package private(set) var state: State
    package private(set) var epoch: UInt64 = 1
    package private(set) var counts = CircuitBreaker.Counts()
    private let policy: BreakerPolicy
    /// The results of a closed or overridden state, empty when the state begins. They are not a part of the state: a
    /// change of the state in place would copy the window for each call.
    private var window: BreakerWindow
    private var lastNumber: UInt64 = 0

    package init(_ policy: BreakerPolicy) {
        self.policy = policy
        state = .closed
        window = BreakerWindow(policy.window)
    }

    package var name: BreakerState {
        switch state {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        case .overridden(.open): .forcedOpen
        case .overridden(.closed): .forcedClosed
        case .overridden(.disabled): .disabled
        }
    }

    /// The calls that the present state has counted.
    package var tally: BreakerTally {
        switch state {
        case .closed, .overridden: window.sum
        case .halfOpen(let probes, _): probes.tally
        case .open: BreakerTally()
        }
    }

    /// The permit for a call that wants to pass, if the breaker is closed, as most breakers are. If `nil` is returned,
    /// ``permitWanted(now:random:)`` decides.
    mutating func permitIfClosed(now: Duration) -> Permit? {
        guard case .closed = state else { return nil }
        lastNumber &+= 1
        counts.allowed &+= 1
        return Permit(number: lastNumber, epoch: epoch, issued: now, isCounted: true)
    }

    /// A call has succeeded. Returns true if the success was counted and nothing else is to be done. This is the case
    /// for a closed breaker without failures and slow calls in its window. Returns false if nothing was counted:
    /// ``permitReleased(_:_:now:random:)`` then decides.
    mutating func succeededIfHealthy(_ permit: Permit, now: Duration) -> Bool {
        guard case .closed = state, permit.epoch == epoch, permit.isCounted, window.sum.failures == 0,
            window.sum.slow == 0
        else { return false }
        if let bound = policy.slowCallDuration, now - permit.issued >= bound { return false }
        window.succeeded(now: now)
        return true
    }

    /// A call wants to pass. An open breaker whose time has passed becomes half-open first.
    ///
    /// - Parameter random: 0...1, for the open time where probes have expired.
    package mutating func permitWanted(
        now: Duration, random: Double
    ) -> (decision: Decision, transitions: [BreakerTransition]) {
        let now = now.clampedTime
        var transitions: [BreakerTransition] = []
        if case .open(let until, let opening) = state, now >= until {
            let probes = BreakerProbes(count: policy.halfOpenPermits, lifetime: policy.permitLifetime)
            transitions.append(change(.halfOpen(probes, opening: opening), .openTimePassed))
        }
        if let transition = probesExpired(now, random) { transitions.append(transition) }
        switch state {
        case .closed, .overridden(.closed):
            return (allow(now, isCounted: true), transitions)
        case .overridden(.disabled):
            return (allow(now, isCounted: false), transitions)
        case .open(let until, _):
            return (refuse(.open, until - now, now), transitions)
        case .overridden(.open):
            return (refuse(.forcedOpen, nil, now), transitions)
        case .halfOpen(var probes, let opening):
            guard probes.hasRoom else {
                return (refuse(.halfOpen, probes.firstExpiry.map { $0 - now }, now), transitions)
            }
            let decision = allow(now, isCounted: true)
            probes.issued(lastNumber, now: now)
            state = .halfOpen(probes, opening: opening)
            return (decision, transitions)
        }
    }

    /// The call of a permit waits before it is sent.
    package mutating func permitHeld(_ permit: Permit) {
        guard permit.isCounted, permit.epoch == epoch, case .halfOpen(var probes, let opening) = state else { return }
        probes.held(permit.number)
        state = .halfOpen(probes, opening: opening)
    }

    /// The call of a permit is sent now, after a wait. Its duration begins now, and so does the lifetime of a probe.
    /// Returns the permit that the call uses from now on. A permit of another epoch, or of a probe whose lifetime has
    /// passed, is exchanged: the call asks for a new permit, and may be refused.
    package mutating func permitUsed(
        _ permit: Permit, now: Duration, random: Double
    ) -> (decision: Decision, transitions: [BreakerTransition]) {
        let now = now.clampedTime
        guard permit.epoch == epoch else { return permitWanted(now: now, random: random) }
        let used = Permit(number: permit.number, epoch: epoch, issued: now, isCounted: permit.isCounted)
        guard permit.isCounted, case .halfOpen = state else { return (.allow(used), []) }
        let opened = probesExpired(now, random).map { [$0] } ?? []
        if case .halfOpen(var probes, let opening) = state, probes.sent(permit.number, now: now) {
            state = .halfOpen(probes, opening: opening)
            return (.allow(used), opened)
        }
        let (decision, transitions) = permitWanted(now: now, random: random)
        return (decision, opened + transitions)
    }

    /// A call ended. Its duration is the time since its permit was issued, or since the call was sent after a wait.
    package mutating func permitReleased(
        _ permit: Permit, _ outcome: BreakerOutcome, now: Duration, random: Double
    ) -> BreakerTransition? {
        let now = now.clampedTime
        guard permit.isCounted, permit.epoch == epoch else {
            counts.late &+= permit.isCounted ? 1 : 0
            return nil
        }
        let isSlow = policy.slowCallDuration.map { now - permit.issued.clampedTime >= $0 } ?? false
        switch state {
        case .closed:
            guard outcome != .ignored else { return nil }
            window.recorded(isFailure: outcome == .failure, isSlow: isSlow, now: now)
            let sum = window.sum
            guard sum.calls >= policy.minimumCalls, let cause = policy.isTripped(by: sum) else { return nil }
            return open(1, cause, now, random)
        case .halfOpen:
            // A probe whose lifetime has passed votes as failed, whatever its result is now.
            if let transition = probesExpired(now, random) { return transition }
            guard case .halfOpen(var probes, let opening) = state, probes.released(permit.number) else { return nil }
            if outcome != .ignored { probes.voted(isFailure: outcome == .failure, isSlow: isSlow) }
            state = .halfOpen(probes, opening: opening)
            return decide(probes, opening, now, random)
        case .overridden(.closed):
            guard outcome != .ignored else { return nil }
            window.recorded(isFailure: outcome == .failure, isSlow: isSlow, now: now)
            return nil
        case .open, .overridden(.open), .overridden(.disabled):
            // No counted permits are issued in the epochs of these states.
            return nil
        }
    }

    /// Drops the results that have left the window, for readers of ``tally``.
    package mutating func timePassed(now: Duration) {
        switch state {
        case .closed, .overridden: window.advanced(to: now.clampedTime)
        case .open, .halfOpen: break
        }
    }

    /// An operator sets a state.
    package mutating func overridden(_ override: BreakerOverride) -> BreakerTransition? {
        if case .overridden(override) = state { return nil }
        return change(.overridden(override), .operated)
    }

    /// An operator gives control back: the breaker is closed, and its window is empty. Also closes an open breaker.
    package mutating func released() -> BreakerTransition? {
        if case .closed = state { return nil }
        return change(.closed, .operated)
    }

    /// Probes whose lifetime has passed count as failed.
    private mutating func probesExpired(_ now: Duration, _ random: Double) -> BreakerTransition? {
        guard case .halfOpen(var probes, let opening) = state else { return nil }
        let expired = probes.expired(now: now)
        state = .halfOpen(probes, opening: opening)
        guard expired > 0 else { return nil }
        counts.expired &+= expired
        return decide(probes, opening, now, random)
    }

    /// Opens as soon as the failed or slow probes reach one of the rates, computed over all probes: the results of the
    /// others cannot change this. Closes when all probes have voted.
    private mutating func decide(
        _ probes: BreakerProbes, _ opening: Int, _ now: Duration, _ random: Double
    ) -> BreakerTransition? {
        var worst = probes.tally
        worst.calls = policy.halfOpenPermits
        if let cause = policy.isTripped(by: worst) {
            return open(opening < .max ? opening + 1 : opening, cause, now, random)
        }
        guard probes.tally.calls >= policy.halfOpenPermits else { return nil }
        return change(.closed, .probesSucceeded)
    }

    private mutating func open(
        _ opening: Int, _ cause: BreakerTransition.Cause, _ now: Duration, _ random: Double
    ) -> BreakerTransition {
        counts.openings &+= 1
        let time = policy.openTime(opening: opening, random: random)
        return change(.open(until: now + time, opening: opening), cause, openFor: time)
    }

    private mutating func change(
        _ new: State, _ cause: BreakerTransition.Cause, openFor: Duration? = nil
    ) -> BreakerTransition {
        let former = name
        state = new
        window = BreakerWindow(policy.window)
        epoch &+= 1
        return BreakerTransition(from: former, to: name, cause: cause, openFor: openFor)
    }

    private mutating func allow(_ now: Duration, isCounted: Bool) -> Decision {
        lastNumber &+= 1
        counts.allowed &+= 1
        return .allow(Permit(number: lastNumber, epoch: epoch, issued: now, isCounted: isCounted))
    }

    private mutating func refuse(_ state: BreakerState, _ time: Duration?, _ now: Duration) -> Decision {
        guard !policy.isDryRun || state == .forcedOpen else {
            counts.wouldRefuse &+= 1
            return allow(now, isCounted: false)
        }
        counts.refused &+= 1
        return .refuse(BreakerRefusal(state: state, retryAfter: time.map { max($0, .zero) }))
    }
}
