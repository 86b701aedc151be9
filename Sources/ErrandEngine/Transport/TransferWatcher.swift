/// The part of a transport that sees the events of a transfer before their receiver does, without a receiver of its own.
///
/// A transport that sends some transfers again would otherwise put an object of its own between each transfer and its
/// receiver, and keep it in a table. Most transfers end with their first answer and need neither. The watcher submits
/// such a transfer to the transport beneath with the receiver of the caller, and returns the id of the transport
/// beneath.
///
/// If the watcher sends the transfer again, it does so under its own id, and tells the receiver that id
/// (``WatchableReceiver/transferContinues(as:)``). An order for the former id may have come too late by then, so the
/// receiver repeats what still holds: both happen under the receiver's lock, and no order is lost.
package protocol TransferWatcher: AnyObject, Sendable {
    /// Called on the receiver's queue for each event of a watched transfer. The watcher passes the event on by
    /// ``TransferReceiver/receive(_:)``, or takes it. Before it passes on the end it calls ``TransferReceiver/watchEnds()``.
    func transferReported(_ event: TransferEvent.Kind, to receiver: TransferReceiver)
}

/// What a ``TransferWatcher`` keeps with the receiver of a transfer: numbers only, so that a watch counts one reference.
package struct WatchTicket: Sendable {
    package var number: UInt64 = 0
    package var epoch: UInt64 = 0
    package var flag = false
    /// A reading of the watcher's clock.
    package var start = Duration.zero
}

/// A receiver with one transfer at a time, which a ``TransferWatcher`` may watch.
package protocol WatchableReceiver: TransferReceiver {
    /// What the receiver has submitted for the present transfer.
    var submittedDescription: RequestDescription? { get }

    /// The watcher goes on with the transfer, which has this id from now on. Called on the receiver's queue. The
    /// receiver repeats its orders for the transfer as far as they still hold.
    func transferContinues(as id: TransferID)
}
