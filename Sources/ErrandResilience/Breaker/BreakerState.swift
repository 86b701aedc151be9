/// The state of a circuit breaker as others see it. The raw values are fit for a metric label.
public enum BreakerState: String, Sendable, Hashable, CaseIterable {
    /// Calls pass, and their results are judged.
    case closed
    /// Calls are refused until the open time has passed.
    case open
    /// A few calls pass as probes; the others are refused.
    case halfOpen
    /// Calls are refused until ``CircuitBreaker/release()``.
    case forcedOpen
    /// Calls pass and are counted, and the breaker does not open, until ``CircuitBreaker/release()``.
    case forcedClosed
    /// Calls pass uncounted until ``CircuitBreaker/release()``.
    case disabled

    /// Whether an operator has set the state.
    var isOverridden: Bool {
        switch self {
        case .forcedOpen, .forcedClosed, .disabled: true
        case .closed, .open, .halfOpen: false
        }
    }
}
