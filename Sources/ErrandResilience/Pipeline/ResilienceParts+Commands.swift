extension ResilienceParts {
    /// The retry budgets of the commands that give this policy (``Command/resilience``), by name or origin. For the
    /// client's own policy these are ``budgets``. Budgets are remembered in the same way as ``circuitBreakers(with:)``.
    /// Any thread.
    public func retryBudgets(with policy: RetryBudget.Policy) -> RetryBudgets {
        if let budgets, budgets.policy == policy { return budgets }
        return commands.budgets(policy)
    }

    /// The breakers of the commands that give this policy (``Command/resilience``), by name or origin. They are made
    /// when they are first used. For the client's own policy these are ``breakers``. Any thread.
    ///
    /// The 64 policies that were used last are remembered. A policy that was forgotten begins anew; requests in flight
    /// keep the breaker that they have.
    public func circuitBreakers(with policy: BreakerPolicy) -> CircuitBreakers {
        if let breakers, breakers.policy == policy { return breakers }
        return commands.breakers(policy)
    }

    /// The limit of requests in flight of the commands that give these settings. Its keys are names or origins. For the
    /// client's own settings this is ``concurrency``. Limits are remembered in the same way as
    /// ``circuitBreakers(with:)``. Any thread.
    public func concurrencyLimit(with settings: ConcurrencyLimit.Settings) -> ConcurrencyLimit {
        if let concurrency, concurrency.settings == settings { return concurrency }
        return commands.concurrency(settings)
    }

    /// The limit of the rate of the commands that give these settings. Its keys are names or origins. For the client's
    /// own settings this is ``rate``. Limits are remembered in the same way as ``circuitBreakers(with:)``. Any thread.
    public func rateLimit(with settings: RateLimit.Settings) -> RateLimit {
        if let rate, rate.settings == settings { return rate }
        return commands.rate(settings)
    }

    /// The remembered breakers: those of ``breakers``, and those of commands with policies of their own. Two of them
    /// may have the same name if their policies differ. Any thread.
    public var allBreakers: [CircuitBreaker] { (breakers?.all ?? []) + commands.allBreakers }

    /// The remembered limits of requests in flight: ``concurrency``, and those of commands with settings of their own.
    package var allConcurrencyLimits: [ConcurrencyLimit] {
        (concurrency.map { [$0] } ?? []) + commands.allConcurrencyLimits
    }

    /// The remembered limits of the rate: ``rate``, and those of commands with settings of their own.
    package var allRateLimits: [RateLimit] { (rate.map { [$0] } ?? []) + commands.allRateLimits }

    /// The remembered budgets: those of ``budgets``, and those of commands with policies of their own.
    package var allBudgets: [(key: String, value: RetryBudget)] { (budgets?.all ?? []) + commands.allBudgets }

    /// The client's parts of an origin or a name.
    func keyed(by key: String) -> KeyedParts {
        KeyedParts(
            key: key, budget: budgets?.budget(for: key), breaker: breakers?.breaker(for: key),
            concurrency: concurrency, rate: rate)
    }

    /// The parts of a command, by its name or by the origin of its request.
    func keyed(by key: String, _ replaced: ResilienceReplacement) -> KeyedParts {
        let budgets = replaced.budget.part(client: self.budgets) { self.retryBudgets(with: $0) }
        let breakers = replaced.breaker.part(client: self.breakers) { self.circuitBreakers(with: $0) }
        return KeyedParts(
            key: key, budget: budgets?.budget(for: key), breaker: breakers?.breaker(for: key),
            concurrency: replaced.concurrency.part(client: concurrency) { self.concurrencyLimit(with: $0) },
            rate: replaced.rate.part(client: rate) { self.rateLimit(with: $0) })
    }
}
