/// The state of the process that made the load. A generator at its limit measures itself, not the server.
public struct GeneratorHealth: Sendable, Equatable {
    /// A reason for which the generator was the limit.
    public enum Limit: Sendable, Equatable, Codable {
        /// The process used this share (0 to 1) of the CPU time of its loop threads and callback threads.
        case cpu(share: Double)
        /// Requests were sent late: the 99th percentile of the send delay in nanoseconds.
        case lateSends(p99: UInt64)
        /// A loop or timer was late by this much, in nanoseconds.
        case loopLag(max: UInt64)
        /// This many requests got no descriptor (`ulimit -n` is `limit`).
        case descriptors(refused: UInt64, limit: Int)
        /// This many requests were due and were not sent.
        case neverSent(count: UInt64)
        /// All users of a scenario were busy, so this many iterations did not begin.
        case users(scenario: String, count: UInt64)
    }

    /// CPU time in user mode, in seconds.
    public var userSeconds: Double = 0
    /// CPU time in the kernel, in seconds.
    public var systemSeconds: Double = 0
    /// The cores that the process may use.
    public var cores: Int = 1
    /// The largest resident set, in bytes.
    public var peakResidentBytes: Int = 0
    /// The lateness of the generator's timers in nanoseconds, sampled every 10 ms.
    public var lag = LatencyHistogram()
    /// The largest number of open descriptors.
    public var peakDescriptors: Int = 0
    /// The soft limit of open descriptors.
    public var descriptorLimit: Int = 0
    /// Connections that were open at the end of the measured part.
    public var connections: Int = 0
    /// The number of event loops.
    public var loops: Int = 0
    /// Why the generator was the limit; empty: the server was.
    public var limits: [Limit] = []

    /// An idle generator.
    public init() {}
}
