/// The order in which a request uses its cache and the network.
public enum CacheReading: Sendable, Hashable {
    /// The stored response, where it may be used; otherwise the network. The default.
    case cacheElseNetwork
    /// The network, as if nothing were stored; the response is stored (YTKNetwork `ignoreCache`, `startWithoutCache`).
    case networkOnly
    /// The stored response; without one the request ends with ``ErrandError/cacheMiss``. Nothing is ever sent.
    case cacheOnly
    /// The stored response is delivered first, where it may be used (``Request/onCached(_:)``,
    /// ``RequestEvent/cached(_:)``, ``Client/values(of:overrides:)``). The request is then sent, and the network's
    /// response ends it.
    case cacheThenNetwork
    /// The network. Where it fails (no response, or status 500, 502, 503 or 504), a stored response that has not
    /// expired is used instead.
    case networkElseCache
}
