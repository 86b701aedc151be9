/// A call that an open, or fully probed, circuit breaker refused.
public struct BreakerRefusal: Error, Sendable, Hashable {
    /// The state that refused the call.
    public let state: BreakerState
    /// How long to wait before another call may pass: until the open time has passed, or until the oldest probe has
    /// ended at the latest. `nil`: no call passes before an operator releases the breaker.
    public let retryAfter: Duration?
}
