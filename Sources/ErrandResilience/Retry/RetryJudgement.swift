/// What a policy says about the end of an attempt, before anything else is considered.
enum RetryJudgement: Sendable, Hashable {
    /// Another attempt may succeed.
    case retry(RetryCause)
    case stop(RetryStop)
}

extension RetryPolicy {
    func judge(_ ending: RetryMachine.Ending) -> RetryJudgement {
        switch ending {
        case .answer(let status, _):
            return statusCodes.contains(status) ? .retry(.status(status)) : .stop(.answered)
        case .failure(.cancelled):
            return .stop(.cancelled)
        case .failure(let error):
            guard !error.isRefusal, let kind = error.transientFailure, failures.contains(kind),
                !excludedErrors.contains(error)
            else { return .stop(.permanentFailure) }
            return .retry(.failure(kind))
        }
    }
}
