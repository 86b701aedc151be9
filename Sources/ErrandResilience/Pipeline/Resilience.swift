/// What a client does about services that fail or are overloaded. A part that is `nil` is off.
///
/// ```swift
/// var configuration = Client.Configuration(baseURL: "https://api.example.com")
/// configuration.resilience = .standard
/// let client = Client(configuration: configuration)
/// ```
///
/// Each transfer passes the parts in this order, from the outside in: the deadline, retries with their budget or hedges,
/// the circuit breaker, the limit of requests in flight, the limit of the rate. Then the attempt gets its endpoint
/// (``Client/Configuration/endpoints``), and the engine sends it. The cache, redirects, authentication and interceptors
/// stand outside: a redirect or a replay is a transfer of its own.
///
/// The breaker and the limits measure an attempt from the time when it is sent, after its waits for the limits. An
/// attempt that waits for the rate holds its place among the requests in flight.
///
/// The deadline is the earlier one of ``Timeouts/total`` and ``Deadline/current`` of the task that sends the transfer. A
/// transfer that several requests share has ``Timeouts/total`` alone as its deadline.
///
/// Budgets, breakers and limits are kept for each origin (scheme, host and port), or by the name that a command gives
/// (``Command/resilience``). A command may also give policies of its own, or switch a part off. A client makes its own
/// parts, which ``Client/resilience`` shows, or shares those of another client
/// (``Client/Configuration/resilienceParts``). A value: any thread.
public struct Resilience: Sendable, Hashable {
    /// Which requests are retried, and when; `nil`, the default: none. An attempt gets the shorter one of
    /// ``RetryPolicy/attemptTimeout`` and the time that is left until the deadline.
    public var retry: RetryPolicy?
    /// How many extra sends retries and hedges may cause; by default 10 % of the requests and one a second. `nil`: no
    /// bound.
    public var budget: RetryBudget.Policy?
    /// Which requests are sent a second time when the answer is late; `nil`, the default: none. Requests that may
    /// overlap (``HedgePolicy``) are hedged and then not retried; others are retried. As long as there is no
    /// delay (``HedgePolicy/Delay``), all are retried.
    public var hedge: HedgePolicy?
    /// When requests to an origin are refused because it fails; `nil`, the default: never. A refused request fails with
    /// ``ErrandError/circuitOpen``.
    public var breaker: BreakerPolicy?
    /// How many requests to an origin may be in flight; `nil`, the default: no limit. A refused request fails with
    /// ``ErrandError/limitExceeded``.
    public var concurrency: ConcurrencyLimit.Settings?
    /// How many requests are sent to an origin in a time; `nil`, the default: no limit. A refused request fails with
    /// ``ErrandError/limitExceeded``.
    public var rate: RateLimit.Settings?
    /// The field that tells the server the remaining time of the attempt; `nil`, the default: none. Attempts without a
    /// deadline and without ``RetryPolicy/attemptTimeout`` have no such field.
    public var deadlineHeader: DeadlineHeader?

    /// Makes a value; with the defaults all parts are off.
    public init(
        retry: RetryPolicy? = nil, budget: RetryBudget.Policy? = RetryBudget.Policy(), hedge: HedgePolicy? = nil,
        breaker: BreakerPolicy? = nil, concurrency: ConcurrencyLimit.Settings? = nil, rate: RateLimit.Settings? = nil,
        deadlineHeader: DeadlineHeader? = nil
    ) {
        self.retry = retry
        self.budget = budget
        self.hedge = hedge
        self.breaker = breaker
        self.concurrency = concurrency
        self.rate = rate
        self.deadlineHeader = deadlineHeader
    }

    /// Retries with a budget, and circuit breakers, with their defaults.
    public static let standard = Resilience(retry: RetryPolicy(), breaker: BreakerPolicy())
}
