/// One transfer of the wrapped transport, and the equal requests that share it.
///
/// `@unchecked Sendable`: everything that varies is read and written only while the table of its
/// ``CoalescingTransport`` is locked.
final class SharedTransfer: TransferReceiver, @unchecked Sendable {
    enum Phase {
        /// Submitted. Cancelled when the last member leaves, and paused while all members are paused.
        case running(TransferControl)
        /// Ended or refused.
        case over
    }

    struct Member {
        let id: TransferID
        let receiver: TransferReceiver
        var isPaused = false
        /// Ends the membership when `Timeouts.total` expires.
        var timer: Task<Void, Never>?
    }

    /// `nil`: the transfer is never shared.
    let key: SharedTransferKey?
    /// When the transfer was sent, in milliseconds since 1970, if known.
    let sentAt: Int64?
    /// The scope of the request that has opened the transfer.
    let scope: AttemptScope?
    /// The members in the order in which they joined.
    // This and what follows: read and written only while the table is locked.
    nonisolated(unsafe) private(set) var members: [Member] = []
    // As `members`.
    nonisolated(unsafe) private(set) var phase = Phase.running(TransferControl())
    private let transport: CoalescingTransport

    /// Opened by the request with this description.
    init(
        _ key: SharedTransferKey?, _ description: RequestDescription, of transport: CoalescingTransport,
        events: CallbackQueue
    ) {
        self.key = key
        sentAt = description.sendingMoment?.time
        scope = description.attemptScope
        self.transport = transport
        super.init(callbacks: events)
    }

    override func receive(_ event: TransferEvent.Kind) {
        transport.receive(event, of: self)
    }

    // MARK: While the table is locked

    func join(_ receiver: TransferReceiver, as id: TransferID) {
        members.append(Member(id: id, receiver: receiver))
    }

    /// Removes and returns the member, if there is one with this id.
    func leave(_ id: TransferID) -> Member? {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return nil }
        return members.remove(at: index)
    }

    /// `nil`: not known yet, or the transfer has ended.
    var baseID: TransferID? {
        guard case .running(let control) = phase else { return nil }
        return control.id
    }

    /// `submit` has returned; the transfer may have ended before.
    func opened(_ id: TransferID) -> TransferControl.Order {
        change { $0.opened(id) }
    }

    /// Ends the transfer and returns its members. Only these members get the end.
    func end() -> [Member] {
        phase = .over
        defer { members = [] }
        return members
    }

    func setPaused(_ paused: Bool, _ id: TransferID) {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return }
        members[index].isPaused = paused
    }

    func setTimer(_ timer: Task<Void, Never>, _ id: TransferID) -> Bool {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return false }
        members[index].timer = timer
        return true
    }

    /// What the wrapped transport must do after members joined, left, paused or resumed. The transfer runs as long as
    /// one member is not paused.
    func reconcile() -> TransferControl.Order {
        let (isLeft, areAllPaused) = (members.isEmpty, members.allSatisfy(\.isPaused))
        return change { isLeft ? $0.cancel() : $0.setPaused(areAllPaused) }
    }

    /// The order that undoes `order` if the members have changed since.
    func performed(_ order: TransferControl.Order) -> TransferControl.Order {
        change { $0.performed(order) }
    }

    private func change(_ body: (inout TransferControl) -> TransferControl.Order) -> TransferControl.Order {
        guard case .running(var control) = phase else { return .none }
        defer { phase = .running(control) }
        return body(&control)
    }
}
