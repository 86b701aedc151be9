import Synchronization

/// One transfer of a ``ResilientTransport``: the receiver of its attempts.
///
/// `@unchecked Sendable`: what this class adds is constant or guarded by its lock.
final class ResilientCall: TransferReceiver, @unchecked Sendable {
    /// What varies.
    struct Guarded: Sendable {
        var machine: ResilientCallMachine
        /// The permits of the present attempt.
        var admission: Admission?
        /// Waits for a limit or for the next attempt.
        var task: Task<Void, Never>?
        var lastTask = 0
        /// Credit for the response's body that was granted before the attempt's id was known.
        var owed = 0
        var upload = UploadBacklog()
    }

    let id: TransferID
    let receiver: TransferReceiver
    let description: RequestDescription
    /// The parts of the origin, or of the name that the command gives.
    let keyed: KeyedParts
    let policy: RetryPolicy
    /// A reading of the transport's clock; `nil`: none.
    let deadline: Duration?
    let guarded: Mutex<Guarded>
    private let transport: ResilientTransport

    init(
        _ id: TransferID, _ description: RequestDescription, for receiver: TransferReceiver, _ keyed: KeyedParts,
        policy: RetryPolicy, _ subject: RetrySubject, deadline: Duration?, of transport: ResilientTransport
    ) {
        self.id = id
        self.description = description
        self.receiver = receiver
        self.keyed = keyed
        self.policy = policy
        self.deadline = deadline
        self.transport = transport
        guarded = Mutex(
            Guarded(
                machine: ResilientCallMachine(
                    policy, subject, deadline: deadline, isStreamed: description.isStreamed,
                    bodyIsReplayable: !description.isWritten)))
        super.init(callbacks: receiver.callbacks)
    }

    var key: String { keyed.key }
    /// `nil`: off.
    var budget: RetryBudget? { description.isExempt ? nil : keyed.budget }

    /// Called by the transport beneath, on the receiver's queue.
    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .ended(let result): transport.attemptEnded(self, result)
        case .head(let head): transport.headArrived(head, of: self)
        case .chunk: pass(event, isBody: true)
        case .started, .sent, .progress, .uploadCredit, .retrying: pass(event, isBody: false)
        }
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }

    private func pass(_ event: TransferEvent.Kind, isBody: Bool) {
        if guarded.withLock({ $0.machine.passes(isBody: isBody) }) { receiver.receive(event) }
    }

    /// Changes the state; the decision is carried out after the lock is released. So is a response of the former
    /// state: its release may run a user's `deinit`.
    func decide(
        _ body: (inout ResilientCallMachine) -> ResilientCallMachine.Decision
    ) -> ResilientCallMachine.Decision {
        var former: ResilientCallMachine?
        let decision = guarded.withLock { guarded in
            former = guarded.machine
            return body(&guarded.machine)
        }
        withExtendedLifetime(former) {}
        return decision
    }

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
            guard !guarded.machine.isOver else { return false }
            guarded.task = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    /// The call is over: what it held is taken from it.
    func release() {
        let (admission, task) = guarded.withLock { ($0.admission.take(), $0.task.take()) }
        admission?.drop()
        task?.cancel()
    }
}

extension RequestDescription {
    fileprivate var isStreamed: Bool {
        if case .streamed = delivery { true } else { false }
    }

    /// Whether the body is what the receiver writes to the transfer. The client reads a source itself and writes its
    /// bytes to the first attempt, so a source is written as well and cannot be sent again here.
    var isWritten: Bool {
        switch body {
        case .none, .bytes, .data, .file: false
        case .stream, .source: true
        }
    }
}
