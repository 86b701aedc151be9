/// How a download bears broken connections and servers that are busy (408, 425, 429, 500, 502, 503, 504): it waits, and
/// goes on from where it was.
public struct DownloadRetry: Sendable, Hashable {
    /// How many failures in a row, without a byte between them, are followed by another try; the next one ends the run. 0:
    /// the first does. Default: 5. (``EventSourcePolicy/maximumFailures`` counts the one that ends it.)
    public var maximumFailures = 5
    /// How often to begin from zero because the content changed, or was not what was asked for, before giving up.
    /// Default: 3.
    public var maximumRestarts = 3
    /// The wait after the first failure; it doubles with each that follows, and a fifth of it may be left out at random. At
    /// least 10 ms. Default: 1 s.
    public var firstDelay = Duration.seconds(1)
    /// No wait is longer, whatever `Retry-After` says. Default: 60 s.
    public var maximumDelay = Duration.seconds(60)
    /// Whether a server that could not be reached even once in a run is tried again, too: its name does not resolve, nobody
    /// listens, or nothing comes in time. Default: no, that is told at once.
    public var coversFirstConnection = false

    /// Makes a value.
    public init(
        maximumFailures: Int = 5, maximumRestarts: Int = 3, firstDelay: Duration = .seconds(1),
        maximumDelay: Duration = .seconds(60), coversFirstConnection: Bool = false
    ) {
        self.coversFirstConnection = coversFirstConnection
        self.maximumFailures = maximumFailures
        self.maximumRestarts = maximumRestarts
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
    }
}
