import Synchronization

/// A transport that the client did not make, as this client uses it: it knows the client's own transfers, so that a
/// shutdown ends these alone and leaves the transport running for whoever else uses it.
final class BorrowedTransport: Transport {
    private enum Phase {
        case open
        /// Nothing more is taken; these wait for the end of what is open.
        case stopping([@Sendable () -> Void])
        case stopped
    }

    private struct State: ~Copyable {
        var phase = Phase.open
        var open: [ObjectIdentifier: Loan] = [:]

        /// Whom to tell that nothing is open any more.
        mutating func lookForEnd() -> [@Sendable () -> Void] {
            guard open.isEmpty, case .stopping(let waiters) = phase else { return [] }
            phase = .stopped
            return waiters
        }
    }

    /// The receiver of one transfer: hands on what it is told, and notes the end.
    ///
    /// `@unchecked Sendable`: `id` and `hasEnded` are read and written only inside `owner.state.withLock`, the rest is
    /// constant.
    private final class Loan: TransferReceiver, @unchecked Sendable {
        let receiver: TransferReceiver
        let owner: BorrowedTransport
        /// `nil` until `submit` of the transport beneath has returned.
        nonisolated(unsafe) var id: TransferID?
        /// Its end is being told: there is nothing to cancel.
        nonisolated(unsafe) var hasEnded = false

        init(_ receiver: TransferReceiver, of owner: BorrowedTransport) {
            self.receiver = receiver
            self.owner = owner
            super.init(callbacks: receiver.callbacks)
        }

        override func receive(_ event: TransferEvent.Kind) {
            guard case .ended = event else { return receiver.receive(event) }
            owner.state.withLock { _ in hasEnded = true }
            receiver.receive(event)
            owner.close(self)
        }

        override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }
    }

    let base: any Transport
    private let state = Mutex(State())

    init(_ base: any Transport) {
        self.base = base
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

    func submit(_ submissions: [TransferSubmission]) -> [Result<TransferID, ErrandError>] {
        let loans = submissions.map { open(for: $0.receiver) }
        let lent = zip(submissions, loans).compactMap { submission, loan in
            loan.map { TransferSubmission(submission.description, for: $0) }
        }
        var results = base.submit(lent).makeIterator()
        return loans.map { loan in
            guard let loan, let result = results.next() else { return .failure(.shutDown) }
            switch result {
            case .success(let id): entered(loan, as: id)
            case .failure: close(loan)
            }
            return result
        }
    }

    /// `nil` after the client's shutdown.
    private func open(for receiver: TransferReceiver) -> Loan? {
        let loan = Loan(receiver, of: self)
        return state.withLock { state in
            guard case .open = state.phase else { return nil }
            state.open[ObjectIdentifier(loan)] = loan
            return loan
        }
    }

    /// The transfer's name is known. A shutdown that came in between could not cancel it.
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
            return state.lookForEnd()
        }
        for stopped in waiters { stopped() }
    }

    func cancel(_ id: TransferID) { base.cancel(id) }
    func pause(_ id: TransferID) { base.pause(id) }
    func resume(_ id: TransferID) { base.resume(id) }
    func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    func failUpload(_ id: TransferID) { base.failUpload(id) }
    func filesMayHaveChanged() { base.filesMayHaveChanged() }

    /// Ends the client's transfers; the transport beneath is not shut down.
    func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        let (ids, waiters) = state.withLock { state -> ([TransferID], [@Sendable () -> Void]) in
            switch state.phase {
            case .open: state.phase = .stopping([stopped])
            case .stopping(let waiters): state.phase = .stopping(waiters + [stopped])
            case .stopped: return ([], [stopped])
            }
            // In the order in which they were taken, as an engine ends them.
            let ids = state.open.values.compactMap { $0.hasEnded ? nil : $0.id }.sorted { $0.rawValue < $1.rawValue }
            return (ids, state.lookForEnd())
        }
        for id in ids { base.cancel(id) }
        for stopped in waiters { stopped() }
    }
}
