import Synchronization

extension AnyRequest {
    /// Adds the run's cache plan to what it sends.
    final func plan(_ description: inout RequestDescription) {
        guard let kind = cachePolicy?.kind, let cache = client.madeCache else { return }
        let reading = core.withLock { $0.hooks?.run.reading }
        description.cachePlan = kind.plan(reading: reading, in: cache)
    }

    /// A transfer has ended, and the request was not stopped. On the callback queue, or in the caller's own task.
    final func cached(_ result: TransferResult) {
        if cachePolicy != nil, case .response(let response) = result, response.isFromCache { tell(.cacheHit) }
        invalidate(after: result)
    }

    /// RFC 9111 4.4: every request invalidates, whatever its policy, by every response that is no error, whatever becomes of
    /// its body, as the server has done what it was asked for.
    final func invalidate(after result: TransferResult) {
        guard client.hasCache.load(ordering: .relaxed), let cache = client.madeCache, cache.mayHoldHTTP,
            let response = result.response, let sent = transferDescription
        else { return }
        cache.invalidate(after: response, to: sent, by: cachePolicy)
    }

    /// Stores what the last transfer left for the cache, where the run succeeded. This happens before anybody is told of the
    /// success, so that a request that is started from there finds it.
    final func keepOrDrop(_ isSuccess: Bool) {
        core.withLock { $0.description?.cachePlan }?.runEnded(succeeded: isSuccess)
    }
}
