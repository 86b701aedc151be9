import Synchronization

/// Caches the responses of a client's requests. The module `ErrandCaching` has the implementation. A client makes its
/// cache for its first request with a ``CachePolicy`` that is not off.
package protocol ClientCache: AnyObject, Sendable {
    /// Takes the transfers of cached requests instead of the client's transport.
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
    /// The connection options of the engine: those of requests that have none themselves.
    package let connection: ConnectionOptions
    package let cookies: CookieStorage
}

/// The client's cache, stored once and read without a lock. `AtomicLazyReference` does the same, but its code is not
/// specialised outside of its module: a read takes 560 instructions there, and every request reads once.
struct CacheSlot: ~Copyable, Sendable {
    private final class Box: Sendable {
        let cache: any ClientCache
        init(_ cache: any ClientCache) { self.cache = cache }
    }

    /// Owns: the address of a `Box` that was retained when it was stored; 0 before.
    private let address = Atomic<UInt>(0)

    deinit {
        Self.box(address.load(ordering: .acquiring))?.release()
    }

    private static func box(_ address: UInt) -> Unmanaged<Box>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }

    /// `nil` before the first ``storeIfNil(_:)``.
    var cache: (any ClientCache)? {
        Self.box(address.load(ordering: .acquiring))?.takeUnretainedValue().cache
    }

    /// Stores the cache, unless another thread has stored one. Returns the stored cache.
    func storeIfNil(_ cache: any ClientCache) -> any ClientCache {
        let box = Unmanaged.passRetained(Box(cache))
        let (isStored, present) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: box.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isStored, let earlier = Self.box(present) else { return cache }
        box.release()
        return earlier.takeUnretainedValue().cache
    }
}

extension Client {
    /// The client's cache. If there is none yet, `make` makes it, without a lock: the cache's logger may be the user's
    /// code. If two callers make one at the same time, the first is kept.
    package func responseCache(madeBy make: (CacheBase) -> any ClientCache) -> any ClientCache {
        if let made = caching.cache { return made }
        return caching.storeIfNil(make(cacheBase))
    }

    /// The cache; `nil` if there is none yet.
    var madeCache: (any ClientCache)? { caching.cache }

    /// The policy that applies; `nil` if nothing is cached. `given`: the policy of the command or the overrides.
    package func cachePolicy(_ given: CachePolicy?) -> CachePolicy? {
        let policy = given ?? (cachesByDefault.load(ordering: .relaxed) ? builder.settings.cache : nil)
        guard let policy, !policy.isOff else { return nil }
        return policy
    }
}
