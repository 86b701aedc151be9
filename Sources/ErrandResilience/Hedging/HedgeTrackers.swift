import Synchronization

/// A ``HedgeTracker`` for each host.
///
/// The map is bounded: a full map first forgets hosts that were not used for ten minutes, then the least recently used
/// ones. All methods may be called on any thread; none of them fails or waits.
public final class HedgeTrackers: Sendable {
    /// When calls are hedged.
    public let policy: HedgePolicy
    private let trackers: Mutex<RecencyMap<String, HedgeTracker>>
    private let time: @Sendable () -> Duration

    /// Makes an empty map.
    ///
    /// - Parameter capacity: the most hosts that are remembered; 256 by default, at least 1. A host takes up to 16 KB.
    public convenience init(
        _ policy: HedgePolicy = HedgePolicy(), capacity: Int = 256, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(policy, capacity: capacity, time: Stopwatch(clock).now)
    }

    init(_ policy: HedgePolicy, capacity: Int = 256, time: @escaping @Sendable () -> Duration) {
        self.policy = policy
        trackers = Mutex(RecencyMap(capacity: capacity, idleTime: .seconds(600)))
        self.time = time
    }

    /// The tracker of a host, made when it is first used. Upper and lower case are the same host.
    public func tracker(for host: String) -> HedgeTracker {
        let key = host.lowercased()
        return trackers.withLock { map in
            map.value(key, now: time()) { HedgeTracker(policy, time: time) }
        }
    }

    /// The number of remembered hosts.
    public var count: Int { trackers.withLock { $0.count } }
}
