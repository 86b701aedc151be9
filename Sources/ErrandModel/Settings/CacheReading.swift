/// In which order a request asks its cache and the network.
public enum CacheReading: Sendable, Hashable {
    /// What is stored, where it may be used; the network otherwise. The default.
    case cacheElseNetwork
    /// The network, as if nothing were stored; what comes is stored (YTKNetwork `ignoreCache`, `startWithoutCache`).
    case networkOnly
    /// What is stored, or else ``ErrandError/cacheMiss``. Nothing is ever sent.
    case cacheOnly
    /// What is stored is told first, where it may be used (``Request/onCached(_:)``, ``RequestEvent/cached(_:)``,
    /// ``Client/values(of:overrides:)``); then the network is asked, and what comes from there ends the request.
    case cacheThenNetwork
    /// The network; what is stored and has not expired stands in where that fails: no response, or one of status 500, 502,
    /// 503 or 504.
    case networkElseCache
}
