import Dispatch
import Errand
import Synchronization

/// The open transfers of a test transport: those that it plays, and those that it has passed to the transport beneath.
/// The table gives both their ids. Any thread.
final class TransferTable: Sendable {
    private enum Place {
        case played(PlayedTransfer)
        /// `submit` of the transport beneath has not returned yet.
        case passing(isCancelled: Bool)
        /// `late`: reports the end of the transfer itself.
        case passed(TransferID, late: ChaosReceiver?)
    }

    private struct State {
        var lastID: UInt64 = 0
        var places: [UInt64: Place] = [:]
        /// The closures of shutdowns; `nil`: the transport is open.
        var waiters: [@Sendable () -> Void]?
        var isBaseStopped = false

        /// The closures to call because everything has ended.
        mutating func stopIfIdle() -> [@Sendable () -> Void] {
            guard places.isEmpty, isBaseStopped, let waiters else { return [] }
            self.waiters = []
            return waiters
        }
    }

    private let state = Mutex(State())
    private let base: (any Transport)?
    private let stage: PlayedTransfer.Stage

    /// `base`: the transport beneath, which is shut down together with this one; `nil`: none.
    init(over base: (any Transport)?, _ label: String, clock: any Clock<Duration>) {
        self.base = base
        stage = PlayedTransfer.Stage(queue: DispatchQueue(label: label), stopwatch: Stopwatch(clock))
    }

    /// The stopwatch of the clock.
    var stopwatch: Stopwatch { stage.stopwatch }

    // MARK: Opening

    /// Opens a transfer that the transport answers by itself. Throws ``ErrandError/shutDown``. `uploadLimit`: the most bytes
    /// of an upload that are kept for the answer.
    func play(
        _ description: RequestDescription, for receiver: TransferReceiver, uploadLimit: Int
    ) throws(ErrandError) -> (id: TransferID, transfer: PlayedTransfer) {
        let stage = stage
        let opened = state.withLock { state -> (id: UInt64, transfer: PlayedTransfer)? in
            guard state.waiters == nil else { return nil }
            state.lastID += 1
            let id = state.lastID
            let transfer = PlayedTransfer(
                description, for: receiver, on: stage, uploadLimit: uploadLimit
            ) { [self] in
                close(TransferID(rawValue: id))
            }
            state.places[id] = .played(transfer)
            return (id, transfer)
        }
        guard let opened else { throw .shutDown }
        return (TransferID(rawValue: opened.id), opened.transfer)
    }

    /// Passes a transfer to the transport beneath. `receiver`: makes the receiver of the events, given the id of the
    /// transfer. A ``ChaosReceiver`` calls ``close(_:)`` itself.
    func pass(
        _ description: RequestDescription, for receiver: (TransferID) -> TransferReceiver
    ) throws(ErrandError) -> TransferID {
        // Only transports with one beneath pass transfers on.
        guard let base else { throw .internalFailure }
        let opened = state.withLock { state -> UInt64? in
            guard state.waiters == nil else { return nil }
            state.lastID += 1
            state.places[state.lastID] = .passing(isCancelled: false)
            return state.lastID
        }
        guard let number = opened else { throw .shutDown }
        let id = TransferID(rawValue: number)
        let made = receiver(id)
        let late = made as? ChaosReceiver
        var relay = made
        if late == nil { relay = PassedReceiver(made, of: self, id) }
        let beneath: TransferID
        do throws(ErrandError) {
            beneath = try base.submit(description, for: relay)
        } catch {
            close(id)
            throw error
        }
        let isCancelled = state.withLock { state -> Bool in
            // The transfer may have ended before `submit` returned. A late receiver may have ended before the transfer
            // beneath.
            guard case .passing(let isCancelled) = state.places[number] else { return late != nil }
            state.places[number] = .passed(beneath, late: late)
            return isCancelled
        }
        if isCancelled {
            base.cancel(beneath)
            // The transfer beneath may already have ended, with its end held back.
            late?.cancelled()
        }
        return id
    }

    /// The last event of a transfer was delivered.
    func close(_ id: TransferID) {
        let waiters = state.withLock { state in
            state.places.removeValue(forKey: id.rawValue)
            return state.stopIfIdle()
        }
        for stopped in waiters { stopped() }
    }

    // MARK: Orders

    private func order(
        _ id: TransferID, played: (PlayedTransfer) -> Void, passed: (any Transport, TransferID) -> Void
    ) {
        switch state.withLock({ $0.places[id.rawValue] }) {
        case .played(let transfer): played(transfer)
        case .passed(let beneath, _): if let base { passed(base, beneath) }
        case .passing, nil: break
        }
    }

    func cancel(_ id: TransferID) {
        let late = state.withLock { state -> ChaosReceiver? in
            switch state.places[id.rawValue] {
            case .passing: state.places[id.rawValue] = .passing(isCancelled: true)
            case .passed(_, let late): return late
            case .played, nil: break
            }
            return nil
        }
        order(id, played: { $0.cancel() }, passed: { $0.cancel($1) })
        late?.cancelled()
    }

    func pause(_ id: TransferID) {
        order(id, played: { $0.setPaused(true) }, passed: { $0.pause($1) })
    }

    func resume(_ id: TransferID) {
        order(id, played: { $0.setPaused(false) }, passed: { $0.resume($1) })
    }

    func grant(_ id: TransferID, bytes: Int) {
        order(id, played: { $0.grant(bytes) }, passed: { $0.grant($1, bytes: bytes) })
    }

    /// `exceeded`: called for a played transfer with the beginning of a body that is longer than its limit.
    func write(
        _ bytes: UnsafeRawBufferPointer, to id: TransferID,
        exceeded: (PlayedTransfer, [UInt8]) -> Void = { _, _ in }
    ) {
        order(
            id,
            played: { transfer in
                if let beginning = transfer.write(bytes) { exceeded(transfer, beginning) }
            }, passed: { $0.write(bytes, to: $1) })
    }

    /// `finished`: called for a played transfer with its body.
    func finishUpload(_ id: TransferID, finished: (PlayedTransfer, [UInt8]) -> Void) {
        order(
            id,
            played: { transfer in
                if let bytes = transfer.finishUpload() { finished(transfer, bytes) }
            }, passed: { $0.finishUpload($1) })
    }

    /// `failed`: called for a played transfer, before its end.
    func failUpload(_ id: TransferID, failed: (PlayedTransfer) -> Void = { _ in }) {
        order(
            id,
            played: { transfer in
                failed(transfer)
                transfer.failUpload()
            }, passed: { $0.failUpload($1) })
    }

    func restartUpload(_ id: TransferID, after attempt: Int) {
        order(id, played: { $0.restartUpload() }, passed: { $0.restartUpload($1, after: attempt) })
    }

    // MARK: The end

    func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        let places = state.withLock { state in
            state.waiters = (state.waiters ?? []) + [stopped]
            let places = state.places.sorted { $0.key < $1.key }
            // Their calls of `submit` are about to return, and will find that the transfers were cancelled.
            for case (let number, .passing) in places { state.places[number] = .passing(isCancelled: true) }
            return places.map(\.value)
        }
        for place in places {
            switch place {
            case .played(let transfer): transfer.cancel()
            // The transport beneath ends the transfers that it still has.
            case .passed(_, let late): late?.cancelled()
            case .passing: break
            }
        }
        let baseStopped: @Sendable () -> Void = { [self] in
            let waiters = state.withLock { state in
                state.isBaseStopped = true
                return state.stopIfIdle()
            }
            for stopped in waiters { stopped() }
        }
        guard let base else { return baseStopped() }
        base.shutdown(baseStopped)
    }
}

/// Forwards the events of a passed transfer, and closes its place at the end.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
private final class PassedReceiver: TransferReceiver, @unchecked Sendable {
    private let receiver: TransferReceiver
    private let table: TransferTable
    private let id: TransferID

    init(_ receiver: TransferReceiver, of table: TransferTable, _ id: TransferID) {
        self.receiver = receiver
        self.table = table
        self.id = id
        super.init(callbacks: receiver.callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) {
        receiver.accept(event)
        if case .ended = event { table.close(id) }
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }
}
