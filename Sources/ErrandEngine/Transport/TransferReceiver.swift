/// Whom a transport tells what became of a transfer. Requests are receivers; transports only pass them back.
///
/// `@unchecked Sendable`: this class has one stored constant of a `Sendable` type; what subclasses add is guarded by
/// their own locks, as said there.
open class TransferReceiver: @unchecked Sendable {
    /// Where events of this receiver go.
    package let callbacks: CallbackQueue

    /// `callbacks`: where the events of this receiver go.
    public init(callbacks: CallbackQueue) {
        self.callbacks = callbacks
    }

    /// One event. On `callbacks`.
    open func receive(_ event: TransferEvent.Kind) {}

    /// It is told of an equal transfer that is under way already, sent at `time` in milliseconds since 1970 where that is
    /// known, and has none of its own. Before any event, under a lock.
    open func joined(sentAt time: Int64?) {}

    /// Hands events over, in order. Any thread, but events of one transfer must not overtake each other. Receivers that
    /// share a callback queue get theirs with one enqueue.
    public static func deliver(_ events: some Sequence<TransferEvent>) {
        var pending: [CallbackQueue.Job] = []
        pending.reserveCapacity(events.underestimatedCount)
        var target: CallbackQueue?
        for event in events {
            let callbacks = event.receiver.callbacks
            if let target, target !== callbacks {
                target.enqueue(&pending)
            }
            target = callbacks
            pending.append(.event(event))
        }
        target?.enqueue(&pending)
    }
}

/// Something that happened to a transfer.
public struct TransferEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// The transfer ended; the last event of it.
        case ended(TransferResult)
        /// Streamed responses, and those of a description that ``RequestDescription/Reports/events`` are asked for:
        /// status and header fields are known. Interim responses (1xx) are not told.
        case head(Response)
        /// Streamed responses: bytes of the body, in the response's body.
        case chunk(Response)
        /// Streamed uploads: so many more bytes may be written.
        case uploadCredit(UInt64)
        /// ``RequestDescription/Reports/events``: the transfer left the engine's queue.
        case started
        /// ``RequestDescription/Reports/events``: the connection is ready and sending begins.
        case sent
        /// ``RequestDescription/Reports/progress``: at most one each 100 ms, and one right before the end. The numbers
        /// never fall.
        case progress(TransferProgress)
    }

    let receiver: TransferReceiver
    let kind: Kind

    /// Made by transports.
    public init(_ receiver: TransferReceiver, _ kind: Kind) {
        self.receiver = receiver
        self.kind = kind
    }
}
