import Synchronization

/// The budgets, breakers and limits of commands with policies of their own, by policy. Each of them keeps its data by
/// the command's name or by the origin. Any thread.
final class CommandParts: Sendable {
    private let budgetTable = Mutex(PolicyTable<RetryBudget.Policy, RetryBudgets>())
    private let breakerTable = Mutex(PolicyTable<BreakerPolicy, CircuitBreakers>())
    private let concurrencyTable = Mutex(PolicyTable<ConcurrencyLimit.Settings, ConcurrencyLimit>())
    private let rateTable = Mutex(PolicyTable<RateLimit.Settings, RateLimit>())
    private let stopwatch: Stopwatch
    private let onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?

    init(
        _ stopwatch: Stopwatch, onBreakerTransition: (@Sendable (CircuitBreaker, BreakerTransition) -> Void)?
    ) {
        self.stopwatch = stopwatch
        self.onBreakerTransition = onBreakerTransition
    }

    func budgets(_ policy: RetryBudget.Policy) -> RetryBudgets {
        budgetTable.withLock { table in
            table.part(of: policy) { RetryBudgets(policy, time: stopwatch.now) }
        }
    }

    func breakers(_ policy: BreakerPolicy) -> CircuitBreakers {
        breakerTable.withLock { table in
            table.part(of: policy, isKept: { $0.hasOverridden }) {
                CircuitBreakers(policy, time: stopwatch.now, onTransition: onBreakerTransition)
            }
        }
    }

    func concurrency(_ settings: ConcurrencyLimit.Settings) -> ConcurrencyLimit {
        concurrencyTable.withLock { table in
            table.part(of: settings) { ConcurrencyLimit(settings, stopwatch: stopwatch) }
        }
    }

    func rate(_ settings: RateLimit.Settings) -> RateLimit {
        rateTable.withLock { table in
            table.part(of: settings) { RateLimit(settings, clock: stopwatch.clock) }
        }
    }

    /// The remembered budgets of all policies, by name or origin.
    var allBudgets: [(key: String, value: RetryBudget)] {
        let maps = budgetTable.withLock { $0.parts }
        return maps.flatMap { $0.all }
    }

    /// The remembered limits of requests in flight.
    var allConcurrencyLimits: [ConcurrencyLimit] { concurrencyTable.withLock { $0.parts } }

    /// The remembered limits of the rate.
    var allRateLimits: [RateLimit] { rateTable.withLock { $0.parts } }

    /// The remembered breakers of all policies.
    var allBreakers: [CircuitBreaker] {
        // The maps have locks of their own, so they are read after this one is released.
        let maps = breakerTable.withLock { $0.parts }
        return maps.flatMap { $0.all }
    }
}
