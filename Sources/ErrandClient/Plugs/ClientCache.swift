import Synchronization

/// Caches the responses of a client's requests. The module `ErrandCaching` has the implementation. A client makes its
/// cache for its first request with a ``CachePolicy`` that is not off.
package protocol ClientCache: AnyObject, Sendable {
    /// Takes the transfers of cached requests in place of the client's transport.
    var carrier: any Transport { get }

    /// Whether the cache may hold a response that a request with an unsafe method invalidates (RFC 9111 4.4).
    var mayHoldHTTP: Bool { get }

    /// Removes the responses that an unsafe request invalidates when it was answered by `response` (RFC 9111 4.4).
    func invalidate(after response: Response, to sent: RequestDescription, by policy: CachePolicy?)

    /// The client is shut down: lookups that wait for a store end.
    func clientStops()

    /// Calls `flushed` once everything given so far is stored, or when the time has expired.
    func flush(atMost time: Duration, by stopwatch: Stopwatch, _ flushed: @escaping @Sendable () -> Void)
}

/// A policy that is not off.
package protocol CachePolicyKind: AnyObject, Sendable {
    /// Makes the cache of a client that has none yet.
    func makeCache(over base: CacheBase) -> any ClientCache

    /// The plan of one run. `reading` replaces the policy's reading mode.
    func plan(reading: CacheReading?, in cache: any ClientCache) -> (any CachePlan)?
}

/// Where responses are kept, as set in a configuration.
package protocol CacheStorage: AnyObject, Sendable {
    /// Makes a client's cache that keeps its responses in this storage.
    func makeCache(over base: CacheBase) -> any ClientCache
}

/// The parts of a client that its cache uses.
package struct CacheBase: Sendable {
    package let transport: any Transport
    /// The same transport, for requests that share transfers.
    package let coalescing: CoalescingTransport
    package let stopwatch: Stopwatch
    /// The connection options that the client was made with.
    package let connection: ConnectionOptions
    package let cookies: CookieStorage
}

extension Client {
    /// The client's cache. If there is none yet, `make` makes it.
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

    /// The cache; `nil` if there is none yet.
    var madeCache: (any ClientCache)? {
        hasCache.load(ordering: .acquiring) ? caching.withLock { $0 } : nil
    }

    /// The policy that applies; `nil` if nothing is cached. `given`: the policy of the command or the overrides.
    package func cachePolicy(_ given: CachePolicy?) -> CachePolicy? {
        let policy = given ?? (cachesByDefault.load(ordering: .relaxed) ? builder.settings.cache : nil)
        guard let policy, !policy.isOff else { return nil }
        return policy
    }
}
