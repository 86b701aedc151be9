import Synchronization

/// One transfer of a cached request: looked up in the cache, then sent if necessary.
///
/// `@unchecked Sendable`: the mutable members are read and written only while the table of its ``CacheCarrier`` is
/// locked.
final class CacheTransfer: TransferReceiver, @unchecked Sendable {
    enum Phase {
        /// The store has not answered yet.
        case lookingUp(isPaused: Bool)
        /// The store has answered, while the transfer is paused.
        case held(Response, CacheSource)
        /// Passed to the transport beneath, whose `submit` has not returned yet.
        case submitting(isPaused: Bool)
        case stoppedWhileSubmitting
        case open(TransferID, isPaused: Bool)
        /// Cancelled; its end has not arrived yet.
        case stopping(TransferID)
        case over
    }

    let id: TransferID
    /// The receiver of the transfer; `nil` for a background revalidation.
    let receiver: TransferReceiver?
    let description: RequestDescription
    let plan: ResponseCachePlan?
    let base: any Transport
    private let carrier: CacheCarrier
    private let waits = Atomic<Bool>(false)
    /// When the transfer that this one joined was sent; 0: not known.
    private let joinedAt = Atomic<Int64>(0)
    // This member and the following ones are read and written only while the table is locked.
    nonisolated(unsafe) var phase = Phase.lookingUp(isPaused: false)
    // As `phase`.
    nonisolated(unsafe) var question = CacheQuestion.none
    /// When the request was sent, in milliseconds since 1970.
    // As `phase`.
    nonisolated(unsafe) var requestedAt: Int64 = 0
    /// Whether the receiver's side knows the transfer's number. From then on, errors are delivered, not thrown.
    // As `phase`.
    nonisolated(unsafe) var isEntered = false
    /// The error that `submit` throws.
    // As `phase`.
    nonisolated(unsafe) var refusal: ErrandError?
    /// Start of the wait, for a lookup that continues after `submit`.
    // As `phase`.
    nonisolated(unsafe) var waitsSince: Duration?
    /// Ends the transfer when `Timeouts.total` expires before anything was sent.
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

    /// Called by the transport beneath, on the receiver's queue. This passes the event to the receiver.
    override func receive(_ event: TransferEvent.Kind) {
        guard case .ended(let result) = event else { return receiver?.receive(event) ?? () }
        carrier.ended(self, with: result)
    }

    /// Called before the transfer is submitted.
    func sendsItself() { waits.store(false, ordering: .relaxed) }

    override func joined(sentAt time: Int64?) {
        joinedAt.store(time ?? 0, ordering: .relaxed)
        waits.store(true, ordering: .relaxed)
    }

    /// When the request for the delivered response was sent. For a coalesced transfer that is another request (RFC 9111
    /// 4.2.3).
    func sentAt(own: Int64) -> Int64 {
        let time = isCollapsed ? joinedAt.load(ordering: .relaxed) : 0
        return time == 0 ? own : min(own, time)
    }

    /// Whether the transfer waited for an equal one instead of being sent (RFC 9211 2.7). ``joined(sentAt:)`` is called
    /// before the end of the transfer.
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
        /// Report the cancellation to the receiver.
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

    /// A response was found without the network.
    func found(_ response: Response, _ source: CacheSource) -> Control {
        switch phase {
        case .lookingUp(true):
            phase = .held(response, source)
            return .none
        case .lookingUp(false):
            phase = .over
            return .deliver(response, source)
        case .held, .submitting, .stoppedWhileSubmitting, .open, .stopping, .over:
            // Cancelled or timed out meanwhile.
            return .none
        }
    }

    /// No response was found. Returns whether the transfer is still wanted.
    func willSubmit(_ question: CacheQuestion, requestedAt: Int64) -> Bool {
        guard case .lookingUp(let isPaused) = phase else { return false }
        phase = .submitting(isPaused: isPaused)
        self.question = question
        self.requestedAt = requestedAt
        return true
    }

    /// The transport beneath has accepted the transfer. An earlier pause is passed on.
    func opened(_ id: TransferID) -> Control {
        switch phase {
        case .submitting(let isPaused):
            phase = .open(id, isPaused: isPaused)
            return isPaused ? .pause(id) : .none
        case .stoppedWhileSubmitting:
            phase = .stopping(id)
            return .cancel(id)
        case .lookingUp, .held, .open, .stopping, .over:
            // The transfer ended before `submit` returned.
            return .none
        }
    }

    /// The control that undoes `control` where another thread has asked for the opposite since.
    func performed(_ control: Control) -> Control {
        guard case .open(let id, let isPaused) = phase else { return .none }
        switch control {
        case .pause: return isPaused ? .none : .resume(id)
        case .resume: return isPaused ? .pause(id) : .none
        case .none, .cancel, .end, .deliver: return .none
        }
    }

    /// The transfer ended and the request is to be sent again. Returns false where it was cancelled meanwhile.
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
