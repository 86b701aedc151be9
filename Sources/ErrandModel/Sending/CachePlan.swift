/// The order in which a request uses its cache and the network.
public enum CacheReading: Sendable, Hashable {
    /// The stored response if it may be used; otherwise the network. The default.
    case cacheElseNetwork
    /// The network, as if nothing were stored; the response is stored (YTKNetwork `ignoreCache`, `startWithoutCache`).
    case networkOnly
    /// The stored response; without one the request ends with ``ErrandError/cacheMiss``. Nothing is ever sent.
    case cacheOnly
    /// The stored response is delivered first if it may be used (``Request/onCached(_:)``,
    /// ``RequestEvent/cached(_:)``, ``Client/values(of:overrides:)``). The request is then sent, and the network's
    /// response ends it.
    case cacheThenNetwork
    /// The network. If it fails (no response, or status 500, 502, 503 or 504), a stored response that has not
    /// expired is used instead.
    case networkElseCache
}

/// How the run of a request uses a cache. The plan is part of the description of each transfer of the run; the cache
/// keeps its own state of the run. A plan is at most three words: an existential holds such a value without an
/// allocation.
package protocol CachePlan: Sendable {
    /// The order in which cache and network are used.
    var reading: CacheReading { get set }
    /// Whether a redirect led to the transfer.
    var isHop: Bool { get set }
    /// Where the response of the run's last transfer came from.
    var source: CacheSource { get }

    /// Whether the network is asked after the run's last response, because the stored response is only the first of two
    /// or the command cannot use it. `error`: why the response did not pass; `nil` if it did.
    func asksNetwork(after error: ErrandError?) -> Bool
    /// The next transfer reads the cache only, and takes a stored response that expired at most `time` ago; `nil`: no
    /// limit.
    mutating func readStale(atMost time: Duration?)
    /// The stored response does not end the run: the network is next.
    mutating func networkIsNext()
    /// The run is over. `response`: the response that it succeeded with; `nil` if it failed. The response from the network
    /// is stored if it is this one, or if this one was made of it.
    func runEnded(with response: Response?)
}

extension RequestDescription {
    /// Whether nothing is sent: the response comes from the cache, or there is none.
    package var readsOnlyCache: Bool { cachePlan?.reading == .cacheOnly }

    /// The same request, which reads only the cache and takes a response that expired at most `time` ago. `nil` if the
    /// request is not cached.
    package func readingStale(atMost time: Duration?) -> RequestDescription? {
        guard var plan = cachePlan else { return nil }
        plan.readStale(atMost: time)
        var description = self
        description.cachePlan = plan
        return description
    }
}

/// When a transfer that other requests may join was sent.
package struct SendingMoment: Sendable {
    /// Milliseconds since 1970.
    package let time: Int64
    /// The number of the last cache removal before it.
    package let removals: UInt64

    package init(time: Int64, removals: UInt64) {
        self.time = time
        self.removals = removals
    }
}

/// Where the response of a transfer came from.
package enum CacheSource: Sendable {
    case network
    /// Served before the network was asked.
    case stored
    /// Served because the network failed.
    case standIn
}
