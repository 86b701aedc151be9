/// How the run of a request uses a cache; travels with the description of each of the run's transfers. The cache has the
/// rest of it.
package protocol CachePlan: Sendable {
    /// In which order cache and network are asked.
    var reading: CacheReading { get set }
    /// A redirect led to the transfer.
    var isHop: Bool { get set }
    /// The stored response was delivered before, or could not be used.
    var isSecond: Bool { get }
    /// Where the response of the run's last transfer came from.
    var source: CacheSource { get }
    /// Whether the policy says how long a response is fresh, and not the server.
    var isTimed: Bool { get }
    /// When the transfer was sent, in milliseconds since 1970, and after which removal of what it may store. For requests
    /// that join the transfer.
    var sent: (at: Int64, after: UInt64) { get }

    /// The stored response does not end the run: the network is asked next.
    mutating func networkIsNext()
    /// The run is over; what it took from the network is stored where it succeeded.
    func runEnded(succeeded: Bool)
}

/// Where the response of a transfer came from.
package enum CacheSource: Sendable {
    case network
    /// Served before the network was asked.
    case stored
    /// Served because the network failed.
    case standIn
}
