/// A call that an open, or fully probed, circuit breaker refused.
public struct BreakerRefusal: Error, Sendable, Hashable {
    /// The state that refused the call.
    public let state: BreakerState
    /// After which time another call may pass: when the open time has passed, or the oldest probe has ended at the
    /// latest. `nil`: not before an operator releases the breaker.
    public let retryAfter: Duration?
}
