/// One transfer of a download on the underlying transport. Its events arrive on the download's file queue.
///
/// `@unchecked Sendable`: mutable state is read and written on that queue alone.
final class DownloadTransfer: TransferReceiver, @unchecked Sendable {
    enum Role: Equatable {
        /// The transfer that the machine knows, by its number.
        case main(Int)
        /// One of several transfers, by the number of its piece.
        case piece(Int)
    }

    private let run: DownloadRun
    let ask: DownloadAsk
    // This and the following properties are read and written on the file queue alone.
    nonisolated(unsafe) var role: Role
    /// `nil` until the submission has returned.
    // As `role`.
    nonisolated(unsafe) var id: TransferID?
    // As `role`.
    nonisolated(unsafe) var hasHead = false
    /// Whether the transfer requests bytes that an earlier transfer has requested.
    // As `role`.
    nonisolated(unsafe) var isAgain = false
    /// Further events of the transfer are ignored.
    // As `role`.
    nonisolated(unsafe) var isDropped = false

    init(_ role: Role, _ ask: DownloadAsk, of run: DownloadRun, on queue: CallbackQueue) {
        self.role = role
        self.ask = ask
        self.run = run
        super.init(callbacks: queue)
    }

    override func receive(_ event: TransferEvent.Kind) {
        guard !isDropped else { return }
        run.receive(event, of: self)
    }
}
