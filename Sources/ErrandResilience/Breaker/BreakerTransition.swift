/// A change of a circuit breaker's state.
public struct BreakerTransition: Sendable, Hashable {
    /// Why the state changed. The raw values are fit for a metric label.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// ``BreakerPolicy/failureRate`` was reached.
        case failureRate
        /// ``BreakerPolicy/slowCallRate`` was reached.
        case slowCallRate
        /// The open time has passed, and a call came.
        case openTimePassed
        /// The probes reached neither rate.
        case probesSucceeded
        /// An operator forced or released a state.
        case operated
    }

    /// The former state.
    public let from: BreakerState
    /// The new state.
    public let to: BreakerState
    /// Why.
    public let cause: Cause
    /// How long calls are refused from now on; `nil` where the new state is not ``BreakerState/open``.
    public let openFor: Duration?
}
