/// A state that an operator sets, whatever the results of calls are.
public enum BreakerOverride: String, Sendable, Hashable, CaseIterable {
    /// Refuse every call (resilience4j `FORCED_OPEN`).
    case open
    /// Let every call pass, and count (resilience4j `METRICS_ONLY`).
    case closed
    /// Let every call pass, and do not count (resilience4j `DISABLED`).
    case disabled
}
