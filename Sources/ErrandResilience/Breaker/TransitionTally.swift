import Synchronization

/// Counts the changes of state of many breakers, by the new state. Any thread.
final class TransitionTally: Sendable {
    private let tally = Mutex<[BreakerState: Int]>([:])

    var counts: [BreakerState: Int] { tally.withLock { $0 } }

    /// The closure for breakers to call: it counts a change, and then calls `next`.
    func counting(
        _ next: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    ) -> @Sendable (CircuitBreaker, BreakerTransition) -> Void {
        { [self] breaker, transition in
            tally.withLock { $0[transition.to, default: 0] += 1 }
            next?(breaker, transition)
        }
    }
}
