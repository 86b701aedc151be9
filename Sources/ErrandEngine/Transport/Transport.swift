/// Carries requests. The engine behind ``Client`` is one; `StubTransport` in ErrandTesting is another.
///
/// The law: every submission that is accepted yields exactly one ``TransferEvent/Kind/ended(_:)`` for its receiver,
/// cancelled or not; a refused one yields nothing. The event may come before `submit` returns. Events are handed over
/// by ``TransferReceiver/deliver(_:)``, as many at a time as there are.
public protocol Transport: AnyObject, Sendable {
    /// Sends what is described. Any thread; does not block. Throws, in place of accepting, the error to report.
    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID

    /// Submits many at once, waking the engine once. Each stands alone.
    func submit(_ submissions: [TransferSubmission]) -> [Result<TransferID, ErrandError>]

    /// Ends a transfer with ``ErrandError/cancelled``; unknown and ended ones are ignored. Any thread.
    func cancel(_ id: TransferID)

    /// Stops moving bytes until ``resume(_:)``. Any thread.
    func pause(_ id: TransferID)

    /// Undoes ``pause(_:)``. Any thread.
    func resume(_ id: TransferID)

    /// Streamed responses: so many bytes of the body have been consumed, as many more may come. Any thread.
    func grant(_ id: TransferID, bytes: Int)

    /// Streamed uploads: copies bytes to send. More than the credit that was told (``TransferEvent/Kind/uploadCredit(_:)``
    /// after the first 256 KiB) ends the transfer with ``ErrandError/uploadOverrun``; of two threads the caller keeps
    /// the order. Unknown and ended transfers are ignored. Any thread.
    func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID)

    /// Streamed uploads: no more bytes will come. Any thread.
    func finishUpload(_ id: TransferID)

    /// Streamed uploads: the source failed; ends the transfer with ``ErrandError/uploadFailed``. Any thread.
    func failUpload(_ id: TransferID)

    /// Files that connection options name, such as a CA's, may have been replaced: transfers from now on go by what they
    /// are now. Any thread; does not block.
    func filesMayHaveChanged()

    /// Takes nothing more, ends everything that is open, then calls `stopped` once, on any thread, after the last
    /// event was delivered. May be called again, to be called back again.
    func shutdown(_ stopped: @escaping @Sendable () -> Void)
}

extension Transport {
    /// Nothing, for transports that know no streams.
    public func grant(_ id: TransferID, bytes: Int) {}
    /// Nothing, for transports that know no streams.
    public func write(_ bytes: UnsafeRawBufferPointer, to id: TransferID) {}
    /// Nothing, for transports that know no streams.
    public func finishUpload(_ id: TransferID) {}
    /// Nothing, for transports that know no streams.
    public func failUpload(_ id: TransferID) {}

    /// Nothing, for transports that read no files.
    public func filesMayHaveChanged() {}

    /// Submits one after the other.
    public func submit(_ submissions: [TransferSubmission]) -> [Result<TransferID, ErrandError>] {
        submissions.map { submission in
            Result { () throws(ErrandError) in
                try submit(submission.description, for: submission.receiver)
            }
        }
    }
}

/// Names a transfer to the transport that carries it.
public struct TransferID: Sendable, Hashable {
    /// The transport's own number.
    public let rawValue: UInt64

    /// Made by transports.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// One of many transfers submitted at once.
public struct TransferSubmission: Sendable {
    /// What to send.
    public let description: RequestDescription
    /// Who is told.
    public let receiver: TransferReceiver

    /// Made by whoever submits.
    public init(_ description: RequestDescription, for receiver: TransferReceiver) {
        self.description = description
        self.receiver = receiver
    }
}
