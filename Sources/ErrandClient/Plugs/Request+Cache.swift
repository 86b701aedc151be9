import Synchronization

extension Request {
    /// Whether the network is asked after a stored response: for ``CacheReading/cacheThenNetwork``, or because the
    /// command cannot use the stored response.
    func bypassesCache(_ verdict: Verdict) -> Bool {
        guard cachePolicy != nil, let plan = core.withLock({ $0.description?.cachePlan }), !plan.isSecond,
            plan.source == .stored
        else { return false }
        switch (plan.reading, verdict) {
        case (_, .failure(.cancelled)), (_, .failure(.shutDown)), (_, .failure(.timeoutTotal)): return false
        case (.cacheThenNetwork, _): return true
        // The stored response is the server's own answer, and is used for as long as the server allowed.
        case (.cacheElseNetwork, .failure(.statusNotAccepted)): return plan.isTimed
        case (.cacheElseNetwork, .failure): return true
        case (.cacheElseNetwork, .success), (.cacheOnly, _), (.networkOnly, _), (.networkElseCache, _): return false
        }
    }

    /// Reports the stored response if it is usable, and returns what is sent next; `nil` if the run ends here.
    func bypassingCache(_ verdict: Verdict) -> Step? {
        bypassesCache(verdict) ? bypassCache(verdict) : nil
    }

    // A separate function: the type of the value is looked up when the function begins.
    @inline(never)
    private func bypassCache(_ verdict: Verdict) -> Step? {
        guard var next = transferDescription else { return nil }
        let isReported = next.cachePlan?.reading == .cacheThenNetwork
        // The value is taken in any case, because the next transfer makes another one.
        let value = takeUnreportedValue()
        if isReported, let value, case .success(let response) = verdict { notify(value, response) }
        // From here on the network decides the end of the run.
        next.cachePlan?.networkIsNext()
        guard let next = withTimeLeft(next) else {
            conclude(.timeoutTotal)
            return .finished
        }
        guard case .submit(let transfer) = core.withLock({ $0.machine.hopDecided() }) else {
            conclude(.cancelled)
            return .finished
        }
        return .submit(next, transfer: transfer)
    }

    private func takeUnreportedValue() -> C.Response? {
        let taken = core.withLock { _ in
            hasUnreportedValue = false
            return storedValue.take()
        }
        return taken.flatMap { typed($0) }
    }

    private func notify(_ value: C.Response, _ response: Response) {
        notify(.cached(response))
        let observers = core.withLock { core in core.machine.isStopped ? [] : core.hooks?.run.onCached ?? [] }
        for observer in observers { observer(value, response) }
    }

    /// Calls `observe` with a stored response in this request's next run, before the network is asked: on the callback
    /// queue, at most once, and only with ``CacheReading/cacheThenNetwork``. A stored response is judged, decoded and
    /// validated as any other; if it does not pass, `observe` is not called. The closure is released at the end of the
    /// run.
    public func onCached(_ observe: @escaping @Sendable (C.Response, Response) -> Void) {
        core.withLock { core in
            core.madeHooks().onCached.append { value, response in
                if let value = value as? C.Response { observe(value, response) }
            }
        }
    }
}
