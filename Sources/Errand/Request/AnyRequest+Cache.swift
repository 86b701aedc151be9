import Synchronization

extension AnyRequest {
    /// What the run has to do with the cache goes with what it sends.
    final func plan(_ description: inout RequestDescription) {
        guard let box = cachePolicy?.box else { return }
        let reading = core.withLock { $0.hooks?.run.reading }
        description.cachePlan = CachePlan(box, reading: reading, in: client.cache)
    }

    /// A transfer has ended, and the request was not stopped. On the callback queue, or in the caller's own task.
    final func cached(_ result: TransferResult) {
        if cachePolicy != nil, case .response(let response) = result, response.isFromCache { tell(.cacheHit) }
        invalidate(after: result)
    }

    /// RFC 9111 4.4: by every request, whatever its policy, and by every response that is no error, whatever becomes of its
    /// body: the server has done what it was asked for.
    final func invalidate(after result: TransferResult) {
        let cache = client.cache
        guard cache.mayHoldHTTP, let response = result.response, let sent = transferDescription,
            !HTTPCacheInvalidation.isSafe(sent.method), (200...399).contains(response.statusCode),
            !response.isFromCache
        else { return }
        let urls = HTTPCacheInvalidation.urls(
            method: sent.method, url: sent.url, statusCode: response.statusCode, headers: response.headers)
        guard let members = cachePolicy?.box?.members else { return cache.invalidate(urls) }
        let known = urls.map { members.keyURL(of: $0) }
        cache.invalidate(urls + known.filter { !urls.contains($0) })
    }

    /// Everything the last transfer left for the cache is stored, or not. Before anybody hears of the success, so that who
    /// starts the same again from there finds it.
    final func keepOrDrop(_ isSuccess: Bool) {
        guard let run = core.withLock({ $0.description?.cachePlan?.run }) else { return }
        if isSuccess { run.succeeded() } else { run.failed() }
    }
}

extension Client {
    /// Where responses are kept.
    public var cache: ResponseCache { caching.cache }

    /// `given` by command or overrides; `nil` where nothing is cached.
    func cachePolicy(_ given: CachePolicy?) -> CachePolicy? {
        let policy = given ?? (cachesByDefault.load(ordering: .relaxed) ? builder.settings.cache : nil)
        guard let policy, !policy.isOff else { return nil }
        return policy
    }
}
