import Synchronization

/// Gives transfers ids of its own, whose two highest bits are clear. The ids of a user's transport may be any numbers,
/// so this transport is put between it and a transport that marks its own ids.
final class RenumberingTransport: StackedTransport, ShortIDTransport {
    private enum Passage: Sendable {
        /// The transport beneath has not returned its id yet.
        case submitting
        case open(TransferID)
    }

    private struct Table: Sendable {
        var lastID: UInt64 = 0
        /// The transfers that have not ended.
        var passages: [TransferID: Passage] = [:]
    }

    /// Forgets the id of a transfer when that ends.
    ///
    /// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
    private final class Passenger: ForwardingReceiver, @unchecked Sendable {
        private let id: TransferID
        private let owner: RenumberingTransport

        init(_ receiver: TransferReceiver, as id: TransferID, of owner: RenumberingTransport) {
            self.id = id
            self.owner = owner
            super.init(to: receiver)
        }

        override func receive(_ event: TransferEvent.Kind) {
            if case .ended = event { owner.forget(id) }
            super.receive(event)
        }
    }

    let base: any Transport
    var idsAreShort: Bool { true }
    private let table = Mutex(Table())

    init(_ base: any Transport) {
        self.base = base
    }

    /// The transfers that have not ended.
    var count: Int { table.withLock { $0.passages.count } }

    func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let id = table.withLock { table -> TransferID in
            table.lastID += 1
            let id = TransferID(rawValue: table.lastID)
            table.passages[id] = .submitting
            return id
        }
        let beneath: TransferID
        do throws(ErrandError) {
            beneath = try base.submit(description, for: Passenger(receiver, as: id, of: self))
        } catch {
            forget(id)
            throw error
        }
        table.withLock { table in
            // The transfer may have ended already.
            if table.passages[id] != nil { table.passages[id] = .open(beneath) }
        }
        return id
    }

    private func forget(_ id: TransferID) {
        table.withLock { _ = $0.passages.removeValue(forKey: id) }
    }

    /// The id that the transport beneath has given; `nil`: the transfer has ended.
    private func beneath(_ id: TransferID) -> TransferID? {
        guard case .open(let beneath)? = table.withLock({ $0.passages[id] }) else { return nil }
        return beneath
    }

    func cancel(_ id: TransferID) {
        if let id = beneath(id) { base.cancel(id) }
    }

    func pause(_ id: TransferID) {
        if let id = beneath(id) { base.pause(id) }
    }

    func resume(_ id: TransferID) {
        if let id = beneath(id) { base.resume(id) }
    }

    func grant(_ id: TransferID, bytes: Int) {
        if let id = beneath(id) { base.grant(id, bytes: bytes) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        if let id = beneath(id) { base.write(bytes, to: id) }
    }

    func write(shared bytes: SharedBytes, to id: TransferID) {
        if let id = beneath(id) { base.write(shared: bytes, to: id) }
    }

    func finishUpload(_ id: TransferID) {
        if let id = beneath(id) { base.finishUpload(id) }
    }

    func failUpload(_ id: TransferID) {
        if let id = beneath(id) { base.failUpload(id) }
    }

    func restartUpload(_ id: TransferID, after attempt: Int) {
        if let id = beneath(id) { base.restartUpload(id, after: attempt) }
    }

    func filesMayHaveChanged() { base.filesMayHaveChanged() }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}
