import Synchronization

/// Coalesces the transfers of requests with ``CommandOptions/coalesced``, in front of a client's transport. While a
/// transfer is under way, equal requests are not sent; they get the result of that transfer.
///
/// A cancelled member leaves the transfer. The transfer itself is cancelled when the last member leaves, and paused
/// while all members are paused. Each redirect or replay of a request is a separate transfer, which joins another one or
/// opens a new one.
///
/// Joining is decided at once, under the lock. Everything else (events and leaving) goes through one serial inline
/// queue. Therefore members get events in order, and no event of a transfer after its end. User code is called neither
/// under the lock nor from here, because members' events go to their own queues.
package final class CoalescingTransport: Transport {
    private let base: any Transport
    private let stopwatch: Stopwatch
    private let events = CallbackQueue.inline()
    private let table = Mutex(Table())

    private struct Table: ~Copyable {
        var lastID: UInt64 = 0
        /// The transfers that may be joined.
        var shared: [SharedTransferKey: SharedTransfer] = [:]
        var transfers: [TransferID: SharedTransfer] = [:]

        mutating func forget(_ transfer: SharedTransfer) {
            guard let key = transfer.key, shared[key] === transfer else { return }
            shared[key] = nil
        }
    }

    package init(_ base: any Transport, stopwatch: Stopwatch) {
        self.base = base
        self.stopwatch = stopwatch
    }

    /// The number of transfers that may be joined now.
    var count: Int { table.withLock { $0.shared.count } }
    /// The number of requests with a transfer here, whether shared or not.
    var memberCount: Int { table.withLock { $0.transfers.count } }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let key = SharedTransferKey(description)
        let (id, transfer, isNew) = table.withLock { table in
            table.lastID += 1
            let id = TransferID(rawValue: table.lastID)
            let present = key.flatMap { table.shared[$0] }
            let transfer = present ?? SharedTransfer(key, description, of: self, events: events)
            if present != nil { receiver.joined(sentAt: transfer.sentAt) }
            transfer.join(receiver, as: id)
            table.transfers[id] = transfer
            if let key, present == nil { table.shared[key] = transfer }
            return (id, transfer, present == nil)
        }
        if isNew {
            try open(transfer, description, for: id)
        } else {
            if let opener = transfer.scope { description.attemptScope?.joined(opener) }
            // The transfer may be paused, with all other members.
            events.async { [self] in reconcile(transfer) }
        }
        if key != nil, let total = description.settings.timeouts.total?.duration {
            startTimer(total, of: id, in: transfer)
        }
        return id
    }

    private func open(
        _ transfer: SharedTransfer, _ description: RequestDescription, for id: TransferID
    ) throws(ErrandError) {
        do throws(ErrandError) {
            var description = description
            if transfer.key != nil { description.settings = try description.settings.with(total: nil) }
            let baseID = try base.submit(description, for: transfer)
            // Members may have left or paused while the transfer was submitted.
            let order = table.withLock { _ in transfer.opened(baseID) }
            if order != .none { events.async { [self] in perform(order, on: transfer) } }
        } catch {
            let others = end(transfer).filter { $0.id != id }
            // The other members may have sent something before, by a redirect or a replay; this is not known here.
            let failure = error.with(isRefusal: false)
            TransferReceiver.deliver(others.map { TransferEvent($0.receiver, .ended(.failure(failure))) })
            throw error
        }
    }

    private func startTimer(_ total: Duration, of id: TransferID, in transfer: SharedTransfer) {
        let timer = Task { [self] in
            guard (try? await stopwatch.sleep(for: total)) != nil else { return }
            leave(id, with: .timeoutTotal)
        }
        if !table.withLock({ _ in transfer.setTimer(timer, id) }) { timer.cancel() }
    }

    // MARK: The transport beneath reports here, on `events`

    func receive(_ event: TransferEvent.Kind, of transfer: SharedTransfer) {
        let members: [SharedTransfer.Member]
        if case .ended = event {
            members = end(transfer)
        } else {
            members = table.withLock { _ in transfer.members }
        }
        TransferReceiver.deliver(members.map { TransferEvent($0.receiver, event) })
    }

    private func end(_ transfer: SharedTransfer) -> [SharedTransfer.Member] {
        let members = table.withLock { table in
            table.forget(transfer)
            let members = transfer.end()
            for member in members { table.transfers[member.id] = nil }
            return members
        }
        for member in members { member.timer?.cancel() }
        return members
    }

    // MARK: Members

    package func cancel(_ id: TransferID) {
        leave(id, with: .cancelled)
    }

    private func leave(_ id: TransferID, with error: ErrandError) {
        events.async { [self] in
            let (transfer, member) = table.withLock { table in
                let transfer = table.transfers.removeValue(forKey: id)
                let member = transfer?.leave(id)
                // The transfer is cancelled now, or as soon as it is submitted, and must not be joined any more.
                if let transfer, transfer.members.isEmpty { table.forget(transfer) }
                return (transfer, member)
            }
            guard let transfer, let member else { return }
            member.timer?.cancel()
            TransferReceiver.deliver(CollectionOfOne(TransferEvent(member.receiver, .ended(.failure(error)))))
            reconcile(transfer)
        }
    }

    package func pause(_ id: TransferID) {
        setPaused(true, id)
    }

    package func resume(_ id: TransferID) {
        setPaused(false, id)
    }

    private func setPaused(_ paused: Bool, _ id: TransferID) {
        events.async { [self] in
            let transfer = table.withLock { table in
                table.transfers[id]?.setPaused(paused, id)
                return table.transfers[id]
            }
            if let transfer { reconcile(transfer) }
        }
    }

    /// Called on `events`, so that pauses and resumes reach the transport in the order in which they were decided.
    private func reconcile(_ transfer: SharedTransfer) {
        perform(table.withLock { _ in transfer.reconcile() }, on: transfer)
    }

    private func perform(_ first: TransferControl.Order, on transfer: SharedTransfer) {
        var order = first
        while order != .none {
            base.perform(order)
            order = table.withLock { _ in transfer.performed(order) }
        }
    }

    // MARK: What is never shared has one member

    private func baseID(_ id: TransferID) -> TransferID? {
        table.withLock { table in
            table.transfers[id]?.baseID
        }
    }

    package func grant(_ id: TransferID, bytes: Int) {
        if let id = baseID(id) { base.grant(id, bytes: bytes) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        if let id = baseID(id) { base.write(bytes, to: id) }
    }

    package func write(shared bytes: SharedBytes, to id: TransferID) {
        if let id = baseID(id) { base.write(shared: bytes, to: id) }
    }

    package func finishUpload(_ id: TransferID) {
        if let id = baseID(id) { base.finishUpload(id) }
    }

    package func failUpload(_ id: TransferID) {
        if let id = baseID(id) { base.failUpload(id) }
    }

    package func restartUpload(_ id: TransferID, after attempt: Int) {
        if let id = baseID(id) { base.restartUpload(id, after: attempt) }
    }

    package func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        base.shutdown(stopped)
    }

    package func filesMayHaveChanged() { base.filesMayHaveChanged() }
}
