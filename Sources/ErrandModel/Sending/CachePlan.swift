/// How the run of a request uses a cache. The plan is part of the description of each transfer of the run; the cache
/// keeps its own state of the run. A plan is at most three words: an existential holds such a value without an
/// allocation.
package protocol CachePlan: Sendable {
    /// The order in which cache and network are used.
    var reading: CacheReading { get set }
    /// Whether a redirect led to the transfer.
    var isHop: Bool { get set }
    /// Whether the stored response was delivered before, or could not be used.
    var isSecond: Bool { get }
    /// Where the response of the run's last transfer came from.
    var source: CacheSource { get }
    /// Whether the policy, and not the server, determines how long a response is fresh.
    var isTimed: Bool { get }

    /// The stored response does not end the run: the network is next.
    mutating func networkIsNext()
    /// The run is over; its response from the network is stored if the run succeeded.
    func runEnded(succeeded: Bool)
}

/// When a transfer was sent that other requests may join.
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
