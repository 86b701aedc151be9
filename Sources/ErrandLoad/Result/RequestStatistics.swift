/// What happened to the requests of one name in one scenario, in the measured part of the run.
public struct RequestStatistics: Sendable, Equatable {
    /// The scenario that sent the requests.
    public var scenario: String
    /// The name of the requests: the name in the plan, or method and URL template.
    public var name: String
    /// How the requests ended.
    public var counts = LoadCounts()
    /// Answered requests by status code.
    public var statuses: [Int: UInt64] = [:]
    /// Failed and timed-out requests, and answered ones that did not pass a check or could not be decoded.
    public var errors: [LoadError: UInt64] = [:]
    /// Answered requests that did not pass a check, or whose status counts as an error. They are part of
    /// ``LoadCounts/answered``.
    public var rejected: UInt64 = 0
    /// Attempts on the wire, resends included. Divided by the requests that were sent, this is the amplification.
    public var attempts: UInt64 = 0
    /// Bytes in both directions.
    public var traffic = LoadTraffic()

    /// From the moment when a request was due to its end. Contains answered, failed and timed-out requests. Unfinished
    /// requests and requests that were never sent are contained with the time that they had waited when the run was
    /// over. Requests that failed within a second before they had a connection (``LoadError/Phase/queue``,
    /// ``LoadError/Phase/resolve``, ``LoadError/Phase/connect``) are not contained: a refused connection is quick, but
    /// no response.
    public var latency = LatencyHistogram()
    /// Open model: from the moment when a request was due until a user was free for it. 0 for those that did not wait.
    public var userWait = LatencyHistogram()
    /// From the moment when a request was due and a user was free until the generator sent the request: the lateness of the
    /// generator.
    public var sendDelay = LatencyHistogram()
    /// From sending to the end of the response, for answered requests: the lateness of the server.
    public var serviceTime = LatencyHistogram()
    /// The phases of answered requests.
    public var phases = LoadPhases()

    /// Intervals of ``LoadResult/interval`` since the start of the measured part, by the times at which requests ended.
    /// Intervals without an ended request may be missing.
    public var intervals: [LoadInterval] = []

    /// No requests.
    public init(scenario: String, name: String) {
        self.scenario = scenario
        self.name = name
    }

    /// The requests that count as errors in thresholds: unanswered or rejected.
    public var errorCount: UInt64 { counts.unanswered + rejected }
}

/// Durations of the phases of requests.
public struct LoadPhases: Sendable, Equatable {
    /// Name resolution; only for requests that made a connection.
    public var resolve = LatencyHistogram()
    /// TCP connect; only for requests that made a connection.
    public var connect = LatencyHistogram()
    /// The TLS handshake; only for requests that made a TLS connection.
    public var tls = LatencyHistogram()
    /// From the end of sending to the first byte of the response.
    public var firstByte = LatencyHistogram()
    /// From the first byte to the last byte of the response.
    public var body = LatencyHistogram()

    /// No durations.
    public init() {}
}

/// One interval of a time series.
public struct LoadInterval: Sendable, Equatable {
    /// The number of the interval since the start of the measured part, from 0.
    public var index: Int
    /// The requests that ended in the interval.
    public var counts = LoadCounts()
    /// The part of the answered requests that was rejected.
    public var rejected: UInt64 = 0
    /// Bytes in both directions.
    public var traffic = LoadTraffic()
    /// The latencies of the requests that ended in the interval, as ``RequestStatistics/latency``, in the compact form of
    /// ``CompactHistogram``, because a run may have many thousand intervals.
    public var latency = CompactHistogram()

    /// An empty interval.
    public init(index: Int) {
        self.index = index
    }
}
