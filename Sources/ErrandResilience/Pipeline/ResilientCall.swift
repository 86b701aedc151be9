import Synchronization

/// One transfer of a ``ResilientTransport``: the receiver of its attempts.
///
/// `@unchecked Sendable`: what this class adds is constant or guarded by its lock.
final class ResilientCall: TransferReceiver, @unchecked Sendable {
    /// How far the call is. Most calls end with the response of their first attempt, without a decision, and need no
    /// machine. Any other call gets a machine, which begins with what has happened so far: see ``decide(_:)``.
    enum Course: Sendable {
        /// Nothing was sent.
        case idle
        /// The transport beneath has the first attempt, whose id may not be known yet.
        case first(TransferID?)
        indirect case decided(ResilientCallMachine)
        /// The response of the first attempt was that of the call.
        case over
    }

    /// What varies.
    struct Guarded: Sendable {
        var course: Course
        /// The permit of the first attempt, as long as there is no ``admission``.
        var permit: BreakerMachine.Permit?
        /// The permits of the present attempt.
        var admission: Admission?
        /// Waits for a limit or for the next attempt.
        var task: Task<Void, Never>?
        var lastTask = 0
        /// Whether the total time of the present attempt is only the time that the caller has left.
        var isCutShort = false
        /// Credit for the response's body that was granted before the attempt's id was known.
        var owed = 0
        var upload = UploadBacklog()
        /// Why the attempt before the present one failed, for the next send.
        var retryReason: String?
        /// Why the present attempt resends the request; `nil`: it does not.
        var resend: Resend?
        /// When the present attempt paid to the budget (``RequestDescription/payment``), until it is known that the attempt
        /// was sent; `nil`: it did not pay.
        var paid: Duration?
        /// When a token was taken for the next attempt.
        var withdrawn: Duration?

        /// The id of the present attempt, once it is known.
        var attemptID: TransferID? {
            switch course {
            case .first(let id): id
            case .decided(let machine): machine.attemptID
            case .idle, .over: nil
            }
        }
    }

    let id: TransferID
    let receiver: TransferReceiver
    let description: RequestDescription
    /// The parts of the origin, or of the name that the command gives.
    let keyed: KeyedParts
    let rules: CallRules
    /// When the call began: a reading of the transport's clock.
    private let start: Duration
    /// Asked for before the call begins: a user's source answers it.
    private let bodyIsReplayable: Bool
    /// A reading of the transport's clock; `nil`: none.
    let deadline: Duration?
    let guarded: Mutex<Guarded>
    private let transport: ResilientTransport

    /// `isAdmitted`: the first attempt is sent at once, with this permit.
    init(
        _ id: TransferID, _ description: RequestDescription, for receiver: TransferReceiver, _ keyed: KeyedParts,
        _ rules: CallRules, start: Duration, deadline: Duration?, isAdmitted: Bool,
        _ permit: BreakerMachine.Permit?, of transport: ResilientTransport
    ) {
        self.id = id
        self.description = description
        self.receiver = receiver
        self.keyed = keyed
        self.rules = rules
        self.start = start
        self.deadline = deadline
        self.transport = transport
        bodyIsReplayable = !description.isWritten || description.body.isReplayable
        guarded = Mutex(Guarded(course: isAdmitted ? .first(nil) : .idle, permit: permit))
        super.init(callbacks: receiver.callbacks)
    }

    var key: String { keyed.key }
    /// `nil`: off.
    var budget: RetryBudget? { rules.isExempt ? nil : keyed.budget }

    /// Called by the transport beneath, on the receiver's queue.
    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .ended(.response(let response)) where !rules.retries(response.statusCode):
            guard case .ended(let permit) = endWithFirst() else {
                return transport.attemptEnded(self, .response(response))
            }
            transport.firstAnswered(self, status: response.statusCode, permit)
            receiver.receive(event)
            transport.forget(self)
        case .ended(let result): transport.attemptEnded(self, result)
        case .head(let head): transport.headArrived(head, of: self)
        case .chunk: pass(event, isBody: true)
        case .started, .connected, .sent, .progress, .uploadCredit, .retrying, .decided: pass(event, isBody: false)
        case .resending, .notResent: tellOfResend(event)
        }
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }

    private func pass(_ event: TransferEvent.Kind, isBody: Bool) {
        let passes = guarded.withLock { guarded in
            switch guarded.course {
            // Bytes of a body come after a head, and a head makes the machine.
            case .first: !isBody
            case .decided(let machine): machine.passes(isBody: isBody)
            case .idle, .over: false
            }
        }
        if passes { receiver.receive(event) }
    }

    /// A transport beneath has resent the request by itself. The budget pays whatever has happened to the attempt,
    /// because the service has received the request once more. The resend is reported even if the attempt's streamed
    /// response was given up for a retry.
    private func tellOfResend(_ event: TransferEvent.Kind) {
        budget?.pay(forNewsFromBeneath: event)
        let isOver = guarded.withLock { guarded in
            switch guarded.course {
            case .first: false
            case .decided(let machine): machine.isOver
            case .idle, .over: true
            }
        }
        // If the call is over, its ledger is closed. A loser of hedges reports its resends right before it ends. If the
        // transfer has ended by then, ``HedgedCall`` has closed the ledger and drops the event.
        if !isOver { receiver.receive(event) }
    }

    // MARK: Decisions

    private enum FirstEnd {
        /// The call has ended. The permit is the attempt's.
        case ended(BreakerMachine.Permit?)
        case machineDecides
    }

    /// Ends a call whose first attempt has ended, where no decision came before.
    private func endWithFirst() -> FirstEnd {
        guarded.withLock { guarded in
            guard case .first = guarded.course else { return .machineDecides }
            guarded.course = .over
            return .ended(guarded.permit.take())
        }
    }

    /// Changes the state; the decision is carried out after the lock is released. A response of the former state is
    /// released after the lock too, because its release may run a user's `deinit`.
    func decide(
        _ body: (inout ResilientCallMachine) -> ResilientCallMachine.Decision
    ) -> ResilientCallMachine.Decision {
        var former: ResilientCallMachine?
        let decision = guarded.withLock { guarded in
            guard var machine = machine(guarded.course) else {
                return ResilientCallMachine.Decision(action: .none)
            }
            former = machine
            defer { guarded.course = .decided(machine) }
            return body(&machine)
        }
        withExtendedLifetime(former) {}
        return decision
    }

    /// The call's machine, made from what has happened so far; `nil`: the call is over.
    private func machine(_ course: Course) -> ResilientCallMachine? {
        switch course {
        case .decided(let machine): return machine
        case .over: return nil
        case .idle: return newMachine
        case .first(let id):
            var machine = newMachine
            _ = machine.started(now: start)
            _ = machine.willSubmit(1)
            if let id { _ = machine.opened(id, attempt: 1) }
            return machine
        }
    }

    private var newMachine: ResilientCallMachine {
        let policy = rules.retry
        // Without retries nobody needs the subject.
        let subject =
            policy.maxAttempts == 1 ? RetrySubject(isRepeatable: true) : RetrySubject(description, policy)
        return ResilientCallMachine(
            policy, subject, deadline: deadline, isStreamed: description.isStreamed,
            bodyIsReplayable: bodyIsReplayable)
    }

    /// The transport beneath has an attempt. Returns what is to be done; `nil`: nothing.
    func opened(_ attempt: Int, _ id: TransferID) -> ResilientCallMachine.Decision? {
        let isDecided = guarded.withLock { guarded in
            switch guarded.course {
            case .first:
                guarded.course = .first(id)
                return false
            case .over: return false
            case .idle, .decided: return true
            }
        }
        return isDecided ? decide { $0.opened(id, attempt: attempt) } : nil
    }

    /// Whether the caller may have granted credit, or written a body, before the attempt's id was known.
    var isOwing: Bool { description.isStreamed || description.isWritten }

    /// The credit that was granted before the attempt's id was known.
    func takeOwed(to attempt: TransferID) -> Int {
        guarded.withLock { guarded in
            guard guarded.attemptID == attempt else { return 0 }
            defer { guarded.owed = 0 }
            return guarded.owed
        }
    }

    // MARK: Permits

    /// The permits of the present attempt are taken from the call.
    func takeAdmission() -> Admission? {
        let (admission, permit) = guarded.withLock { ($0.admission.take(), $0.permit.take()) }
        if let admission { return admission }
        guard let permit, let breaker = keyed.breaker else { return nil }
        var made = Admission(key: key)
        made.breaker = BreakerPermit(breaker, permit)
        return made
    }

    // MARK: The caller's time

    /// Whether the deadline is that of the caller's task, and earlier than the request's own.
    var isCutShort: Bool { description.isCutShort(by: deadline, since: start) }

    /// An attempt is about to be sent. `isCutShort`: whether its total time is only the time that the caller has left.
    func note(isCutShort: Bool) {
        // Most calls never have such an attempt.
        if self.isCutShort { guarded.withLock { $0.isCutShort = isCutShort } }
    }

    /// Whether the total time of the attempt that was sent last was only the time that the caller had left.
    var attemptIsCutShort: Bool { isCutShort && guarded.withLock { $0.isCutShort } }

    // MARK: Further sends

    /// A retry was decided.
    func note(_ news: TransferRetry) {
        let dropped = guarded.withLock { guarded in
            guarded.retryReason = news.reason
            return description.isWritten ? guarded.upload.attemptFailed(news.attempt) : []
        }
        withExtendedLifetime(dropped) {}
    }

    /// Why this attempt resends the request; `nil`: it is the first. `sent`: how many attempts of the call's trail are
    /// sent, including this one.
    func resendReason(of attempt: Int, sent: Int) -> Resend? {
        if attempt > 1 { return guarded.withLock { $0.retryReason }.map { .retry($0) } }
        guard sent > 1, let trail = description.trail, trail.isHedged else { return nil }
        return .hedge
    }

    /// The present attempt resends the request, for this reason.
    func note(resend: Resend) { guarded.withLock { $0.resend = resend } }

    /// The present attempt was not sent. Returns why it would have resent the request; `nil`: it would not have.
    func takeResend() -> Resend? { guarded.withLock { $0.resend.take() } }

    /// The first attempt is about to be sent.
    func pay(now: Duration) {
        guard let budget else { return }
        guarded.withLock { $0.paid = now }
        budget.pay(description.payment, now: now)
    }

    /// The attempt was not sent: takes back what it has paid. Returns whether it had paid.
    @discardableResult
    func takeBackPayment() -> Bool {
        guard let budget, let paid = guarded.withLock({ $0.paid.take() }) else { return false }
        budget.takeBack(description.payment, paid: paid)
        return true
    }

    /// The attempt was sent, and has ended.
    func keepPayment() { guarded.withLock { $0.paid = nil } }

    /// Takes a token for the next attempt. `false`: there is none.
    func withdraw(now: Duration) -> Bool {
        guard let budget else { return true }
        guard budget.withdraw(now: now) else { return false }
        guarded.withLock { $0.withdrawn = now }
        return true
    }

    /// The next attempt is not sent.
    func giveBackToken() {
        guard let budget else { return }
        guard let taken = guarded.withLock({ $0.withdrawn.take() }) else { return budget.giveBack() }
        budget.giveBack(taken: taken)
    }

    // MARK: Waits

    /// Starts a task that waits. The task of an earlier wait is not wanted any more.
    func wait(_ body: @escaping @Sendable () async -> Void) {
        let number = guarded.withLock { guarded in
            guarded.lastTask += 1
            return guarded.lastTask
        }
        let task = Task { await body() }
        let isWanted = guarded.withLock { guarded in
            // The task may have gone on already, to a later wait.
            guard number == guarded.lastTask else { return true }
            guard case .decided(let machine) = guarded.course, !machine.isOver else { return false }
            guarded.task = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    /// The call is over, and gives up what it held.
    func release() {
        takeAdmission()?.drop()
        let (task, dropped) = guarded.withLock { guarded in
            (guarded.task.take(), description.isWritten ? guarded.upload.closed() : [])
        }
        task?.cancel()
        withExtendedLifetime(dropped) {}
    }
}

extension RequestDescription {
    /// Whether the deadline of a transfer is that of the caller's task, and earlier than the request's own. Both times are
    /// readings of one clock. `start`: when the transfer began, and its total time with it.
    func isCutShort(by deadline: Duration?, since start: Duration) -> Bool {
        guard let deadline else { return false }
        if settings.isCutShort { return true }
        guard let own = settings.timeouts.total?.duration else { return true }
        return deadline < start + own
    }

    fileprivate var isStreamed: Bool {
        if case .streamed = delivery { true } else { false }
    }

    /// Whether the receiver writes the body to the transfer. The client reads a source itself, from its first byte for
    /// each attempt, so the body of a source is written as well.
    var isWritten: Bool {
        switch body {
        case .none, .bytes, .data, .shared, .file: false
        case .stream, .source: true
        }
    }
}

extension TransferResult {
    /// Whether a retry may follow, so that its wait is needed.
    func mayBeRetried(_ rules: CallRules) -> Bool {
        switch self {
        case .response(let response): rules.retries(response.statusCode)
        case .failure(let error): error != .cancelled
        }
    }
}
