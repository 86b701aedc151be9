import Synchronization

extension Request {
    /// Whether what was made of a stored response is not the last word: the network is to be asked now, for
    /// ``CacheReading/cacheThenNetwork``, or because the command cannot use what is stored.
    func goesPastCache(_ verdict: Verdict) -> Bool {
        guard cachePolicy != nil, let plan = core.withLock({ $0.description?.cachePlan }), !plan.isSecond,
            plan.source == .stored
        else { return false }
        switch (plan.reading, verdict) {
        case (_, .failure(.cancelled)), (_, .failure(.shutDown)), (_, .failure(.timeoutTotal)): return false
        case (.cacheThenNetwork, _): return true
        // The server's own word, kept for as long as it said.
        case (.cacheElseNetwork, .failure(.statusNotAccepted)): return plan.isTimed
        case (.cacheElseNetwork, .failure): return true
        case (.cacheElseNetwork, .success), (.cacheOnly, _), (.networkOnly, _), (.networkElseCache, _): return false
        }
    }

    /// Tells what was stored where it is of use, and then answers what is sent; `nil` where the run is to end.
    func goingPastCache(_ verdict: Verdict) -> Step? {
        goesPastCache(verdict) ? pastCache(verdict) : nil
    }

    // Apart: the type of its value is looked up where it begins.
    @inline(never)
    private func pastCache(_ verdict: Verdict) -> Step? {
        guard var next = transferDescription else { return nil }
        let isTold = next.cachePlan?.reading == .cacheThenNetwork
        // Taken in any case: what comes next leaves another one.
        let value = takeUntoldValue()
        if isTold, let value, case .success(let response) = verdict { tell(value, response) }
        // Whatever comes of it, the end is the network's.
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

    private func takeUntoldValue() -> C.Response? {
        let taken = core.withLock { _ in
            hasUntoldValue = false
            return storedValue.take()
        }
        return taken.flatMap { typed($0) }
    }

    private func tell(_ value: C.Response, _ response: Response) {
        tell(.cached(response))
        let observers = core.withLock { core in core.machine.isStopped ? [] : core.hooks?.run.onCached ?? [] }
        for observer in observers { observer(value, response) }
    }

    /// Calls `observe` with what is stored, before the network is asked, in this request's next run: on the callback queue,
    /// once at most, and only with ``CacheReading/cacheThenNetwork``. Judged, decoded and validated as any response;
    /// what is stored and does not pass is not told. Released at the end of the run.
    public func onCached(_ observe: @escaping @Sendable (C.Response, Response) -> Void) {
        core.withLock { core in
            core.madeHooks().onCached.append { value, response in
                if let value = value as? C.Response { observe(value, response) }
            }
        }
    }
}
