import Synchronization

extension Request {
    /// Whether the network is asked after a stored response with this verdict.
    func bypassesCache(_ verdict: Verdict) -> Bool {
        guard cachePolicy != nil, let plan = core.withLock({ $0.description?.cachePlan }) else { return false }
        switch verdict {
        case .success: return plan.asksNetwork(after: nil)
        case .failure(let error): return plan.asksNetwork(after: error)
        }
    }

    /// Reports the stored response if it is usable, and returns what is sent next; `nil` if the run ends here.
    func bypassingCache(_ verdict: Verdict) -> Step? {
        bypassesCache(verdict) ? bypassCache(verdict) : nil
    }

    // A separate function: the type of the value is looked up when the function begins.
    @inline(never)
    private func bypassCache(_ verdict: Verdict) -> Step? {
        // Interceptors begin anew with the request as it was built.
        guard var next = core.withLock({ $0.hooks?.run.built ?? $0.description }) else { return nil }
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

    /// Adds a closure for the stored response of the next run.
    package func observeCached(_ observe: @escaping @Sendable (C.Response, Response) -> Void) {
        core.withLock { core in
            core.madeHooks().onCached.append { value, response in
                if let value = value as? C.Response { observe(value, response) }
            }
        }
    }
}

extension AnyRequest {
    /// Starts the request; `reading` replaces the policy's reading mode in this run. Otherwise as ``start()``.
    package final func start(reading: CacheReading) -> Bool {
        startRun(installing: { $0.madeHooks().reading = reading })
    }
}
