/// Receives the events of a transfer. Requests are receivers; transports only pass them through.
///
/// `@unchecked Sendable`: one thread at a time uses `watcher` and `ticket`. The thread that submits a watched transfer
/// writes them before the submission (`watchBegins`). From then on only `callbacks` reads them, and writes them at the end
/// (`watchEnds`). If the submission is refused, the submitting thread writes them once more (`watchEnds`). `callbacks` does
/// not use them meanwhile: a refused submission has no events except ``TransferEvent/Kind/decided(_:)``, and a watched
/// description reports none of these. The rest is constant. The members that subclasses add are guarded by their own
/// locks, as documented there.
open class TransferReceiver: @unchecked Sendable {
    /// The queue on which this receiver gets its events.
    package let callbacks: CallbackQueue
    /// Whether a ``TransferWatcher`` may watch the transfers of this receiver, which then is a ``WatchableReceiver``.
    package final var mayBeWatched: Bool { isWatchable }
    @exclusivity(unchecked) private final var isWatchable = false
    // Unchecked: the check of each access costs as much as the rest of a watch, and there is one thread at a time.
    /// Watches the present transfer.
    @exclusivity(unchecked) private final var watcher: (any TransferWatcher)?
    @exclusivity(unchecked) private final var ticket = WatchTicket()

    /// `callbacks`: the queue on which the receiver gets its events.
    public init(callbacks: CallbackQueue) {
        self.callbacks = callbacks
    }

    /// A ``TransferWatcher`` may watch the transfers of this receiver. For initializers of subclasses alone. Not a parameter
    /// of an initializer: subclasses of other modules get a warning for a second one, because the compiler's stub of an
    /// initializer that a subclass does not override calls itself.
    package final func allowWatching() { isWatchable = true }

    /// Receives one event. Called on `callbacks`, by `deliver`.
    ///
    /// A relay is a receiver that passes events on to another receiver. It calls `deliver` with an event of that
    /// receiver, and never that receiver's `receive`: whoever watches the transfer of a receiver, such as retries,
    /// metrics and spans, gets each event first, and would miss all of them.
    open func receive(_ event: TransferEvent.Kind) {}

    /// `watcher` is about to submit the receiver's transfer, and keeps a ticket here. The description has no
    /// ``RequestDescription/Reports/events``.
    package final func watchBegins(
        by watcher: consuming any TransferWatcher, number: UInt64, epoch: UInt64, flag: Bool, start: Duration
    ) {
        self.watcher = watcher
        ticket.number = number
        ticket.epoch = epoch
        ticket.flag = flag
        ticket.start = start
    }

    /// Whether a watcher has the present transfer. For the thread that is about to submit one.
    package final var isWatched: Bool { watcher != nil }

    /// The watched transfer has ended, or was refused. Returns the watcher's ticket. Called on `callbacks`, or after a
    /// refusal on the thread that submits.
    package final func watchEnds() -> WatchTicket {
        watcher = nil
        return ticket
    }

    /// Called by a transport for an event of this receiver's transfer, on `callbacks`: a watcher gets the event first.
    package final func accept(_ event: TransferEvent.Kind) {
        guard let watcher else { return receive(event) }
        watcher.transferReported(event, to: self)
    }

    /// The request shares an equal transfer that is already in flight, and has no transfer of its own. `time` is when
    /// that transfer was sent, in milliseconds since 1970, if known. Called before any event, under a lock.
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
        /// ``RequestDescription/Reports/connection``: the connection is ready; ``sent`` follows. Comes once more if the
        /// request is resent on another connection.
        // Indirect: a trace in place would make every event larger.
        indirect case connected(ConnectionTrace)
        /// ``RequestDescription/Reports/events``: the connection is ready and sending begins.
        case sent
        /// ``RequestDescription/Reports/progress``: at most one event per 100 ms, and one right before the end. The
        /// numbers never decrease within an attempt.
        case progress(TransferProgress)
        /// An attempt failed, and the transport is to send the request again. The events of the next attempt follow. A
        /// receiver that writes the body writes it from its first byte again, after ``Transport/restartUpload(_:after:)``.
        case retrying(TransferRetry)
        /// The transport is about to send the request once more, for this reason. The events of this attempt follow. A
        /// ``retrying(_:)`` without this event led to no further send. The engine reports the requests that it has
        /// resent by itself (`connection`, `authentication`) right before the head or the end, once for each send.
        case resending(Resend)
        /// The attempt of the last ``resending(_:)`` with this reason was refused, so it was not sent.
        case notResent(Resend)
        /// ``RequestDescription/Reports/events``: what was decided about an attempt. This event alone may also come for a
        /// submission that is refused.
        case decided(ResilienceDecision)
    }

    let receiver: TransferReceiver
    let kind: Kind

    /// Called by transports.
    public init(_ receiver: TransferReceiver, _ kind: Kind) {
        self.receiver = receiver
        self.kind = kind
    }
}
