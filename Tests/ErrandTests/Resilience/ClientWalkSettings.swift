import Errand

/// The settings of a walk. The bits of the seed choose the parts of the resilience, so 64 seeds have all combinations.
/// Endpoints, guards and dry runs follow the parity of several bits, so that each goes together with each other part.
struct ClientWalkSettings {
    /// What happens to the client before the last third of the walk.
    enum Shutdown {
        case never
        case cancel
        case drain
        /// A drain that a later shutdown turns into a cancel.
        case drainThenCancel
    }

    /// How the client authenticates itself.
    struct Access {
        /// How the runs end that have not ended by the last step.
        enum Ending {
            /// The server answers, and time passes.
            case answers
            /// The requests are stopped. No time passes.
            case stops
            /// The client is shut down. No time passes.
            case shutdown
        }

        let hasToken: Bool
        /// Whether the authentication stands around the client's other interceptors, and not inside of them.
        let isOutermost: Bool
        /// The longer one is longer than a walk.
        let refreshTimeout: Duration
        /// Whether the server fails no request: it only refuses tokens.
        let isServerSound: Bool
        let ending: Ending

        init(_ dice: ClientWalkDice) {
            hasToken = dice.isOneIn(2)
            isOutermost = dice.isOneIn(2)
            refreshTimeout = dice.isOneIn(3) ? .seconds(3) : .seconds(86_400)
            isServerSound = dice.isOneIn(4)
            ending = dice.pick([.answers, .answers, .stops, .shutdown]) ?? .answers
        }
    }

    var resilience = Resilience()
    let hasEndpoints: Bool
    let hasGuards: Bool
    /// Whether the parts only count.
    let isDryRun: Bool
    /// `nil`: the client does not authenticate itself.
    let access: Access?
    let shutdown: Shutdown
    let isDeliveredAtOnce: Bool
    let isInline: Bool
    let hasAccessories: Bool
    let hasInterceptors: Bool
    /// The threads that take the steps.
    let threads: Int

    init(seed: Int) {
        // The parts repeat after 64 seeds. The rest is drawn, so that it is not bound to a part.
        let dice = ClientWalkDice(seed: seed, purpose: 0)
        shutdown = dice.pick([.never, .cancel, .drain, .drainThenCancel]) ?? .never
        isDeliveredAtOnce = dice.isOneIn(3)
        isInline = dice.isOneIn(4)
        hasAccessories = dice.isOneIn(2)
        hasInterceptors = dice.isOneIn(3)
        threads = dice.isOneIn(4) ? 2 : 1
        hasEndpoints = Self.isOdd(seed & 0b10_0011)
        hasGuards = Self.isOdd(seed & 0b10_1100)
        isDryRun = Self.isOdd(seed & 0b11_0101) && Self.isOdd(seed & 0b01_1010)
        resilience.budget = RetryBudget.Policy(ratio: seed & 32 != 0 ? 1 : 0.1, isDryRun: isDryRun)
        if seed & 1 != 0 {
            let backoff = dice.isOneIn(2) ? RetryBackoff.none : RetryBackoff(jitter: 0)
            resilience.retry = RetryPolicy(maxAttempts: 4, backoff: backoff, attemptTimeout: .seconds(20))
        }
        if seed & 2 != 0 {
            // A probe lives longer than a walk, so a permit that is lost is seen at the end.
            resilience.breaker = BreakerPolicy(
                window: .count(20), failureRate: 0.4, minimumCalls: 8, openTime: .seconds(1),
                longestOpenTime: .seconds(4), jitter: 0, halfOpenPermits: 3, permitLifetime: .seconds(86_400),
                isDryRun: isDryRun)
        }
        if seed & 4 != 0 {
            resilience.concurrency = ConcurrencyLimit.Settings(
                limit: 4, queueCapacity: 6, longestWait: .seconds(10), isDryRun: isDryRun)
        }
        if seed & 8 != 0 {
            resilience.rate = RateLimit.Settings(
                rate: RateLimit.Rate(20, per: .seconds(1)), burst: 3, longestWait: .seconds(5), isDryRun: isDryRun)
        }
        if seed & 16 != 0 {
            resilience.hedge = HedgePolicy(
                delay: .fixed(.milliseconds(300)), maxExtra: 2,
                budget: RetryBudget.Policy(ratio: 1, floorPerSecond: 5), isDryRun: isDryRun)
        }
        access = dice.isOneIn(2) ? Access(dice) : nil
    }

    private static func isOdd(_ bits: Int) -> Bool { bits.nonzeroBitCount % 2 == 1 }

    /// The parts of the client.
    var features: ClientWalkFeatures {
        var features: ClientWalkFeatures = []
        if resilience.retry != nil { features.insert(.retry) }
        if resilience.hedge != nil { features.insert(.hedge) }
        if resilience.breaker != nil { features.insert(.breaker) }
        if resilience.concurrency != nil { features.insert(.concurrency) }
        if resilience.rate != nil { features.insert(.rate) }
        if hasEndpoints { features.insert(.endpoints) }
        if hasGuards { features.insert(.guards) }
        if isDryRun { features.insert(.dryRun) }
        return features
    }

    /// The scheme of what is sent: HSTS has the host of the base URL.
    private var scheme: String { hasGuards ? "https" : "http" }

    /// The origin of the client's requests.
    var origin: String { "\(scheme)://test" }

    /// Three servers in the place of the origin. A walk checks that its client has them.
    var endpoints: [ServiceEndpoints] {
        guard hasEndpoints else { return [] }
        let list = (1...3).compactMap { try? Endpoint("\(scheme)://server\($0)/") }
        let outliers = EndpointPolicy.Outliers(
            consecutiveFailures: 2, baseEjection: .seconds(1), isDryRun: isDryRun)
        let made = try? ServiceEndpoints(of: origin, .list(list), policy: EndpointPolicy(outliers: outliers))
        return made.map { [$0] } ?? []
    }
}
