import Synchronization

extension AnyRequest {
    /// Tells observers; on the callback queue.
    final func tell(_ event: RequestEvent) {
        for observer in core.withLock({ $0.hooks?.run.observers ?? [] }) {
            // An observer that throws harms nobody: see `EventAccessory`.
            try? observer.request(self, did: event)
        }
    }
}

extension RequestEvent {
    /// What of a transport's news observers hear; `nil` for the rest.
    init?(_ event: TransferEvent.Kind) {
        switch event {
        case .started: self = .started
        case .sent: self = .sent
        case .head(let response): self = .head(response)
        case .progress(let progress): self = .progress(progress)
        case .ended, .chunk, .uploadCredit: return nil
        }
    }
}
