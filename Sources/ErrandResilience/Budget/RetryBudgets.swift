import Synchronization

/// A retry budget for each host.
///
/// The map is bounded: a full map first forgets hosts that were not used for ``idleTime``, then the least recently used
/// ones. A host that was forgotten begins with a new budget. Running calls keep the budget that they have.
///
/// All methods may be called on any thread; none of them fails or waits.
public final class RetryBudgets: Sendable {
    /// The size of every budget.
    public let policy: RetryBudget.Policy
    /// A host that was not used for this time may be forgotten: the policy's window, or one minute if that is longer.
    public let idleTime: Duration
    private let budgets: Mutex<RecencyMap<String, RetryBudget>>
    private let time: @Sendable () -> Duration

    /// Makes an empty map.
    ///
    /// - Parameter capacity: the most hosts that are remembered; 1024 by default, at least 1.
    public convenience init(
        _ policy: RetryBudget.Policy = RetryBudget.Policy(), capacity: Int = 1024,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(policy, capacity: capacity, time: Stopwatch(clock).now)
    }

    init(_ policy: RetryBudget.Policy, capacity: Int = 1024, time: @escaping @Sendable () -> Duration) {
        self.policy = policy
        idleTime = max(policy.window, .seconds(60))
        budgets = Mutex(RecencyMap(capacity: capacity, idleTime: idleTime))
        self.time = time
    }

    /// The budget of a host, made when it is first used. Upper and lower case are the same host.
    public func budget(for host: String) -> RetryBudget {
        let key = host.lowercased()
        return budgets.withLock { map in
            map.value(key, now: time()) { RetryBudget(policy, time: time) }
        }
    }

    /// The remembered budgets, by host.
    package var all: [(key: String, value: RetryBudget)] {
        budgets.withLock { $0.values }
    }

    /// The number of remembered hosts.
    public var count: Int {
        budgets.withLock { $0.count }
    }
}
