/// Ended calls, counted by result.
public struct BreakerTally: Sendable, Hashable {
    /// All calls that were successes or failures.
    public internal(set) var calls = 0
    /// The failures among them.
    public internal(set) var failures = 0
    /// The calls that took ``BreakerPolicy/slowCallDuration`` or longer, failures included.
    public internal(set) var slow = 0

    mutating func add(isFailure: Bool, isSlow: Bool) {
        calls += 1
        failures += isFailure ? 1 : 0
        slow += isSlow ? 1 : 0
    }

    static func += (left: inout BreakerTally, right: BreakerTally) {
        left.calls += right.calls
        left.failures += right.failures
        left.slow += right.slow
    }

    static func -= (left: inout BreakerTally, right: BreakerTally) {
        left.calls -= right.calls
        left.failures -= right.failures
        left.slow -= right.slow
    }
}
