import Synchronization

/// One transfer of a request that is cached: looked up, then sent or not.
///
/// `@unchecked Sendable`: what varies is read and written only while the table of its ``CacheCarrier`` is locked.
final class CacheTransfer: TransferReceiver, @unchecked Sendable {
    enum Phase {
        /// The store has not answered yet.
        case lookingUp(isPaused: Bool)
        /// It has, while the transfer is paused.
        case held(Response, CacheSource)
        /// Handed to the transport beneath, whose `submit` has not returned yet.
        case submitting(isPaused: Bool)
        case stoppedWhileSubmitting
        case open(TransferID, isPaused: Bool)
        /// Cancelled; the end is awaited.
        case stopping(TransferID)
        case over
    }

    let id: TransferID
    /// Whom the transfer is for; `nil`: it revalidates in the background.
    let receiver: TransferReceiver?
    let description: RequestDescription
    let plan: ResponseCachePlan?
    let base: any Transport
    private let carrier: CacheCarrier
    private let waits = Atomic<Bool>(false)
    /// When what it waits for was sent; 0: not known.
    private let joinedAt = Atomic<Int64>(0)
    // This and what follows: read and written only while the table is locked.
    nonisolated(unsafe) var phase = Phase.lookingUp(isPaused: false)
    // As `phase`.
    nonisolated(unsafe) var question = CacheQuestion.none
    /// Milliseconds since 1970, when it was sent.
    // As `phase`.
    nonisolated(unsafe) var requestedAt: Int64 = 0
    /// Whether its number is known to its receiver's side: what goes wrong later is told, and not thrown.
    // As `phase`.
    nonisolated(unsafe) var isEntered = false
    /// To be thrown.
    // As `phase`.
    nonisolated(unsafe) var refusal: ErrandError?
    /// Of a lookup that takes its time: since when.
    // As `phase`.
    nonisolated(unsafe) var waitsSince: Duration?
    /// Ends it when `Timeouts.total` is up before anything was sent.
    // As `phase`.
    nonisolated(unsafe) var timer: Task<Void, Never>?

    init(
        _ id: TransferID, _ description: RequestDescription, _ plan: ResponseCachePlan?,
        for receiver: TransferReceiver?,
        over base: any Transport, of carrier: CacheCarrier, callbacks: CallbackQueue
    ) {
        self.id = id
        self.description = description
        self.plan = plan
        self.receiver = receiver
        self.base = base
        self.carrier = carrier
        super.init(callbacks: callbacks)
    }

    /// From the transport beneath. On the receiver's own queue, which hears it from here.
    override func receive(_ event: TransferEvent.Kind) {
        guard case .ended(let result) = event else { return receiver?.receive(event) ?? () }
        carrier.ended(self, with: result)
    }

    /// About to be submitted.
    func sendsItself() { waits.store(false, ordering: .relaxed) }

    override func joined(sentAt time: Int64?) {
        joinedAt.store(time ?? 0, ordering: .relaxed)
        waits.store(true, ordering: .relaxed)
    }

    /// When the request went out whose response it was told: another's, where it has waited for that (RFC 9111 4.2.3).
    func sentAt(own: Int64) -> Int64 {
        let time = isCollapsed ? joinedAt.load(ordering: .relaxed) : 0
        return time == 0 ? own : min(own, time)
    }

    /// Whether it has waited for an equal one instead of being sent (RFC 9211 2.7). Its end came after ``joined(sentAt:)``.
    var isCollapsed: Bool { waits.load(ordering: .relaxed) }

    // MARK: While the table is locked

    var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    var baseID: TransferID? {
        switch phase {
        case .open(let id, _), .stopping(let id): id
        case .lookingUp, .held, .submitting, .stoppedWhileSubmitting, .over: nil
        }
    }

    enum Control {
        case none
        case cancel(TransferID)
        /// Tell the receiver that it was cancelled.
        case end
        case deliver(Response, CacheSource)
        case pause(TransferID)
        case resume(TransferID)
    }

    func cancelRequested() -> Control {
        switch phase {
        case .lookingUp, .held:
            phase = .over
            return .end
        case .submitting:
            phase = .stoppedWhileSubmitting
            return .none
        case .open(let id, _):
            phase = .stopping(id)
            return .cancel(id)
        case .stoppedWhileSubmitting, .stopping, .over:
            return .none
        }
    }

    func setPaused(_ isPaused: Bool) -> Control {
        switch phase {
        case .lookingUp:
            phase = .lookingUp(isPaused: isPaused)
            return .none
        case .held(let response, let source):
            guard !isPaused else { return .none }
            phase = .over
            return .deliver(response, source)
        case .submitting:
            phase = .submitting(isPaused: isPaused)
            return .none
        case .open(let id, _):
            phase = .open(id, isPaused: isPaused)
            return isPaused ? .pause(id) : .resume(id)
        case .stoppedWhileSubmitting, .stopping, .over:
            return .none
        }
    }

    /// A response is there without the network.
    func found(_ response: Response, _ source: CacheSource) -> Control {
        switch phase {
        case .lookingUp(true):
            phase = .held(response, source)
            return .none
        case .lookingUp(false):
            phase = .over
            return .deliver(response, source)
        case .held, .submitting, .stoppedWhileSubmitting, .open, .stopping, .over:
            // Cancelled, or out of time, meanwhile.
            return .none
        }
    }

    /// There is none; answers whether the transfer is still wanted.
    func willSubmit(_ question: CacheQuestion, requestedAt: Int64) -> Bool {
        guard case .lookingUp(let isPaused) = phase else { return false }
        phase = .submitting(isPaused: isPaused)
        self.question = question
        self.requestedAt = requestedAt
        return true
    }

    /// The transport beneath has taken it. A pause that came before is to be passed on.
    func opened(_ id: TransferID) -> Control {
        switch phase {
        case .submitting(let isPaused):
            phase = .open(id, isPaused: isPaused)
            return isPaused ? .pause(id) : .none
        case .stoppedWhileSubmitting:
            phase = .stopping(id)
            return .cancel(id)
        case .lookingUp, .held, .open, .stopping, .over:
            // It ended before `submit` had returned.
            return .none
        }
    }

    /// What it takes to undo `control` where another thread has asked for the opposite since.
    func performed(_ control: Control) -> Control {
        guard case .open(let id, let isPaused) = phase else { return .none }
        switch control {
        case .pause: return isPaused ? .none : .resume(id)
        case .resume: return isPaused ? .pause(id) : .none
        case .none, .cancel, .end, .deliver: return .none
        }
    }

    /// Ended, and the server is to be asked once more; false where it was cancelled meanwhile.
    func willSubmitAgain(requestedAt: Int64) -> Bool {
        switch phase {
        case .submitting(let isPaused), .open(_, let isPaused):
            phase = .submitting(isPaused: isPaused)
            self.requestedAt = requestedAt
            return true
        case .lookingUp, .held, .stoppedWhileSubmitting, .stopping, .over:
            return false
        }
    }
}
