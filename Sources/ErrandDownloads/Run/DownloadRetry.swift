/// How a download handles broken connections and busy servers (408, 425, 429, 500, 502, 503, 504): it waits, then
/// resumes from the bytes that it has.
public struct DownloadRetry: Sendable, Hashable {
    /// The number of consecutive failures, without a byte between them, after each of which the download tries again;
    /// the next failure ends the run. 0: the first failure ends the run. Default: 5.
    public var maximumFailures = 5
    /// The maximum number of restarts from zero because the content changed or was not the requested content. After
    /// that the download gives up. Default: 3.
    public var maximumRestarts = 3
    /// The wait after the first failure. The wait doubles with each further failure; up to a fifth of it may be cut off
    /// at random. At least 10 ms. Default: 1 s.
    public var firstDelay = Duration.seconds(1)
    /// The longest wait, whatever `Retry-After` says. Default: 60 s.
    public var maximumDelay = Duration.seconds(60)
    /// Whether to retry if the server was not reached even once in this run: its name does not resolve, the port is
    /// closed, or no answer comes in time. Default: no, the run fails at once.
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
