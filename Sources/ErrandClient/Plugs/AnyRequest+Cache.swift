import Synchronization

extension AnyRequest {
    /// Adds the run's cache plan to the description.
    final func plan(_ description: inout RequestDescription) {
        guard let kind = cachePolicy?.kind, let cache = client.madeCache else { return }
        let reading = core.withLock { $0.hooks?.run.reading }
        description.cachePlan = kind.plan(reading: reading, in: cache)
    }

    /// Called when a transfer has ended and the request was not stopped; on the callback queue, or in the caller's own
    /// task.
    final func cached(_ result: TransferResult) {
        if cachePolicy != nil, case .response(let response) = result, response.isFromCache { notify(.cacheHit) }
        invalidate(after: result)
    }

    /// Invalidates stored responses by RFC 9111 4.4. Every request does so, with any policy, after every response that
    /// is no error. A failure of the response's body does not matter, because the server has done what the request
    /// asked for.
    final func invalidate(after result: TransferResult) {
        guard let cache = client.madeCache, cache.mayHoldHTTP,
            let response = result.response, let sent = transferDescription
        else { return }
        cache.invalidate(after: response, to: sent, by: cachePolicy)
    }

    /// Stores the last transfer's pending cache entry if the run succeeded, or drops it. This happens before the
    /// success is reported, so that a request that is started from a callback finds the entry.
    final func keepOrDrop(_ verdict: Verdict, isSuccess: Bool) {
        let response: Response? = if isSuccess, case .success(let accepted) = verdict { accepted } else { nil }
        core.withLock { $0.description?.cachePlan }?.runEnded(with: response)
    }
}
