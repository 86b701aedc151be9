import Synchronization

extension Client {
    /// The response stored for `command`, with the value that the command reads from it. Does not send the command, calls
    /// no accessory, and runs no hooks and no validators. Interceptors run around the lookup: their `next` returns the
    /// stored response or throws ``ErrandError/cacheMiss``, and `replays` is not called. The response that they return
    /// is the result, even if they made it themselves. If an interceptor runs another command
    /// (``InterceptionContext/run(_:overrides:)``), that command is sent. This method may be called while a request
    /// runs. (YTKNetwork `loadCacheWithError:`.)
    ///
    /// Throws ``ErrandError/cacheMiss``, whose ``ErrandError/cacheMissReason`` gives the reason. Also throws any error
    /// that prevents the command from being built, and `CancellationError` if the task was cancelled.
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
        let plan = ResponseCachePlan(box, reading: .cacheOnly, in: cache)
        let response = try await CacheSteps(self, command, overrides).stored(by: plan)
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

    /// Stores `response` as if `command` had just received it, so that the next request finds it. For example, the
    /// items of a received list can be put into the cache this way. (YTKNetwork `saveResponseDataToCacheFile:`.)
    ///
    /// Interceptors get `response` from their `next`. The response that they return is validated and decoded first,
    /// like any response. But `response` is stored as it was given, because a later request passes through the
    /// interceptors again. The command is not sent, but an interceptor may send another command. If an interceptor
    /// answers without calling `next`, nothing is stored.
    ///
    /// Throws the error that the response fails with. Throws ``ErrandError/cacheMiss`` if the command or the response
    /// is not cached (with ``CachePolicy/http``, a response that RFC 9111 does not allow to be stored), or if an
    /// interceptor answers without calling `next`. Also throws any error that prevents the command from being built,
    /// and `CancellationError` if the task was cancelled.
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
        let plan = ResponseCachePlan(box, reading: .networkOnly, in: cache)
        let (sent, transformed) = try await CacheSteps(self, command, overrides).received(response)
        guard var description = sent else { throw .cacheMiss(.notCached) }
        description.cachePlan = plan
        guard let key = plan.key(for: description, identity: carrier.identity) else { throw .cacheMiss(.notCached) }
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
    /// after this call returned do not find the response. Interceptors run, as for ``cacheKey(for:overrides:)``. Does
    /// nothing if the command is not cached.
    ///
    /// If an interceptor answers the command without calling `next`, the key is not known. The call then throws
    /// ``ErrandError/interceptionFailed`` and removes nothing. Also throws any error that prevents the command from
    /// being built, and `CancellationError` if the task was cancelled.
    public func removeCached(_ command: some Command, overrides: RequestOverrides? = nil) async throws {
        guard let found = try await sought(command, overrides) else { return }
        guard let description = found.description else {
            throw ErrandError.interceptionFailed.with(
                message: "an interceptor answered the command, so the key of its stored response is not known",
                isRefusal: true)
        }
        if let stored = key(of: description, found.box) { cache.remove(stored) }
    }

    /// The key under which the response to `command` is stored; `nil` if the command is not cached, or if an
    /// interceptor answers it. Interceptors run, because the fields that they add, such as credentials, are part of the
    /// key. Their `next` throws ``ErrandError/cancelled``. Throws any error that prevents the command from being built.
    public func cacheKey(
        for command: some Command, overrides: RequestOverrides? = nil
    ) async throws -> CacheKey? {
        guard let found = try await sought(command, overrides) else { return nil }
        return found.description.flatMap { key(of: $0, found.box) }
    }

    /// A command whose stored response is sought.
    private struct Sought {
        let box: CachePolicy.Box
        /// The request as it would be sent; `nil` if an interceptor answers it.
        let description: RequestDescription?
    }

    /// `nil` if the command is not cached.
    private func sought(_ command: some Command, _ overrides: RequestOverrides?) async throws -> Sought? {
        try Task.checkCancellation()
        guard let box = cachePolicy(overrides?.cache ?? command.givenCache)?.box else { return nil }
        do throws(ErrandError) {
            return Sought(box: box, description: try await CacheSteps(self, command, overrides).description())
        } catch {
            throw error.thrown
        }
    }

    private func key(of description: RequestDescription, _ box: CachePolicy.Box) -> CacheKey? {
        ResponseCachePlan.key(for: description, box, in: cache, identity: carrier.identity)
    }

    /// The values of ``CacheReading/cacheThenNetwork``: the stored value, if it is usable, and then the value from the
    /// network. The sequence ends after the value from the network. It throws the error that the request fails with,
    /// even after a stored value.
    ///
    /// The request starts with this call. It stops if the sequence is released before its end, or if the task
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

    /// The request as it would be sent; `nil` if an interceptor answers it.
    func description() async throws(ErrandError) -> RequestDescription? {
        let sent = Mutex<RequestDescription?>(nil)
        let chain = chain
        let result = try await run { description in
            sent.withLock { $0 = description }
            // The request is known now, so no interceptor needs to call `next` again for a response.
            chain.close()
            return .failure(.cancelled)
        }
        if let sent = sent.withLock({ $0 }) { return sent }
        if case .failure(let error) = result { throw error }
        return nil
    }

    /// The stored response, with the changes of the interceptors.
    func stored(by plan: ResponseCachePlan) async throws(ErrandError) -> Response {
        let client = client
        let result = try await run { description in
            var description = description
            description.cachePlan = plan
            return await withCheckedContinuation { continuation in
                client.carrier.find(description) { found in
                    switch found {
                    case .success(let response): continuation.resume(returning: .response(response))
                    case .failure(let miss): continuation.resume(returning: .failure(.cacheMiss(miss)))
                    }
                }
            }
        }
        switch result {
        case .response(let response): return response
        case .failure(let error): throw error
        }
    }

    /// The request that `response` would answer, as it would be sent, and the response with the changes of the
    /// interceptors.
    func received(_ response: Response) async throws(ErrandError) -> (sent: RequestDescription?, Response) {
        let sent = Mutex<RequestDescription?>(nil)
        let result = try await run { description in
            sent.withLock { $0 = description }
            return .response(response)
        }
        switch result {
        case .response(let response): return (sent.withLock { $0 }, response)
        case .failure(let error): throw error
        }
    }

    /// Runs the interceptors around `find`.
    private func run(
        _ find: @escaping @Sendable (RequestDescription) async -> TransferResult
    ) async throws(ErrandError) -> TransferResult {
        let description = try client.describe(command, overrides: overrides)
        return await chain.run(description, around: find)
    }
}

extension Client {
    /// The cache that stores the client's responses.
    public var cache: ResponseCache { carrier.cache }

    /// The cache of this client. If the client has none yet, this creates a cache with a store in memory.
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
    /// The cache for responses whose ``CachePolicy`` is not off. `nil`: the client makes its own cache with 32 MiB of
    /// memory.
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
