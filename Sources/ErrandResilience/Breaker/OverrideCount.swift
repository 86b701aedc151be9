import Synchronization

/// How many breakers of a map have a state that an operator has set. Any thread.
final class OverrideCount: Sendable {
    private let count = Atomic<Int>(0)

    var isZero: Bool { count.load(ordering: .relaxed) == 0 }

    /// The state of a breaker has changed. Called while the breaker is locked.
    func changed(from was: BreakerState, to state: BreakerState) {
        guard was.isOverridden != state.isOverridden else { return }
        count.wrappingAdd(state.isOverridden ? 1 : -1, ordering: .relaxed)
    }
}
