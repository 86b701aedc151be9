/// Carries requests. The engine behind ``Client`` is a transport; `StubTransport` in ErrandTesting is another.
///
/// The contract: every accepted submission yields exactly one ``TransferEvent/Kind/ended(_:)`` for its receiver,
/// whether cancelled or not; a refused submission yields no event, except ``TransferEvent/Kind/decided(_:)``. The event
/// may come before `submit` returns. Events are delivered by ``TransferReceiver/deliver(_:)``, as many at a time as there are.
///
/// No method has a default: with one, a misspelt method would compile and never be called. A transport without streams
/// has empty methods for them.
public protocol Transport: AnyObject, Sendable {
    /// Sends the described request. Any thread; does not block. Throws if the submission is refused.
    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID

    /// Ends a transfer with ``ErrandError/cancelled``; unknown and ended transfers are ignored. Any thread.
    func cancel(_ id: TransferID)

    /// Stops transferring bytes until ``resume(_:)``. Any thread.
    func pause(_ id: TransferID)

    /// Continues after ``pause(_:)``. Any thread.
    func resume(_ id: TransferID)

    /// Streamed responses: grants credit for `bytes` more bytes, after as many bytes of the body were consumed. Any
    /// thread.
    func grant(_ id: TransferID, bytes: Int)

    /// Streamed uploads: copies bytes to send. Writing more than the credit (256 KiB at first, then
    /// ``TransferEvent/Kind/uploadCredit(_:)``) ends the transfer with ``ErrandError/uploadOverrun``. If two threads
    /// write, the caller keeps the order. Unknown and ended transfers are ignored. Any thread.
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID)

    /// The same for bytes that stay where they are. The transport may keep the value, and reads the bytes by
    /// `withUnsafeBytes` when it sends them. It lets go of it when they are sent or the transfer has ended, because the
    /// memory behind it may be larger than the bytes. Order, credit and overrun as in ``write(_:to:)``; both may be called
    /// for one transfer. A transport that copies calls `bytes.withUnsafeBytes { write($0, to: id) }`. Any thread.
    func write(shared bytes: SharedBytes, to id: TransferID)

    /// Streamed uploads: no more bytes will come. Any thread.
    func finishUpload(_ id: TransferID)

    /// Streamed uploads: the source failed; ends the transfer with ``ErrandError/uploadFailed``. Any thread.
    func failUpload(_ id: TransferID)

    /// Streamed uploads: the bytes that are written from now on are the body from its first byte again, because the
    /// attempt with this number has failed (``TransferEvent/Kind/retrying(_:)``). The transport drops the bytes that
    /// are written between that event and this call, because they belong to the failed attempt. It ignores the number
    /// of an attempt that is not the last failed one. Called at most once for each such event. A transport that resends
    /// nothing has nothing to do here; a transport that passes transfers on passes this call on too. Any thread.
    func restartUpload(_ id: TransferID, after attempt: Int)

    /// Files that connection options name, such as a CA file, may have been replaced: later transfers use their new
    /// contents. Any thread; does not block.
    func filesMayHaveChanged()

    /// Refuses new submissions, ends all open transfers, then calls `stopped` once, on any thread, after the last event
    /// was delivered. May be called again; `stopped` of each call is called.
    func shutdown(_ stopped: @escaping @Sendable () -> Void)
}

/// Identifies a transfer within its transport.
public struct TransferID: Sendable, Hashable {
    /// The transport's own number.
    public let rawValue: UInt64

    /// Called by transports. `rawValue`: any number that no other open transfer of the transport has.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A transport whose ids have their two highest bits clear. A transport over it may pass its ids on and mark its own.
package protocol ShortIDTransport: Transport {
    /// Whether the ids of this object are short: those of a wrapper are as short as those of the transport that it wraps.
    var idsAreShort: Bool { get }
}

extension Transport {
    /// Whether the ids are known to be short.
    package var hasShortIDs: Bool { (self as? any ShortIDTransport)?.idsAreShort ?? false }
}
