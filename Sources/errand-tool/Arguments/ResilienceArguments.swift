import ArgumentParser
import Errand

/// The options of `errand bench` that show what retries, hedges and circuit breakers do to a server, with the library's
/// defaults in all other respects.
struct ResilienceArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Number of retries of a request after a broken connection, a timeout or a status of 408, 429, 502, 503 or \
            504, with the library's waits. Only of methods that may be repeated. Not with --mode core.
            """,
            valueName: "number"))
    var retry: Int?

    @Flag(
        inversion: .prefixedNo,
        help: """
            Limit extra sends: retries to a tenth of the requests and one a second, hedges to a twentieth. The default \
            with --retry or --hedge.
            """)
    var retryBudget: Bool?

    @Option(
        help: ArgumentHelp(
            """
            Send a request a second time if there is no answer after this time, such as 50ms, or after this \
            percentile of the latencies, p50 to p99.9; at once if the first attempt fails before that. Not with --mode \
            core.
            """,
            valueName: "time|pNN"))
    var hedge: HedgeArgument?

    @Flag(help: "Refuse requests while half of those of the last ten seconds have failed. Not with --mode core.")
    var breaker = false

    private static let hedgeBudget = HedgePolicy().budget
    private static let noLimit = RetryBudget.Policy(ratio: 10, floorPerSecond: 1_000_000)

    /// `nil`: requests are sent once.
    func settings(_ mode: BenchPlan.Mode) throws(ToolError) -> Resilience? {
        if let retryBudget, retry == nil, hedge == nil {
            throw ToolError(.usage, "--\(retryBudget ? "" : "no-")retry-budget requires --retry or --hedge")
        }
        let isLimited = retryBudget ?? true
        let given = [("--retry", retry != nil), ("--hedge", hedge != nil), ("--breaker", breaker)]
        guard let (name, _) = given.first(where: \.1) else { return nil }
        guard mode != .core else {
            throw ToolError(.usage, "\(name) cannot be used with --mode core, which sends each request once")
        }
        if let retry, !(0...99).contains(retry) {
            throw ToolError(.usage, "--retry is \(retry), expected 0 to 99")
        }
        return Resilience(
            retry: retry.map { RetryPolicy(maxAttempts: $0 + 1) }, budget: isLimited ? RetryBudget.Policy() : nil,
            hedge: hedge.map { HedgePolicy(delay: $0.delay, budget: isLimited ? Self.hedgeBudget : Self.noLimit) },
            breaker: breaker ? BreakerPolicy() : nil)
    }
}

/// The value of `--hedge`.
struct HedgeArgument: ExpressibleByArgument, Hashable, Sendable {
    let delay: HedgePolicy.Delay

    init?(argument: String) {
        if argument.hasPrefix("p") {
            let digits = argument.dropFirst()
            guard let first = digits.first, first.isASCII, first.isNumber,
                digits.allSatisfy({ ("0"..."9").contains($0) || $0 == "." }), let percentile = Double(digits),
                (50...99.9).contains(percentile)
            else { return nil }
            delay = .percentile(percentile / 100, initial: nil)
        } else {
            guard let time = DurationArgument(argument: argument) else { return nil }
            delay = .fixed(time.duration)
        }
    }
}
