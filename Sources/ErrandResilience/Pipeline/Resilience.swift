/// What a client does about services that fail or are overloaded. A part that is `nil` is off.
///
/// ```swift
/// var configuration = Client.Configuration(baseURL: "https://api.example.com")
/// configuration.resilience = .standard
/// let client = Client(configuration: configuration)
/// ```
///
/// Each transfer passes the parts in this order, from the outside in: the deadline, retries with their budget, the
/// circuit breaker, the limit of requests in flight, the limit of the rate. Then the engine sends the attempt. The
/// cache, redirects, authentication and interceptors stand outside: a redirect or a replay is a transfer of its own.
/// The deadline is the earlier one of ``Timeouts/total`` and ``Deadline/current`` of the task that sends the transfer;
/// of a transfer that requests share it is ``Timeouts/total`` alone.
///
/// Budgets, breakers and limits are kept for each origin (scheme, host and port). A client makes its own parts, which
/// ``Client/resilience`` shows. A value: any thread.
public struct Resilience: Sendable, Hashable {
    /// Which requests are sent again, and when; `nil`, the default: none. An attempt gets the shorter one of
    /// ``RetryPolicy/attemptTimeout`` and the time that is left until the deadline.
    public var retry: RetryPolicy?
    /// How many extra sends retries may cause; by default 10 % of the requests and one a second. `nil`: no bound.
    public var budget: RetryBudget.Policy?
    /// When requests to an origin are refused because it fails; `nil`, the default: never. A refused request fails with
    /// ``ErrandError/circuitOpen``.
    public var breaker: BreakerPolicy?
    /// How many requests to an origin may be in flight; `nil`, the default: no limit. A refused request fails with
    /// ``ErrandError/limitExceeded``.
    public var concurrency: ConcurrencyLimit.Settings?
    /// How many requests are sent to an origin in a time; `nil`, the default: no limit. A refused request fails with
    /// ``ErrandError/limitExceeded``.
    public var rate: RateLimit.Settings?

    /// Makes a value; with the defaults all parts are off.
    public init(
        retry: RetryPolicy? = nil, budget: RetryBudget.Policy? = RetryBudget.Policy(), breaker: BreakerPolicy? = nil,
        concurrency: ConcurrencyLimit.Settings? = nil, rate: RateLimit.Settings? = nil
    ) {
        self.retry = retry
        self.budget = budget
        self.breaker = breaker
        self.concurrency = concurrency
        self.rate = rate
    }

    /// Retries with a budget, and circuit breakers, with their defaults.
    public static let standard = Resilience(retry: RetryPolicy(), breaker: BreakerPolicy())
}
