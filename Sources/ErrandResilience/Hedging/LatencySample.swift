/// How a call, or one of its attempts, ended. This decides whether it is a sample of its host's latency.
///
/// Fast failures are no samples: with them the percentile would fall while the host fails, and hedges would add load.
public enum LatencySample: String, Sendable, Hashable, CaseIterable {
    /// An answer came.
    case success
    /// The attempt took too long. Its age is a lower bound of its latency.
    case timeout
    /// Another attempt was faster, and this one was cancelled. Its age is a lower bound of its latency.
    case loser
    /// The attempt failed in another way. The attempt is no sample.
    case failure

    var isCounted: Bool { self != .failure }
}
