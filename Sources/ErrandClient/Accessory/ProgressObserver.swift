import Synchronization

/// ``AnyRequest/onProgress(_:)`` as an accessory. It reports the progress of a run, in which no number decreases
/// although the run may take several transfers. Each transfer counts from zero, and the body of a redirect does not
/// count.
final class ProgressObserver: EventAccessory {
    private struct State {
        var reported = TransferProgress()
        /// The progress of the present transfer while its head is a redirect.
        var withheld: TransferProgress?
        var isRedirecting = false
    }

    private let state = Mutex(State())
    private let observe: @Sendable (TransferProgress) -> Void

    init(_ observe: @escaping @Sendable (TransferProgress) -> Void) {
        self.observe = observe
    }

    func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .head(let response):
            let isRedirecting = RedirectRules.isRedirect(response.statusCode)
            state.withLock { $0.isRedirecting = isRedirecting }
        case .redirected, .replaying, .retrying:
            state.withLock { state in
                state.isRedirecting = false
                state.withheld = nil
            }
        case .progress(let progress):
            let news = state.withLock { state -> TransferProgress? in
                guard !state.isRedirecting else {
                    state.withheld = progress
                    return nil
                }
                state.reported.advance(to: progress)
                return state.reported
            }
            if let news { observe(news) }
        case .queued, .started, .connected, .sent, .resent, .decided, .advanced, .answered, .fellBack, .cacheHit,
            .cached:
            break
        }
    }

    /// Reports the progress of a redirect that was taken as the response.
    func requestWillStop(_ request: AnyRequest) {
        let news = state.withLock { state -> TransferProgress? in
            guard let progress = state.withheld.take() else { return nil }
            state.reported.advance(to: progress)
            return state.reported
        }
        if let news, request.state != .stopping { observe(news) }
    }

    func requestWillStart(_ request: AnyRequest) {}
    func requestDidStop(_ request: AnyRequest) {}
}

extension TransferProgress {
    /// Takes the numbers that are not lower than the present ones.
    fileprivate mutating func advance(to other: TransferProgress) {
        if other.bytesSent >= bytesSent {
            bytesSent = other.bytesSent
            bytesToSend = other.bytesToSend
        }
        if other.bytesReceived >= bytesReceived {
            bytesReceived = other.bytesReceived
            bytesToReceive = other.bytesToReceive
        }
    }
}
