import Synchronization

/// A circuit breaker for each origin, endpoint or other name.
///
/// The map is bounded: a full map first forgets breakers that were not used for ten minutes, then those that were not
/// used for longest. A name that was forgotten begins with a closed breaker. All methods may be called on any thread;
/// none of them fails or waits.
public final class CircuitBreakers: Sendable {
    /// The thresholds and times of every breaker.
    public let policy: BreakerPolicy
    private let breakers: Mutex<RecencyMap<String, CircuitBreaker>>
    private let time: @Sendable () -> Duration
    private let onTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?

    /// Makes an empty map.
    ///
    /// - Parameters:
    ///   - capacity: the most names that are remembered; 1024 by default, at least 1.
    ///   - onTransition: is called as ``CircuitBreaker`` calls it.
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
        breakers = Mutex(RecencyMap(capacity: capacity, idleTime: .seconds(600)))
        self.time = time
    }

    /// The breaker of a name, made with its first use.
    public func breaker(for name: String) -> CircuitBreaker {
        breakers.withLock { map in
            map.value(name, now: time()) { CircuitBreaker(name, policy, time: time, JitterSource(), onTransition) }
        }
    }

    /// The remembered breakers.
    public var all: [CircuitBreaker] {
        breakers.withLock { $0.values.map(\.value) }
    }
}
