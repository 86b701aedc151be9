import Synchronization

/// One hedged transfer of a ``HedgingTransport``: its attempts, which may be in flight together, and its single end.
///
/// The lock guards the machine, the attempts and the outbox. Events for the caller are put into the outbox under the
/// lock, where they are decided, and leave it on the receiver's queue, one thread at a time: the attempts of an inline
/// queue may report on several threads.
final class HedgedCall: Sendable {
    /// An attempt that has not ended.
    struct Leg: Sendable {
        var control: TransferControl
        /// When the attempt was sent; `nil`: it waits for a limit.
        var start: Duration?
        /// The head of a buffered response. The caller gets it with the end.
        var head: Response?
        /// Another attempt was faster, or this one's answer is not wanted.
        var isCut = false
    }

    /// The answer of an attempt that has ended.
    struct Answer: Sendable {
        var head: Response?
        let result: TransferResult
    }

    struct Guarded: Sendable {
        var machine: HedgeMachine
        let trail: AttemptTrail
        var legs: [Int: Leg] = [:]
        /// The answers of the attempts that have ended.
        var answers: [Int: Answer] = [:]
        /// The head of a streamed response that is not wanted.
        var cutHead: Response?
        /// Why hedges were not sent.
        var refusals: [Answer] = []
        /// Whether the server may have seen an attempt that has ended or is cancelled.
        var wasSent = false
        /// The attempt whose answer is that of the call.
        var winner: Int?
        /// Whether the caller, or a shutdown, has cancelled the call.
        var isCancelled = false
        /// Whether the end is in the outbox.
        var isOver = false {
            didSet { if isOver { trail.end() } }
        }
        var isPaused = false
        /// The hedges that were handed to the transport beneath, and hold a token of each budget.
        var hedges = 0
        /// When hedges took their tokens, without the tokens that were given back.
        var withdrawn: [Duration] = []
        /// Credit for the body of a streamed response that was granted before there was a winner.
        var owed = 0
        var outbox: [TransferEvent.Kind] = []
        var isDelivering = false
        /// Whether the submission of the call has been accepted. Until then nothing leaves the outbox: a hedge may be due
        /// while the transport beneath still decides about the first attempt, and a refused submission has no events.
        var isAccepted = false
    }

    let id: TransferID
    let receiver: TransferReceiver
    let description: RequestDescription
    let trail: AttemptTrail
    /// Which ends are failures.
    let policy: RetryPolicy
    let tracker: HedgeTracker
    let budget: RetryBudget?
    let deadline: Duration?
    /// Whether the deadline is that of the caller's task, and earlier than the request's own.
    let isCutShort: Bool
    let guarded: Mutex<Guarded>

    init(
        _ id: TransferID, _ description: RequestDescription, for receiver: TransferReceiver, policy: RetryPolicy,
        tracker: HedgeTracker, budget: RetryBudget?, delay: Duration, deadline: Duration?, isCutShort: Bool
    ) {
        self.id = id
        self.description = description
        self.receiver = receiver
        self.policy = policy
        self.tracker = tracker
        self.budget = budget
        self.deadline = deadline
        self.isCutShort = isCutShort
        trail = AttemptTrail(hedgeDelay: delay)
        guarded = Mutex(
            Guarded(
                machine: HedgeMachine(tracker.policy, delay: delay, isRepeatable: true, deadline: deadline),
                trail: trail))
    }

    var isStreamed: Bool { description.delivery == .streamed }

    // MARK: Budgets

    /// Takes a token of each budget for a hedge.
    ///
    /// `now`: a reading of the clock of the client's parts, which both budgets use.
    func withdraw(now: Duration) -> Bool {
        let isGranted =
            budget?.withdrawOnly.limited(by: tracker.budget).withdraw(now: now) ?? tracker.budget.withdraw(now: now)
        if isGranted { guarded.withLock { $0.withdrawn.append(now) } }
        return isGranted
    }

    /// The number of hedges that were not sent, once all attempts have ended: a limit held them back until they were
    /// not wanted any more. Each is counted once.
    func takeUnsentHedges() -> Int {
        guarded.withLock { guarded in
            guard guarded.isOver, guarded.legs.isEmpty else { return 0 }
            let unsent = max(0, guarded.hedges - max(0, trail.attemptsSent - 1))
            guarded.hedges -= unsent
            return unsent
        }
    }

    /// A hedge was not sent.
    func giveBack() {
        // The hedge that is not sent is the last one.
        guard let taken = guarded.withLock({ $0.withdrawn.popLast() }) else { return }
        guard let budget else { return tracker.budget.giveBack(taken: taken) }
        budget.withdrawOnly.limited(by: tracker.budget).giveBack(taken: taken)
    }

    // MARK: Events

    /// Hands the events of the outbox to the receiver. `isInPlace`: called on the receiver's queue.
    func flush(isInPlace: Bool) {
        guard isInPlace else { return receiver.callbacks.async { self.flush(isInPlace: true) } }
        guard
            guarded.withLock({ guarded in
                guard guarded.isAccepted, !guarded.isDelivering else { return false }
                guarded.isDelivering = true
                return true
            })
        else { return }
        while let events = next() {
            for event in events { receiver.receive(event) }
        }
    }

    /// The submission has been accepted: hands out what has happened meanwhile.
    func accepted() {
        let isLate = guarded.withLock { guarded in
            guarded.isAccepted = true
            return !guarded.outbox.isEmpty
        }
        if isLate { flush(isInPlace: false) }
    }

    private func next() -> [TransferEvent.Kind]? {
        guarded.withLock { guarded in
            guard !guarded.outbox.isEmpty else {
                guarded.isDelivering = false
                return nil
            }
            defer { guarded.outbox = [] }
            return guarded.outbox
        }
    }
}

extension HedgedCall.Guarded {
    /// Whether the attempt is to be sent: false after the end of the call.
    mutating func begin(_ attempt: Int) -> Bool {
        guard machine.isOpen(attempt) else { return false }
        legs[attempt] = HedgedCall.Leg(control: TransferControl(isPaused: isPaused))
        return true
    }

    /// The attempt that stands for the call if the machine names `attempt`. If `attempt` is a hedge that was not sent,
    /// this is a streamed response whose head has arrived.
    func standIn(for attempt: Int, isStreamed: Bool) -> Int {
        guard isStreamed, legs[attempt] == nil, answers[attempt] == nil else { return attempt }
        return legs.first { !$0.value.isCut && $0.value.head != nil }?.key ?? attempt
    }

    /// The answer that stands for the call. If the attempt is a hedge that was not sent, this is the last failure, or
    /// the refusal if there is none.
    func answer(of attempt: Int) -> HedgedCall.Answer {
        if let found = answers[attempt] ?? answers.max(by: { $0.key < $1.key })?.value { return found }
        guard let refusal = refusals.last else {
            return HedgedCall.Answer(head: nil, result: .failure(.cancelled))
        }
        // The server has answered another attempt, whose response is gone.
        if let cutHead, case .failure(let error) = refusal.result {
            return HedgedCall.Answer(head: nil, result: .failure(error.with(response: cutHead, isRefusal: false)))
        }
        return refusal
    }

    /// Whether the attempt has a good answer: a response whose status the policy does not retry.
    func isAnswered(_ attempt: Int, by policy: RetryPolicy) -> Bool {
        // A streamed response whose head has arrived.
        if let head = legs[attempt]?.head { return !policy.statusCodes.contains(head.statusCode) }
        guard case .response(let response) = answers[attempt]?.result else { return false }
        return !policy.statusCodes.contains(response.statusCode)
    }

    /// The caller wants no answer any more.
    mutating func cancelled() -> HedgeMachine.Action {
        isCancelled = true
        return machine.cancelled()
    }

    /// Cancels the attempt that the caller reads: its end is that of the call.
    mutating func stop(_ attempt: Int) -> TransferControl.Order {
        legs[attempt]?.control.cancel() ?? .none
    }

    /// Cancels an attempt whose answer is not wanted.
    mutating func cut(_ attempt: Int) -> TransferControl.Order {
        legs[attempt]?.isCut = true
        if legs[attempt]?.start != nil { wasSent = true }
        cutHead = legs[attempt]?.head ?? cutHead
        return legs[attempt]?.control.cancel() ?? .none
    }

    /// The first attempt was refused while the caller was still submitting the call, so the call has no end. Returns
    /// the orders for hedges that are under way: the first attempt counts as sent while the transport beneath decides
    /// about it, so there may be hedges. `nil`: the call has an answer, or has ended.
    mutating func submissionRefused() -> [(Int, TransferControl.Order)]? {
        guard !isOver, winner == nil else { return nil }
        let action = cancelled()
        isOver = true
        outbox = []
        guard case .cancel(let attempts) = action else { return [] }
        return attempts.map { ($0, cut($0)) }
    }

    /// This answer is that of the call.
    mutating func end(_ answer: HedgedCall.Answer) {
        guard !isOver else { return }
        isOver = true
        if let head = answer.head { outbox.append(.head(head)) }
        if wasSent, case .failure(let error) = answer.result, error.isUnsent {
            outbox.append(.ended(.failure(error.with(isRefusal: false, followsSends: true))))
        } else {
            outbox.append(.ended(answer.result))
        }
        // Bodies of other attempts. No value of a user is released here.
        answers = [:]
        refusals = []
    }
}
