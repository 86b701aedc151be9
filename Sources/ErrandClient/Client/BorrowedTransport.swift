import Synchronization

/// Wraps a transport that the client did not make, or shares with other clients. The wrapper tracks the client's own
/// transfers, so that a shutdown ends only those and leaves the transport running for its other users.
final class BorrowedTransport: ShortIDTransport {
    private enum Phase {
        case open
        /// No more transfers are accepted; the closures wait for the end of the open ones.
        case stopping([@Sendable () -> Void])
        case stopped
    }

    private struct State: ~Copyable {
        var phase = Phase.open
        var open: [ObjectIdentifier: Loan] = [:]

        /// The closures to call because no transfer is open any more.
        mutating func stopIfIdle() -> [@Sendable () -> Void] {
            guard open.isEmpty, case .stopping(let waiters) = phase else { return [] }
            phase = .stopped
            return waiters
        }
    }

    /// The receiver of one transfer: forwards its events and notes its end.
    ///
    /// `@unchecked Sendable`: `id` and `hasEnded` are read and written only inside `owner.state.withLock`, the rest is
    /// constant.
    private final class Loan: TransferReceiver, @unchecked Sendable {
        let receiver: TransferReceiver
        let owner: BorrowedTransport
        /// `nil` until `submit` of the wrapped transport has returned.
        nonisolated(unsafe) var id: TransferID?
        /// Whether the transfer's end is being reported: there is nothing to cancel then.
        nonisolated(unsafe) var hasEnded = false

        init(_ receiver: TransferReceiver, of owner: BorrowedTransport) {
            self.receiver = receiver
            self.owner = owner
            super.init(callbacks: receiver.callbacks)
        }

        override func receive(_ event: TransferEvent.Kind) {
            guard case .ended = event else { return receiver.accept(event) }
            owner.state.withLock { _ in hasEnded = true }
            receiver.accept(event)
            owner.close(self)
        }

        override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }
    }

    let base: any Transport
    /// The client's share of the engine beneath; `nil`: the transport belongs to somebody else.
    private let lease: EngineLease?
    private let state = Mutex(State())

    var idsAreShort: Bool { base.hasShortIDs }

    init(_ base: any Transport) {
        self.base = base
        lease = nil
    }

    /// Wraps a shared engine. The share is given back after the client's last transfer.
    init(_ lease: EngineLease) {
        base = lease.transport
        self.lease = lease
    }

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        guard let loan = open(for: receiver) else { throw .shutDown }
        do throws(ErrandError) {
            let id = try base.submit(description, for: loan)
            entered(loan, as: id)
            return id
        } catch {
            close(loan)
            throw error
        }
    }

    /// Opens a loan for `receiver`; `nil` after the client's shutdown.
    private func open(for receiver: TransferReceiver) -> Loan? {
        let loan = Loan(receiver, of: self)
        return state.withLock { state in
            guard case .open = state.phase else { return nil }
            state.open[ObjectIdentifier(loan)] = loan
            return loan
        }
    }

    /// Records the transfer's id. A shutdown before this point could not cancel the transfer, so this function does.
    private func entered(_ loan: Loan, as id: TransferID) {
        let isToEnd = state.withLock { state in
            loan.id = id
            guard case .stopping = state.phase else { return false }
            return state.open[ObjectIdentifier(loan)] != nil && !loan.hasEnded
        }
        if isToEnd { base.cancel(id) }
    }

    private func close(_ loan: Loan) {
        let waiters = state.withLock { state in
            guard state.open.removeValue(forKey: ObjectIdentifier(loan)) != nil else {
                return [] as [@Sendable () -> Void]
            }
            return state.stopIfIdle()
        }
        for stopped in waiters { stopped() }
    }

    func cancel(_ id: TransferID) { base.cancel(id) }
    func pause(_ id: TransferID) { base.pause(id) }
    func resume(_ id: TransferID) { base.resume(id) }
    func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    func write(shared bytes: SharedBytes, to id: TransferID) { base.write(shared: bytes, to: id) }
    func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    func failUpload(_ id: TransferID) { base.failUpload(id) }
    func restartUpload(_ id: TransferID, after attempt: Int) { base.restartUpload(id, after: attempt) }
    func filesMayHaveChanged() { base.filesMayHaveChanged() }

    /// Ends the client's transfers. Does not shut down the wrapped transport, unless this was the last client of a
    /// shared engine.
    func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        guard let lease else { return endTransfers(stopped) }
        endTransfers { lease.end(stopped) }
    }

    private func endTransfers(_ stopped: @escaping @Sendable () -> Void) {
        let (ids, waiters) = state.withLock { state -> ([TransferID], [@Sendable () -> Void]) in
            switch state.phase {
            case .open: state.phase = .stopping([stopped])
            case .stopping(let waiters): state.phase = .stopping(waiters + [stopped])
            case .stopped: return ([], [stopped])
            }
            // In the order of submission, as an engine ends them.
            let ids = state.open.values.compactMap { $0.hasEnded ? nil : $0.id }.sorted { $0.rawValue < $1.rawValue }
            return (ids, state.stopIfIdle())
        }
        for id in ids { base.cancel(id) }
        for stopped in waiters { stopped() }
    }
}
