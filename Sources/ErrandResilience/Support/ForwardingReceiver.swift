/// Passes the events of a transfer to another receiver, on that receiver's queue. Subclasses look at the events.
///
/// `@unchecked Sendable`: what this class adds is constant and itself safe to share.
class ForwardingReceiver: TransferReceiver, @unchecked Sendable {
    private let receiver: TransferReceiver

    init(to receiver: TransferReceiver) {
        self.receiver = receiver
        super.init(callbacks: receiver.callbacks)
    }

    override func receive(_ event: TransferEvent.Kind) { receiver.accept(event) }

    override final func joined(sentAt time: Int64?) { receiver.joined(sentAt: time) }
}
