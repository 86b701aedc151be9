/// Which transfers of a run are further sends, and what they pay to the retry budget of their service.
extension AnyRequest.Core {
    /// A further transfer of the run.
    struct FurtherSend: Sendable {
        let payment: SendPayment
        /// Whether anything of the run was sent before, to any service. If so, the transfer is listed in the ledger.
        let isResend: Bool
    }

    /// Called when a transfer is decided that follows the present one. `result`: how the present transfer ended.
    /// `isAnswer`: whether the next transfer answers a challenge.
    mutating func followed(by next: RequestDescription, after result: TransferResult, isAnswer: Bool = false)
        -> FurtherSend
    {
        // After a replay that was not sent, the description is still that of the previous transfer, which is noted already.
        if !isUnsent, !wasRefused, result.mayHaveBeenSent, let service = description?.service,
            !services.contains(service)
        {
            services.append(service)
        }
        wasRefused = false
        guard services.contains(next.service) else {
            return FurtherSend(payment: .deposit, isResend: !services.isEmpty)
        }
        return FurtherSend(payment: isAnswer ? .count : .charge, isResend: true)
    }
}

extension TransferResult {
    /// Whether the transfer was handed to the network, so that its service has been paid. False for a refusal, a response
    /// from the cache and a cache miss.
    fileprivate var mayHaveBeenSent: Bool {
        switch self {
        case .response(let response): !response.isFromCache
        case .failure(let error):
            !error.isRefusal && error.code != .cacheMiss && !(error.response?.isFromCache ?? false)
        }
    }
}
