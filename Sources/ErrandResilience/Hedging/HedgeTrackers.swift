import Synchronization

/// A ``HedgeTracker`` for each host.
///
/// The map is bounded: a full map first forgets hosts that were not used for ten minutes, then those that were not used
/// for longest. All methods may be called on any thread; none of them fails or waits.
public final class HedgeTrackers: Sendable {
    /// When calls are hedged.
    public let policy: HedgePolicy
    private let trackers: Mutex<RecencyMap<String, HedgeTracker>>
    private let time: @Sendable () -> Duration

    /// Makes an empty map.
    ///
    /// - Parameter capacity: the most hosts that are remembered; 256 by default, at least 1. A host takes up to 16 KB.
    public init(
        _ policy: HedgePolicy = HedgePolicy(), capacity: Int = 256, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.policy = policy
        trackers = Mutex(RecencyMap(capacity: capacity, idleTime: .seconds(600)))
        time = Stopwatch(clock).now
    }

    /// The tracker of a host, made with its first use. Upper and lower case are the same host.
    public func tracker(for host: String) -> HedgeTracker {
        let key = host.lowercased()
        return trackers.withLock { map in
            map.value(key, now: time()) { HedgeTracker(policy, time: time) }
        }
    }

    /// The number of remembered hosts.
    public var count: Int { trackers.withLock { $0.count } }
}
