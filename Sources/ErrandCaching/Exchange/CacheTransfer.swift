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
        /// Passed to the transport beneath.
        case sent(TransferControl)
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
    /// The number of the last submission to the transport beneath.
    // As `phase`.
    nonisolated(unsafe) private var submission = 0
    /// Whether the receiver's side knows the transfer's number. From then on, errors are delivered, not thrown.
    // As `phase`.
    nonisolated(unsafe) var isEntered = false
    /// Whether the request is sent for the second time, without conditions.
    // As `phase`.
    nonisolated(unsafe) var isAskedAgain = false
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
        guard case .sent(let control) = phase else { return nil }
        return control.id
    }

    enum Control {
        case none
        /// For the transport beneath.
        case order(TransferControl.Order)
        /// Report the cancellation to the receiver.
        case end
        case deliver(Response, CacheSource)
    }

    func cancelRequested() -> Control {
        switch phase {
        case .lookingUp, .held:
            phase = .over
            return .end
        case .sent(var control):
            defer { phase = .sent(control) }
            return .order(control.cancel())
        case .over:
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
        case .sent(var control):
            defer { phase = .sent(control) }
            return .order(control.setPaused(isPaused))
        case .over:
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
        case .held, .sent, .over:
            // Cancelled or timed out meanwhile.
            return .none
        }
    }

    /// No response was found. Returns the submission's number; `nil` if the transfer is not wanted any more.
    func willSubmit(_ question: CacheQuestion, requestedAt: Int64) -> Int? {
        guard case .lookingUp(let isPaused) = phase else { return nil }
        self.question = question
        return submits(isPaused: isPaused, requestedAt)
    }

    /// The transfer ended and the request is to be sent again. Returns the submission's number; `nil` if the transfer
    /// was cancelled meanwhile.
    func willSubmitAgain(requestedAt: Int64) -> Int? {
        guard case .sent(let control) = phase, !control.isCancelled else { return nil }
        return submits(isPaused: control.isPaused, requestedAt)
    }

    private func submits(isPaused: Bool, _ time: Int64) -> Int {
        phase = .sent(TransferControl(isPaused: isPaused))
        requestedAt = time
        submission += 1
        return submission
    }

    /// The transport beneath has accepted a submission. The transfer may have ended before `submit` returned, and even
    /// have been submitted again: `number` distinguishes a late return from the current one.
    func opened(_ id: TransferID, submission number: Int) -> Control {
        guard number == submission, case .sent(var control) = phase else { return .none }
        defer { phase = .sent(control) }
        return .order(control.opened(id))
    }

    func performed(_ order: TransferControl.Order) -> Control {
        guard case .sent(let control) = phase else { return .none }
        return .order(control.performed(order))
    }
}
