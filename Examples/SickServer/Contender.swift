import Errand

/// A client with its settings, and its appearance on the page.
struct Contender: Sendable {
    let name: String
    let explanation: String
    /// The suffix of the colour's name on the page.
    let colour: String
    /// The dash pattern of its lines; empty: solid lines.
    let dashes: String
    let resilience: Resilience?

    /// The time limit of a request as a whole, whatever is done about failures.
    static let total = Timeout.milliseconds(1000)
    /// The time limit of an attempt of a retried request: many times the healthy latency.
    static let attempt = Duration.milliseconds(250)

    /// Windows and open times are short compared with the phases of the script, so that the figures of a phase are not
    /// those of the phase before. In a script of 60 s, whose phases have 8 s or more, windows are 2 s and open times at
    /// most 1 s.
    static func all(for script: SickScript) -> [Contender] {
        // Shorter windows would contain too few requests for a decision.
        let window = max(script.seconds / 30, 0.3)
        // There is no floor, so the share is exact.
        let budget = RetryBudget.Policy(ratio: 0.25, floorPerSecond: 0, window: .seconds(window))
        // In the errors phase half of the requests fail. This must not open the breaker by chance, so many calls and
        // many probes are needed.
        let breaker = BreakerPolicy(
            window: .time(.seconds(window)), failureRate: 0.7, minimumCalls: 50, openTime: .seconds(window / 8),
            longestOpenTime: .seconds(window / 2), halfOpenPermits: 20)
        // Four times the latency of a healthy server, which is 10 to 30 ms. A request has at most one hedge.
        let hedges = HedgePolicy(delay: .fixed(.milliseconds(80)), budget: budget)
        return [
            Contender(
                name: "nothing", explanation: "each request is sent once, and fails after 1 s", colour: "grey",
                dashes: "", resilience: nil),
            Contender(
                name: "retries", explanation: "up to 4 attempts of 250 ms each, without a budget", colour: "red",
                dashes: "7 3", resilience: Resilience(retry: retries, budget: nil)),
            Contender(
                name: "retries with a budget", explanation: "the same; retries are at most 25 % of the requests",
                colour: "blue", dashes: "2 3", resilience: Resilience(retry: retries, budget: budget)),
            Contender(
                name: "budget and breaker", explanation: "the same, with a circuit breaker", colour: "purple",
                dashes: "9 3 2 3", resilience: Resilience(retry: retries, budget: budget, breaker: breaker)),
            Contender(
                name: "hedges", explanation: "a second attempt after 80 ms, with the same budget and breaker",
                colour: "green", dashes: "12 4",
                resilience: Resilience(budget: budget, hedge: hedges, breaker: breaker)),
        ]
    }

    private static let retries = RetryPolicy(
        maxAttempts: 4, backoff: RetryBackoff(base: .milliseconds(50), cap: .milliseconds(200)),
        attemptTimeout: attempt)

    /// The client, with limits that leave room for all requests in flight.
    func client(port: Int) -> Client {
        var configuration = Client.Configuration(baseURL: "http://127.0.0.1:\(port)")
        configuration.loops = 1
        configuration.inFlightLimit = 10_000
        configuration.originInFlightLimit = 10_000
        configuration.timeouts = Timeouts(total: Self.total)
        configuration.resilience = resilience
        return Client(configuration: configuration)
    }
}

struct Ask: Command {
    var path: String { "ask" }
    typealias Response = NoContent
}
