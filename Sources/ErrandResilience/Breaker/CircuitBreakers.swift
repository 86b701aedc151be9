import Synchronization

/// A circuit breaker for each origin, endpoint or other name.
///
/// The map is bounded: a full map first forgets breakers that were not used for ten minutes, then the least recently
/// used ones. A name that was forgotten begins with a closed breaker. A breaker whose state an operator has set
/// (``CircuitBreaker/force(_:)``) is not forgotten until ``CircuitBreaker/release()``: the map keeps such breakers in
/// addition, at most as many as its capacity. Set the state only of a breaker that ``breaker(for:)`` has just returned.
/// An older breaker of the same name may have been forgotten, and no call asks that breaker. All methods may be called
/// on any thread; none of them fails or waits.
public final class CircuitBreakers: Sendable {
    private struct Table: Sendable {
        var recent: RecencyMap<String, CircuitBreaker>
        /// Breakers whose state an operator has set, and for which `recent` had no room.
        var overridden: [String: CircuitBreaker] = [:]

        /// The map has dropped these breakers. Those that an operator has set are kept, up to `capacity`.
        mutating func keep(_ forgotten: [CircuitBreaker], capacity: Int) {
            for breaker in forgotten where breaker.state.isOverridden {
                if overridden.count >= capacity { overridden = overridden.filter { $0.value.state.isOverridden } }
                guard overridden.count < capacity else { return }
                overridden[breaker.name] = breaker
            }
        }
    }

    /// The thresholds and times of every breaker.
    public let policy: BreakerPolicy
    private let capacity: Int
    private let breakers: Mutex<Table>
    private let overrides = OverrideCount()
    private let time: @Sendable () -> Duration
    private let onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?

    /// Makes an empty map.
    ///
    /// - Parameters:
    ///   - capacity: the most names that are remembered; 1024 by default, at least 1. In addition, the map remembers up
    ///     to the same number of breakers whose state an operator has set.
    ///   - onTransition: is called in the same way as that of a ``CircuitBreaker``.
    public convenience init(
        _ policy: BreakerPolicy = BreakerPolicy(), capacity: Int = 1024, clock: any Clock<Duration> = ContinuousClock(),
        onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)? = nil
    ) {
        self.init(policy, capacity: capacity, time: Stopwatch(clock).now, onTransition: onTransition)
    }

    init(
        _ policy: BreakerPolicy, capacity: Int = 1024, time: @escaping @Sendable () -> Duration,
        onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)? = nil
    ) {
        self.policy = policy
        self.onTransition = onTransition
        self.capacity = max(capacity, 1)
        breakers = Mutex(Table(recent: RecencyMap(capacity: capacity, idleTime: .seconds(600))))
        self.time = time
    }

    /// The breaker of a name, made when it is first used.
    public func breaker(for name: String) -> CircuitBreaker {
        breakers.withLock { table in
            let kept = table.overridden.isEmpty ? nil : table.overridden[name]
            if let kept {
                if kept.state.isOverridden { return kept }
                // Released: an ordinary breaker again.
                table.overridden[name] = nil
            }
            var forgotten: [CircuitBreaker] = []
            let breaker = table.recent.value(name, now: time(), forgotten: &forgotten) {
                kept ?? CircuitBreaker(name, policy, time: time, JitterSource(), onTransition, countedBy: overrides)
            }
            if !forgotten.isEmpty { table.keep(forgotten, capacity: capacity) }
            return breaker
        }
    }

    /// Whether an operator has set the state of a breaker. The breakers are not asked.
    var hasOverridden: Bool { !overrides.isZero }

    /// The remembered breakers.
    public var all: [CircuitBreaker] {
        breakers.withLock { $0.recent.values.map(\.value) + Array($0.overridden.values) }
    }
}
