import Synchronization

/// Makes an entry of each transfer that passes. Ids are those of the transport beneath. A submission that the transport
/// refuses has no entry, because nothing is sent.
package final class HARTransport: StackedTransport {
    package let base: any Transport
    private let options: HAROptions
    private let stopwatch: Stopwatch
    private let onEntry: @Sendable (HAR.Entry) -> Void
    /// The open transfers whose bodies are written.
    private let uploads = Mutex<[TransferID: HARExchange]>([:])

    /// `onEntry`: called at the end of each transfer, on the receiver's queue, before the receiver gets the end.
    package init(
        _ base: any Transport, _ options: HAROptions, stopwatch: Stopwatch,
        onEntry: @escaping @Sendable (HAR.Entry) -> Void
    ) {
        self.base = base
        self.options = options
        self.stopwatch = stopwatch
        self.onEntry = onEntry
    }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        let exchange = HARExchange(description, options, stopwatch, started: HARTime.now())
        let id = try base.submit(description, for: HARReceiver(receiver, exchange, of: self))
        switch description.body {
        case .none, .bytes, .data, .shared, .file: break
        case .stream, .source:
            uploads.withLock { uploads in
                // The transfer may have ended before `submit` returned.
                if exchange.opened(id) { uploads[id] = exchange }
            }
        }
        return id
    }

    fileprivate func ended(_ exchange: HARExchange, with entry: HAR.Entry) {
        if let id = exchange.ended() { _ = uploads.withLock { $0.removeValue(forKey: id) } }
        onEntry(entry)
    }

    private func exchange(_ id: TransferID) -> HARExchange? { uploads.withLock { $0[id] } }

    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {
        exchange(id)?.wrote(bytes)
        base.write(bytes, to: id)
    }

    package func write(shared bytes: SharedBytes, to id: TransferID) {
        if let exchange = exchange(id) { bytes.withUnsafeBytes { exchange.wrote($0) } }
        base.write(shared: bytes, to: id)
    }

    package func finishUpload(_ id: TransferID) {
        exchange(id)?.finished()
        base.finishUpload(id)
    }

    package func restartUpload(_ id: TransferID, after attempt: Int) {
        exchange(id)?.restarted()
        base.restartUpload(id, after: attempt)
    }

    package func cancel(_ id: TransferID) { base.cancel(id) }
    package func pause(_ id: TransferID) { base.pause(id) }
    package func resume(_ id: TransferID) { base.resume(id) }
    package func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    package func failUpload(_ id: TransferID) { base.failUpload(id) }
    package func filesMayHaveChanged() { base.filesMayHaveChanged() }
    package func shutdown(_ stopped: @escaping @Sendable () -> Void) { base.shutdown(stopped) }
}

/// Shows the events of a transfer to its exchange.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
private final class HARReceiver: TransferReceiver, @unchecked Sendable {
    private let receiver: TransferReceiver
    private let exchange: HARExchange
    private let owner: HARTransport

    init(_ receiver: TransferReceiver, _ exchange: HARExchange, of owner: HARTransport) {
        self.receiver = receiver
        self.exchange = exchange
        self.owner = owner
        super.init(callbacks: receiver.callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) {
        if let entry = exchange.take(event) { owner.ended(exchange, with: entry) }
        receiver.accept(event)
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }
}
