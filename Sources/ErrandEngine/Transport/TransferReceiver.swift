/// Receives the events of a transfer. Requests are receivers; transports only pass them through.
///
/// `@unchecked Sendable`: this class has one stored constant of a `Sendable` type; the members that subclasses add are
/// guarded by their own locks, as documented there.
open class TransferReceiver: @unchecked Sendable {
    /// The queue on which this receiver gets its events.
    package let callbacks: CallbackQueue

    /// `callbacks`: the queue on which the receiver gets its events.
    public init(callbacks: CallbackQueue) {
        self.callbacks = callbacks
    }

    /// Receives one event. Called on `callbacks`.
    open func receive(_ event: TransferEvent.Kind) {}

    /// The request shares an equal transfer that is already in flight, and has no transfer of its own. `time` is when
    /// that one was sent, in milliseconds since 1970, if known. Called before any event, under a lock.
    open func joined(sentAt time: Int64?) {}

    /// Delivers events in order. Any thread, but events of one transfer must not overtake each other. The events for
    /// receivers with the same callback queue are enqueued together.
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

/// An event of a transfer.
public struct TransferEvent: Sendable {
    /// The kind of event.
    public enum Kind: Sendable {
        /// The transfer ended; this is its last event.
        case ended(TransferResult)
        /// Status and header fields are known. For streamed responses, and for descriptions with
        /// ``RequestDescription/Reports/events``. Interim responses (1xx) are not reported.
        case head(Response)
        /// Streamed responses: the next bytes of the body, as the body of this response.
        case chunk(Response)
        /// Streamed uploads: this many more bytes may be written.
        case uploadCredit(UInt64)
        /// ``RequestDescription/Reports/events``: the transfer left the engine's queue.
        case started
        /// ``RequestDescription/Reports/events``: the connection is ready and sending begins.
        case sent
        /// ``RequestDescription/Reports/progress``: at most one event per 100 ms, and one right before the end. The
        /// numbers never decrease within an attempt.
        case progress(TransferProgress)
        /// ``RequestDescription/Reports/events``: an attempt failed, and the transport sends the request again. The
        /// events of the next attempt follow.
        case retrying(TransferRetry)
    }

    let receiver: TransferReceiver
    let kind: Kind

    /// Called by transports.
    public init(_ receiver: TransferReceiver, _ kind: Kind) {
        self.receiver = receiver
        self.kind = kind
    }
}
