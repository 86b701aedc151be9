import Synchronization

/// ``AnyRequest/onProgress(_:)`` as an accessory: the progress of a run, in which no number falls though it may take
/// several transfers. Each of them counts from zero, and the body of a redirect is none that was asked for.
final class ProgressObserver: EventAccessory {
    private struct State {
        var told = TransferProgress()
        /// The present transfer's, while its head says that it leads elsewhere.
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
        case .redirected, .replaying:
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
                state.told.advance(to: progress)
                return state.told
            }
            if let news { observe(news) }
        case .queued, .started, .sent, .advanced, .cacheHit, .cached:
            break
        }
    }

    /// A redirect that was taken for the response.
    func requestWillStop(_ request: AnyRequest) {
        let news = state.withLock { state -> TransferProgress? in
            guard let progress = state.withheld.take() else { return nil }
            state.told.advance(to: progress)
            return state.told
        }
        if let news, request.state != .stopping { observe(news) }
    }
}

extension TransferProgress {
    /// Takes what is not less.
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
