import Synchronization

/// One transfer of a dry run (``HedgePolicy/isDryRun``): counts the hedges that it would have had, and passes its events on.
///
/// The transfer is sent, and retried, as without hedges. Its machine is informed of everything that happens. A hedge
/// that would have been sent counts as an attempt without an answer. The retry that follows a failure stands for the
/// hedge that the failure would have caused, and has the same number.
///
/// `@unchecked Sendable`: what this class adds is constant or guarded by its lock.
final class HedgeDryRun: ForwardingReceiver, HedgeSubject, @unchecked Sendable {
    private struct Guarded: Sendable {
        var machine: HedgeMachine
        /// The number of the present attempt.
        var attempt = 1
        /// Whether the transfer has ended: its receiver gets no further event.
        var isOver = false
    }

    let trail: AttemptTrail
    private let description: RequestDescription
    /// Which ends are failures.
    private let policy: RetryPolicy
    private let tracker: HedgeTracker
    private let budget: RetryBudget?
    private let transport: HedgingTransport
    private let guarded: Mutex<Guarded>

    init(
        _ receiver: TransferReceiver, of description: RequestDescription, _ machine: HedgeMachine,
        _ trail: AttemptTrail, policy: RetryPolicy, tracker: HedgeTracker, budget: RetryBudget?,
        in transport: HedgingTransport
    ) {
        self.trail = trail
        self.description = description
        self.policy = policy
        self.tracker = tracker
        self.budget = budget
        self.transport = transport
        var machine = machine
        _ = machine.started()
        guarded = Mutex(Guarded(machine: machine))
        super.init(to: receiver)
    }

    // MARK: Times, on any thread

    /// The first attempt leaves the client, after its waits for the limits.
    func firstAttemptSent(at time: Duration) {
        carryOut(guarded.withLock { $0.machine.attemptSent(1, now: time) }, isInPlace: false)
    }

    func delayElapsed(in transport: HedgingTransport) {
        let now = transport.stopwatch.now()
        carryOut(guarded.withLock { $0.machine.delayElapsed(now: now) }, isInPlace: false)
    }

    /// The transfer has ended, or was refused. The decision of a refusal may still be on its way to the receiver.
    func end() {
        guarded.withLock { _ = $0.machine.cancelled() }
        trail.end()
    }

    // MARK: The transport beneath reports here, on the receiver's queue

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .retrying(let retry):
            failed(retry.attempt, .none)
            guarded.withLock { $0.attempt = retry.attempt + 1 }
        case .head(let head) where description.delivery == .streamed:
            // To obey the wait that the server asks for, the response would have to be held back.
            let pushback: HedgeMachine.Pushback = head.headers.retryAfter != nil ? .stop : .none
            if policy.statusCodes.contains(head.statusCode) { failed(nil, pushback) }
            // The response is that of the transfer.
            guarded.withLock { _ = $0.machine.cancelled() }
        case .ended(let result):
            let ending = RetryMachine.Ending(result, policy)
            if case .retry = policy.judge(ending) { failed(nil, policy.pushback(ending)) }
            end()
            guarded.withLock { $0.isOver = true }
        // A decision of this dry run that the end has overtaken.
        case .decided where guarded.withLock({ $0.isOver }): return
        default: break
        }
        super.receive(event)
    }

    /// An attempt has failed. `nil`: the present one.
    private func failed(_ number: Int?, _ pushback: HedgeMachine.Pushback) {
        let now = transport.stopwatch.now()
        let action = guarded.withLock { guarded in
            guarded.machine.attemptFailed(
                number ?? guarded.attempt, isFatal: false, pushback: pushback, now: now)
        }
        carryOut(action, isInPlace: true)
    }

    // MARK: Decisions

    /// `isInPlace`: called on the receiver's queue.
    private func carryOut(_ first: HedgeMachine.Action, isInPlace: Bool) {
        var action = first
        while true {
            switch action {
            case .none, .wait(until: nil), .deliver, .cancel:
                return
            case .wait(let until?):
                return transport.schedule(self, at: until)
            case .askBudget:
                action = askBudget(isInPlace: isInPlace)
            case .send(let attempt):
                transport.parts.wouldHedge()
                tell(.dryRun, isInPlace: isInPlace)
                let now = transport.stopwatch.now()
                action = guarded.withLock { $0.machine.attemptSent(attempt, now: now) }
            }
        }
    }

    private func askBudget(isInPlace: Bool) -> HedgeMachine.Action {
        let isGranted = tracker.withdrawInDryRun(beside: budget)
        let now = transport.stopwatch.now()
        let action = guarded.withLock { $0.machine.budgetAnswered(granted: isGranted, now: now) }
        if !isGranted {
            transport.parts.wouldRefuseHedge()
            tell(.budgetExhausted, isInPlace: isInPlace)
        } else if !action.isSend {
            // The transfer ended, or its deadline passed, while the budgets were asked.
            tracker.budget.giveBack()
        }
        return action
    }

    private func tell(_ reason: HedgeStop, isInPlace: Bool) {
        guard description.reports.contains(.events) else { return }
        let decision = ResilienceDecision.notHedged(reason: reason.rawValue)
        // The end of the transfer, or of its attempt, is handed over after this event.
        guard !isInPlace else { return super.receive(.decided(decision)) }
        description.tell(self, decision)
    }
}

extension HedgeMachine.Action {
    fileprivate var isSend: Bool {
        if case .send = self { true } else { false }
    }
}
