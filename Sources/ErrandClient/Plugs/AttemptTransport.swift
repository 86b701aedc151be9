/// Tells the observers of a client about each attempt on the wire: one call of ``submit(_:for:)`` is one attempt, with the
/// URL and the header block that are sent. Ids are those of the transport beneath.
package final class AttemptTransport: StackedTransport, ShortIDTransport {
    package let base: any Transport
    package var idsAreShort: Bool { base.hasShortIDs }
    /// The queue on which observers are called for attempts whose events are handled on a loop thread.
    private let queue = CallbackQueue.serial(label: "errand.attempts")

    package init(_ base: any Transport) {
        self.base = base
    }

    package func submit(
        _ description: RequestDescription, for receiver: TransferReceiver
    ) throws(ErrandError) -> TransferID {
        // The client gives each run a scope. Without a scope there are no observers.
        guard let scope = description.attemptScope else { return try base.submit(description, for: receiver) }
        var headers: HeaderBlock?
        let attempts = scope.attemptBegins(description, headers: &headers)
        guard let headers else { return try send(description, for: receiver, attempts, of: scope) }
        var description = description
        description.headers = headers
        return try send(description, for: receiver, attempts, of: scope)
    }

    private func send(
        _ description: RequestDescription, for receiver: TransferReceiver, _ attempts: ObservedAttempts,
        of scope: AttemptScope
    ) throws(ErrandError) -> TransferID {
        guard mayWatch(description, for: receiver), scope.watchBegins(attempts) else {
            return try sendApart(description, for: receiver, attempts, of: scope)
        }
        receiver.watchBegins(by: scope, number: 0, epoch: 0, flag: false, start: .zero)
        do throws(ErrandError) {
            return try base.submit(description, for: receiver)
        } catch {
            // A refused submission yields no event.
            _ = receiver.watchEnds()
            scope.watchedAttemptRefused(error)
            throw error
        }
    }

    /// Whether the scope may watch the attempt: the receiver is a request, nobody else watches it, and users' code may run
    /// on its queue. See `ResilientTransport.mayWatch` for reports.
    private func mayWatch(_ description: RequestDescription, for receiver: TransferReceiver) -> Bool {
        receiver.mayBeWatched && !receiver.isWatched && description.reports.isEmpty && !receiver.callbacks.isInline
    }

    /// Sends an attempt with a receiver of its own.
    @inline(never)
    private func sendApart(
        _ description: RequestDescription, for receiver: TransferReceiver, _ attempts: ObservedAttempts,
        of scope: AttemptScope
    ) throws(ErrandError) -> TransferID {
        let observed = AttemptReceiver(
            receiver, attempts, of: scope, queue: receiver.callbacks.isInline ? queue : nil)
        do throws(ErrandError) {
            return try base.submit(description, for: observed)
        } catch {
            // A refused submission yields no event.
            scope.attemptRefused()
            var attempts = attempts
            attempts.refused(error, of: scope)
            throw error
        }
    }

    // Orders go to the transport beneath, which has the same ids.

    package func cancel(_ id: TransferID) { base.cancel(id) }
    package func pause(_ id: TransferID) { base.pause(id) }
    package func resume(_ id: TransferID) { base.resume(id) }
    package func grant(_ id: TransferID, bytes: Int) { base.grant(id, bytes: bytes) }
    package func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) { base.write(bytes, to: id) }
    package func write(shared bytes: SharedBytes, to id: TransferID) { base.write(shared: bytes, to: id) }
    package func finishUpload(_ id: TransferID) { base.finishUpload(id) }
    package func failUpload(_ id: TransferID) { base.failUpload(id) }
    package func restartUpload(_ id: TransferID, after attempt: Int) { base.restartUpload(id, after: attempt) }
    package func filesMayHaveChanged() { base.filesMayHaveChanged() }

    /// The observers have heard of every attempt when `stopped` is called.
    package func shutdown(_ stopped: @escaping @Sendable () -> Void) {
        base.shutdown { [queue] in queue.async(stopped) }
    }
}

/// Passes the events of an attempt on, and tells the observers first.
///
/// `@unchecked Sendable`: `attempts` is read and written where the observers are called, which is one queue: the
/// receiver's, or `queue`. The rest of what this class adds is constant and itself safe to share.
private final class AttemptReceiver: TransferReceiver, @unchecked Sendable {
    private let receiver: TransferReceiver
    private var attempts: ObservedAttempts
    private let scope: AttemptScope
    /// The queue on which the observers are called; `nil`: they are called in place.
    private let queue: CallbackQueue?

    init(_ receiver: TransferReceiver, _ attempts: ObservedAttempts, of scope: AttemptScope, queue: CallbackQueue?) {
        self.receiver = receiver
        self.attempts = attempts
        self.scope = scope
        self.queue = queue
        super.init(callbacks: receiver.callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) {
        switch event {
        case .head, .ended: tell(event)
        case .resending:
            // The number is taken here: the next attempt may begin before `queue` comes to this one.
            let number = scope.attemptRepeated()
            if let queue { queue.async { self.tellRepeated(number) } } else { tellRepeated(number) }
        case .chunk, .uploadCredit, .started, .connected, .sent, .progress, .retrying, .notResent, .decided: break
        }
        receiver.accept(event)
    }

    override func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }

    private func tell(_ event: TransferEvent.Kind) {
        guard let queue else { return tellHere(event) }
        queue.async { self.tellHere(event) }
    }

    private func tellRepeated(_ number: Int) { attempts.repeated(number: number, of: scope) }

    private func tellHere(_ event: TransferEvent.Kind) {
        switch event {
        case .head(let head): attempts.headArrived(head, of: scope)
        case .ended(let result): attempts.ended(result, of: scope)
        case .chunk, .uploadCredit, .started, .connected, .sent, .progress, .retrying, .resending, .notResent, .decided:
            break
        }
    }
}
