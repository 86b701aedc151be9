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
        let start: Duration
        /// Of a buffered response. The caller gets it with the end.
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
        var legs: [Int: Leg] = [:]
        /// The answers of the attempts that have ended.
        var answers: [Int: Answer] = [:]
        /// The head of a streamed response that is not wanted.
        var cutHead: Response?
        /// Why hedges were not sent.
        var refusals: [Answer] = []
        /// The attempt whose answer is that of the call.
        var winner: Int?
        /// Whether the caller, or a shutdown, has cancelled the call.
        var isCancelled = false
        /// Whether the end is in the outbox.
        var isOver = false
        var isPaused = false
        /// Credit for the body of a streamed response that was granted before there was a winner.
        var owed = 0
        var outbox: [TransferEvent.Kind] = []
        var isDelivering = false
    }

    let id: TransferID
    let receiver: TransferReceiver
    let description: RequestDescription
    let trail = AttemptTrail(isHedged: true)
    /// Which ends are failures.
    let policy: RetryPolicy
    let tracker: HedgeTracker
    let budget: RetryBudget?
    let deadline: Duration?
    let guarded: Mutex<Guarded>

    init(
        _ id: TransferID, _ description: RequestDescription, for receiver: TransferReceiver, policy: RetryPolicy,
        tracker: HedgeTracker, budget: RetryBudget?, delay: Duration, deadline: Duration?
    ) {
        self.id = id
        self.description = description
        self.receiver = receiver
        self.policy = policy
        self.tracker = tracker
        self.budget = budget
        self.deadline = deadline
        guarded = Mutex(
            Guarded(
                machine: HedgeMachine(tracker.policy, delay: delay, isRepeatable: true, deadline: deadline)))
    }

    var isStreamed: Bool { description.delivery == .streamed }

    // MARK: Budgets

    /// Takes a token of both budgets for a hedge.
    func withdraw() -> Bool {
        budget?.withdrawOnly.limited(by: tracker.budget).withdraw() ?? tracker.budget.withdraw()
    }

    /// The hedge was not sent.
    func giveBack() {
        guard let budget else { return tracker.budget.giveBack() }
        budget.withdrawOnly.limited(by: tracker.budget).giveBack()
    }

    // MARK: Events

    /// Hands the events of the outbox to the receiver. `isInPlace`: called on the receiver's queue.
    func flush(isInPlace: Bool) {
        guard isInPlace else { return receiver.callbacks.async { self.flush(isInPlace: true) } }
        guard
            guarded.withLock({ guarded in
                defer { guarded.isDelivering = true }
                return !guarded.isDelivering
            })
        else { return }
        while let events = next() {
            for event in events { receiver.receive(event) }
        }
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
    mutating func begin(_ attempt: Int, now: Duration) -> Bool {
        guard machine.isOpen(attempt) else { return false }
        legs[attempt] = HedgedCall.Leg(control: TransferControl(isPaused: isPaused), start: now)
        return true
    }

    /// The attempt that stands for the call, whose machine names `attempt`. Where that is a hedge that was not sent, it
    /// is a streamed response of which the head has arrived.
    func standIn(for attempt: Int, isStreamed: Bool) -> Int {
        guard isStreamed, legs[attempt] == nil, answers[attempt] == nil else { return attempt }
        return legs.first { !$0.value.isCut && $0.value.head != nil }?.key ?? attempt
    }

    /// The answer that stands for the call. Where the attempt is a hedge that was not sent, the last failure stands, and
    /// without one the refusal.
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

    /// Whether the attempt has an answer that is not an error.
    func hasAnswered(_ attempt: Int) -> Bool {
        // A streamed response of which the head has arrived.
        if legs[attempt]?.head != nil { return true }
        if case .response = answers[attempt]?.result { return true }
        return false
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
        cutHead = legs[attempt]?.head ?? cutHead
        return legs[attempt]?.control.cancel() ?? .none
    }

    /// This answer is that of the call.
    mutating func end(_ answer: HedgedCall.Answer) {
        guard !isOver else { return }
        isOver = true
        if let head = answer.head { outbox.append(.head(head)) }
        outbox.append(.ended(answer.result))
        // Bodies of other attempts. No value of a user is released here.
        answers = [:]
        refusals = []
    }
}
