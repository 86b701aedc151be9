extension Client {
    /// The response stored for `command`, with the value that the command reads from it. Sends nothing, calls no
    /// accessory, and runs no hooks and no validators. Interceptors prepare the request and transform the response, but
    /// do not validate it. So this method may be called while a request runs. (YTKNetwork `loadCacheWithError:`.)
    ///
    /// Throws ``ErrandError/cacheMiss``, whose ``ErrandError/cacheMissReason`` gives the reason, any error that
    /// prevents the command from being built, and `CancellationError` where the task was cancelled.
    public func cached<C: Command>(
        _ command: C, overrides: RequestOverrides? = nil
    ) async throws -> (value: C.Response, response: Response) {
        try Task.checkCancellation()
        do throws(ErrandError) {
            return try await find(command, overrides)
        } catch {
            throw error.thrown
        }
    }

    private func find<C: Command>(
        _ command: C, _ overrides: RequestOverrides?
    ) async throws(ErrandError) -> (value: C.Response, response: Response) {
        guard let box = cachePolicy(overrides?.cache ?? command.givenCache)?.box else {
            throw .cacheMiss(.notCached)
        }
        let steps = CacheSteps(self, command, overrides)
        var description = try await steps.description()
        description.cachePlan = ResponseCachePlan(box, reading: .cacheOnly, in: cache)
        let stored = try await steps.stored(description)
        let response = try await steps.transformed(stored)
        let request = request(command, overrides: overrides)
        let builder = builder
        let read = response.read(by: request.responseDecoder(by: builder))
        do throws(ErrandError) {
            return (try request.value(of: read, by: builder), read)
        } catch {
            throw .cacheMiss.with(
                message: "the stored response cannot be used: \(error.message)", response: error.response,
                underlying: CacheMiss.unusable, isRefusal: true)
        }
    }

    /// Stores `response` as if `command` had just received it, so that the next request finds it: for example, a list
    /// that fills the cache with its items. The response is validated and decoded first, like any response. (YTKNetwork
    /// `saveResponseDataToCacheFile:`.)
    ///
    /// Throws the error that the response fails with, ``ErrandError/cacheMiss`` where the command or the response is
    /// not cached (with ``CachePolicy/http``, a response that RFC 9111 does not allow to be stored), any error that
    /// prevents the command from being built, and `CancellationError` where the task was cancelled.
    public func cache<C: Command>(
        _ response: Response, for command: C, overrides: RequestOverrides? = nil
    ) async throws {
        try Task.checkCancellation()
        do throws(ErrandError) {
            try await keep(response, for: command, overrides)
        } catch {
            throw error.thrown
        }
    }

    private func keep<C: Command>(
        _ response: Response, for command: C, _ overrides: RequestOverrides?
    ) async throws(ErrandError) {
        guard let box = cachePolicy(overrides?.cache ?? command.givenCache)?.box else {
            throw .cacheMiss(.notCached)
        }
        let steps = CacheSteps(self, command, overrides)
        var description = try await steps.description()
        let plan = ResponseCachePlan(box, reading: .networkOnly, in: cache)
        description.cachePlan = plan
        guard let key = plan.key(for: description, identity: carrier.identity) else { throw .cacheMiss(.notCached) }
        let transformed = try await steps.transformed(response)
        let request = request(command, overrides: overrides)
        let builder = builder
        _ = try request.value(of: transformed.read(by: request.responseDecoder(by: builder)), by: builder)
        let now = cache.now
        if box.members.isTimed {
            let entry = TimedEntry(
                key: key, box: box, description: description, response: response, requestedAt: now,
                respondedAt: now, moment: cache.changes.moment)
            guard let record = entry.record(for: cache) else { throw .cacheMiss(.notCached) }
            cache.store(record, for: key)
        } else {
            cache.willHoldHTTP()
            let exchange = HTTPExchange(
                plan, description, HTTPStoredSet(primary: key, moment: cache.changes.moment),
                hasHiddenCookies: carrier.hasHiddenCookies(description))
            let reply = exchange.ended(.response(response), requestedAt: now, now: now)
            guard case .deliver(.response(let kept), _, _) = reply, kept.cacheInfo?.isStored == true
            else { throw .cacheMiss(.notCached) }
        }
    }

    /// Removes the response stored for `command`, whatever its version, and all its `Vary` variants. Reads that start
    /// after this call returned do not find the response. Throws any error that prevents the command from being built.
    public func removeCached(_ command: some Command, overrides: RequestOverrides? = nil) async throws {
        if let key = try await cacheKey(for: command, overrides: overrides) { cache.remove(key) }
    }

    /// The key under which the response to `command` is stored; `nil` where the command is not cached. Interceptors
    /// run, because the fields that they add, such as credentials, are part of the key. Throws any error that prevents
    /// the command from being built.
    public func cacheKey(
        for command: some Command, overrides: RequestOverrides? = nil
    ) async throws -> CacheKey? {
        try Task.checkCancellation()
        guard let box = cachePolicy(overrides?.cache ?? command.givenCache)?.box else { return nil }
        let description: RequestDescription
        do throws(ErrandError) {
            description = try await CacheSteps(self, command, overrides).description()
        } catch {
            throw error.thrown
        }
        return ResponseCachePlan.key(for: description, box, in: cache, identity: carrier.identity)
    }

    /// The values of ``CacheReading/cacheThenNetwork``: the stored value, where it is usable, then the value from the
    /// network. The sequence ends after the value from the network. It throws the error that the request fails with,
    /// even after a stored value.
    ///
    /// The request starts with this call. It stops where the sequence is released before its end, or where the task
    /// that reads the sequence is cancelled. Either throws `CancellationError`, as ``AnyRequest/stop()`` does. With the
    /// policy ``CachePolicy/off`` there is one value, from the network.
    public func values<C: Command>(
        of command: C, overrides: RequestOverrides? = nil
    ) -> CachedValues<C.Response> {
        var overrides = overrides ?? RequestOverrides()
        if let policy = cachePolicy(overrides.cache ?? command.givenCache) {
            overrides.cache = policy.with(reading: .cacheThenNetwork)
        }
        // Filters run on the callback queue.
        let queue = command.hasHooks || overrides.hasHooks ? callbacks : queueOfReader
        let request = Request(client: self, command: command, callbacks: queue, overrides: overrides)
        let stream = AsyncThrowingStream<C.Response, any Error>(bufferingPolicy: .unbounded) { values in
            request.onCached { value, _ in values.yield(value) }
            values.onTermination = { _ in request.stop() }
            let action = request.begin(notifiesOnStop: true) { request in
                switch request.result {
                case .success(let value)?:
                    values.yield(value)
                    values.finish()
                case .failure(let error)?: values.finish(throwing: error.thrown)
                case nil: values.finish(throwing: ErrandError.internalFailure)
                }
            }
            if case .submit(let transfer) = action { request.proceed(transfer) }
        }
        return CachedValues(stream: stream)
    }
}

/// The steps of a request before and after the cache, without a request object.
private struct CacheSteps<C: Command> {
    let client: Client
    let command: C
    let overrides: RequestOverrides?
    let chain: InterceptorChain

    init(_ client: Client, _ command: C, _ overrides: RequestOverrides?) {
        self.client = client
        self.command = command
        self.overrides = overrides
        chain = InterceptorChain(of: client, for: command, overrides)
    }

    /// The request as it would be sent.
    func description() async throws(ErrandError) -> RequestDescription {
        try await chain.prepare(client.describe(command, overrides: overrides)) { true }.get()
    }

    func stored(_ description: RequestDescription) async throws(ErrandError) -> Response {
        let result = await withCheckedContinuation { continuation in
            client.carrier.find(description) { continuation.resume(returning: $0) }
        }
        switch result {
        case .success(let response): return response
        case .failure(let miss): throw .cacheMiss(miss)
        }
    }

    func transformed(_ response: Response) async throws(ErrandError) -> Response {
        switch await chain.transform(.response(response), while: { true }) {
        case .response(let response): return response
        case .failure(let error): throw error
        }
    }
}

extension Client {
    /// The cache that stores the client's responses.
    public var cache: ResponseCache { carrier.cache }

    /// The cache of this client. Where the client has none yet, this creates one with a store in memory.
    var carrier: CacheCarrier {
        let made = responseCache { ResponseCache().makeCache(over: $0) }
        // The only implementation of `ClientCache`.
        return made as? CacheCarrier
            ?? CacheCarrier(
                ResponseCache(), over: cacheBase.transport, coalescing: cacheBase.coalescing,
                identity: CacheIdentity(cacheBase),
                stopwatch: cacheBase.stopwatch)
    }
}

extension Client.Configuration {
    /// The cache for responses whose ``CachePolicy`` is not off. `nil`: 32 MiB of memory of the client's own.
    public var cache: ResponseCache? {
        get { cacheStorage as? ResponseCache }
        set { cacheStorage = newValue }
    }
}

extension ResponseCache: CacheStorage {
    package func makeCache(over base: CacheBase) -> any ClientCache {
        CacheCarrier(
            self, over: base.transport, coalescing: base.coalescing, identity: CacheIdentity(base),
            stopwatch: base.stopwatch)
    }
}
