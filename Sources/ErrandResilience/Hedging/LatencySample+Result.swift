extension LatencySample {
    /// The sample of an attempt that ended with `result`.
    init(_ result: TransferResult, _ judgement: RetryJudgement) {
        switch (result, judgement) {
        case (.response, .stop): self = .success
        case (.response, .retry): self = .failure
        case (.failure(let error), _):
            // An attempt that had no time left was not sent.
            self = error.isTimeout && error != .deadlineExceeded ? .timeout : .failure
        }
    }
}

extension RetryPolicy {
    /// What a failed attempt says about the next hedge: `Retry-After` delays it, up to ``retryAfterCap``.
    func pushback(_ ending: RetryMachine.Ending) -> HedgeMachine.Pushback {
        if case .failure(let error) = ending, error.isRefusal { return .stop }
        guard let cap = retryAfterCap, let wait = ending.retryAfter else { return .none }
        return wait <= cap ? .wait(wait) : .stop
    }
}
