import Synchronization

/// Replaces the transport for a download's request. One transfer of the request uses as many transfers of the real
/// transport as are necessary to bring the content to the disk. The request's transfer also ends when a response
/// arrives that is not content: a redirect, a challenge or an error.
package final class DownloadCarrier: RequestCarrier {
    private struct State {
        var lastID: UInt64 = 0
        /// One run at a time: the request submits again when the last run has ended.
        var run: DownloadRun?
    }

    private let settings: Result<DownloadSettings, ErrandError>
    /// Files and the runs' own state are accessed on this queue only.
    private let queue = CallbackQueue.serial(label: "errand.download")
    private let state = Mutex(State())

    package var isDownload: Bool { true }

    init(_ download: Download) {
        settings = Result { () throws(ErrandError) in try DownloadSettings(download) }
    }

    package func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError)
        -> TransferID
    {
        let settings = try settings.get()
        try DownloadSettings.check(description)
        guard let request = receiver as? AnyRequest else { throw .internalFailure }
        let id = state.withLock { state in
            state.lastID += 1
            return TransferID(rawValue: state.lastID)
        }
        let run = try DownloadRun(id, description, of: request, by: self, settings, queue)
        state.withLock { $0.run = run }
        queue.async { run.begin() }
        return id
    }

    package func cancel(_ id: TransferID) { forward(id) { $0.stop() } }
    package func pause(_ id: TransferID) { forward(id) { $0.pause() } }
    package func resume(_ id: TransferID) { forward(id) { $0.resume() } }

    private func forward(_ id: TransferID, _ news: @escaping @Sendable (DownloadRun) -> Void) {
        guard let run = state.withLock({ $0.run }), run.id == id else { return }
        queue.async { news(run) }
    }

    /// The request's client is shut down: the run gives up at once.
    package func clientStops() {
        guard let run = state.withLock({ $0.run }) else { return }
        queue.async { run.giveUp(.shutDown) }
    }

    func ended(_ run: DownloadRun) {
        state.withLock { state in
            if state.run === run { state.run = nil }
        }
    }

    /// Returns when all work that was queued so far is done. Not to be called on a queue of downloads.
    func settled() async {
        await withUnsafeContinuation { continuation in queue.async { continuation.resume() } }
    }
}
