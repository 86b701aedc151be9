extension LatencySample {
    /// The sample of an attempt that ended with `result`.
    init(_ result: TransferResult, _ judgement: RetryJudgement) {
        switch (result, judgement) {
        case (.response, .stop): self = .success
        case (.response, .retry): self = .failure
        case (.failure(let error), _): self = error.isTimeout ? .timeout : .failure
        }
    }
}

extension RetryPolicy {
    /// What a failed attempt says about the next hedge: `Retry-After` moves it, up to ``retryAfterCap``.
    func pushback(_ ending: RetryMachine.Ending) -> HedgeMachine.Pushback {
        if case .failure(let error) = ending, error.isRefusal { return .stop }
        guard let cap = retryAfterCap, let wait = ending.retryAfter else { return .none }
        return wait <= cap ? .wait(wait) : .stop
    }
}
