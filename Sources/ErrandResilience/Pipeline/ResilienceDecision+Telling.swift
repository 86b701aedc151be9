extension ResilienceDecision {
    /// The refusal that an error describes; `nil`: another error. `name`: the key of the breaker.
    init?(refusal error: ErrandError, name: String) {
        switch error.underlyingError {
        case is BreakerRefusal: self = .refused(by: .breaker, name: name)
        case let refusal as LimitRefusal: self = .refused(by: refusal.reason.part, name: refusal.key)
        case is EndpointRefusal: self = .refused(by: .endpoints, name: name)
        default: return nil
        }
    }
}

extension LimitRefusal.Reason {
    fileprivate var part: ResilienceDecision.Part {
        switch self {
        case .queueFull, .displaced, .waitExpired: .concurrency
        case .rateExceeded, .pausedByServer: .rate
        }
    }
}

extension RequestDescription {
    /// Reports a decision to the receiver of the transfer, on any thread, where somebody observes events.
    func tell(_ receiver: TransferReceiver, _ decision: @autoclosure () -> ResilienceDecision) {
        guard reports.contains(.events) else { return }
        TransferReceiver.deliver(CollectionOfOne(TransferEvent(receiver, .decided(decision()))))
    }

    /// Reports that a breaker, a limit or the choice of endpoints refused an attempt. Other errors are not reported.
    func tell(_ receiver: TransferReceiver, refusal error: ErrandError, name: String) {
        guard reports.contains(.events), let decision = ResilienceDecision(refusal: error, name: name) else { return }
        tell(receiver, decision)
    }

    /// The same for a submission that is refused. Not reported if `receiver` belongs to a transport that reports the
    /// refusal itself: a ``ResilientCall``, or the first attempt of a ``HedgedCall``. These are already over when the
    /// event arrives, and pass nothing on.
    func tell(_ receiver: TransferReceiver, refusedSubmission error: ErrandError, name: String) {
        guard reports.contains(.events), !(receiver is ResilientCall) else { return }
        if let attempt = receiver as? HedgeReceiver, attempt.isFirst { return }
        tell(receiver, refusal: error, name: name)
    }
}
