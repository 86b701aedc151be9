import Synchronization

/// Caches the responses of a client's requests. The module `ErrandCaching` has the implementation; a client makes it for its
/// first request with a ``CachePolicy`` that is not off.
package protocol ClientCache: AnyObject, Sendable {
    /// Takes the transfers of cached requests in place of the client's transport.
    var carrier: any Transport { get }

    /// Whether a response may be stored that a request with an unsafe method invalidates (RFC 9111 4.4).
    var mayHoldHTTP: Bool { get }

    /// Removes what an unsafe request that was answered by `response` invalidates (RFC 9111 4.4).
    func invalidate(after response: Response, to sent: RequestDescription, by policy: CachePolicy?)

    /// The client is shut down: lookups that wait for a store end.
    func clientStops()

    /// Calls `flushed` once all is stored that was given so far, or when the time is up.
    func flush(atMost time: Duration, by stopwatch: Stopwatch, _ flushed: @escaping @Sendable () -> Void)
}

/// A policy that is not off.
package protocol CachePolicyKind: AnyObject, Sendable {
    /// The cache of a client that has none yet.
    func makeCache(over base: CacheBase) -> any ClientCache

    /// The plan of one run; `reading`: in place of the policy's.
    func plan(reading: CacheReading?, in cache: any ClientCache) -> (any CachePlan)?
}

/// Where responses are kept, as a configuration names it.
package protocol CacheStorage: AnyObject, Sendable {
    /// A client's cache that keeps its responses there.
    func makeCache(over base: CacheBase) -> any ClientCache
}

/// What a client's cache stands on.
package struct CacheBase: Sendable {
    package let transport: any Transport
    /// The same, for requests that share transfers.
    package let coalescing: CoalescingTransport
    package let stopwatch: Stopwatch
    /// How the client reaches servers, as it was made with.
    package let connection: ConnectionOptions
    package let cookies: CookieStorage
}

extension Client {
    /// The cache, made by `make` where there is none yet.
    package func responseCache(madeBy make: (CacheBase) -> any ClientCache) -> any ClientCache {
        if hasCache.load(ordering: .acquiring), let made = caching.withLock({ $0 }) { return made }
        return caching.withLock { cache in
            if let cache { return cache }
            let made = make(cacheBase)
            cache = made
            hasCache.store(true, ordering: .releasing)
            return made
        }
    }

    /// The cache; `nil` where there is none yet.
    var madeCache: (any ClientCache)? {
        hasCache.load(ordering: .acquiring) ? caching.withLock { $0 } : nil
    }

    /// `given` by command or overrides; `nil` where nothing is cached.
    package func cachePolicy(_ given: CachePolicy?) -> CachePolicy? {
        let policy = given ?? (cachesByDefault.load(ordering: .relaxed) ? builder.settings.cache : nil)
        guard let policy, !policy.isOff else { return nil }
        return policy
    }
}
