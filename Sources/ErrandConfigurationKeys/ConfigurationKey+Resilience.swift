/// A part is on if a key of it is set, or the program has set it, unless its key `enabled` is false.
extension ConfigurationKey {
    /// Retries, their budget, and hedges.
    static let resilience: [ConfigurationKey] = [
        .init("retry.enabled", .flag, "false", "Whether requests are sent again after a failure."),
        .init("retry.maxAttempts", .count, "3", "All attempts of a request, the first included.", in: 1...100),
        .init("retry.backoff.base", .duration, "100ms", "The longest wait before the first retry.", in: years),
        .init("retry.backoff.cap", .duration, "20s", "The longest wait before any retry.", in: years),
        .init("retry.backoff.jitter", .number, "1", "The share of the wait that is drawn at random.", in: share),
        .init(
            "retry.methods", .list, "idempotent",
            "The methods of requests that may be sent again: idempotent, any, or names such as GET, POST."),
        .init(
            "retry.statusCodes", .list, "408, 429, 502, 503, 504",
            "The statuses after which a request is sent again.", orNone: true),
        .init(
            "retry.failures", .list, "noConnection, brokenConnection, timeout",
            "The failures after which a request is sent again; malformedResponse is one, too.", orNone: true),
        .init(
            "retry.retryAfterCap", .duration, "60s", "The longest Retry-After that is obeyed; none: it is ignored.",
            in: years, orNone: true),
        .init(
            "retry.attemptTimeout", .duration, "none", "The time of one attempt.", in: monthAtMost, orNone: true),
        .init(
            "retry.maxRetryTime", .duration, "none", "How long after the start retries begin.", in: years,
            orNone: true),
        .init("budget.enabled", .flag, "true", "Whether retries and hedges are bounded by a budget."),
        .init("budget.ratio", .number, "0.1", "The extra sends that a request pays for.", in: 0...10),
        .init(
            "budget.floorPerSecond", .number, "1", "The extra sends a second that need no requests.",
            in: 0...1_000_000),
        .init("budget.window", .duration, "10s", "How long a request pays.", in: 0.1...3600),
        .init("budget.isDryRun", .flag, "false", "Whether the budget only counts what it would refuse."),
        .init("hedge.enabled", .flag, "false", "Whether a request is sent a second time when its answer is late."),
        .init(
            "hedge.delay", .duration, "none", "A fixed wait before a hedge, in place of hedge.percentile.",
            in: openTimes, orNone: true),
        .init(
            "hedge.percentile", .number, "0.95", "The share of recent latencies that is the wait before a hedge.",
            in: 0.5...0.999),
        .init(
            "hedge.initialDelay", .duration, "none", "The wait while there are too few latencies; none: no hedge.",
            in: openTimes, orNone: true),
        .init("hedge.maxExtra", .count, "1", "The hedges of a request.", in: 0...4),
        .init("hedge.minimumSamples", .count, "100", "The latencies that a percentile needs.", in: million),
        .init("hedge.window", .duration, "60s", "How far back latencies count.", in: 1...3600),
        .init("hedge.isDryRun", .flag, "false", "Whether hedges are only counted."),
        .init("hedge.budget.ratio", .number, "0.05", "The hedges that a request pays for.", in: 0...10),
        .init(
            "hedge.budget.floorPerSecond", .number, "0", "The hedges a second that need no requests.",
            in: 0...1_000_000),
        .init("hedge.budget.window", .duration, "10s", "How long a request pays for hedges.", in: 0.1...3600),
        .init("hedge.budget.isDryRun", .flag, "false", "Whether that budget only counts what it would refuse."),
    ]

    /// Breakers, limits and the deadline's field.
    static let protection: [ConfigurationKey] = [
        .init("breaker.enabled", .flag, "false", "Whether requests to an origin that fails are refused."),
        .init("breaker.window", .duration, "10s", "The time over which rates are computed.", in: 0.1...3600),
        .init(
            "breaker.windowCalls", .count, "none", "The last calls over which rates are computed, in place of a time.",
            in: 1...10_000, orNone: true),
        .init("breaker.failureRate", .number, "0.5", "The share of failed calls that opens the breaker.", in: share),
        .init("breaker.slowCallRate", .number, "1", "The share of slow calls that opens the breaker.", in: share),
        .init(
            "breaker.slowCallDuration", .duration, "none", "From which duration on a call is slow.", in: years,
            orNone: true),
        .init("breaker.minimumCalls", .count, "20", "The calls without which no rate is judged.", in: million),
        .init("breaker.openTime", .duration, "5s", "How long the breaker is open the first time.", in: openTimes),
        .init("breaker.longestOpenTime", .duration, "5m", "The longest time open.", in: openTimes),
        .init("breaker.jitter", .number, "0.2", "The share of an open time that is left out at random.", in: share),
        .init("breaker.halfOpenPermits", .count, "5", "The probes of a half-open breaker.", in: 1...1000),
        .init("breaker.permitLifetime", .duration, "60s", "How long a probe may take.", in: openTimes),
        .init("breaker.isDryRun", .flag, "false", "Whether the breaker only counts what it would refuse."),
        .init("concurrency.enabled", .flag, "false", "Whether the requests in flight to an origin are limited."),
        .init("concurrency.limit", .count, "25", "The requests in flight to an origin.", in: million),
        .init("concurrency.queueCapacity", .count, "100", "The requests that may wait.", in: 0...1_000_000),
        .init(
            "concurrency.longestWait", .duration, "30s", "How long a request waits; none: as long as it may.",
            in: years, orNone: true),
        .init("concurrency.keyCapacity", .count, "1024", "The origins that are remembered.", in: million),
        .init("concurrency.isDryRun", .flag, "false", "Whether the limit only counts what it would refuse."),
        .init(
            "concurrency.adaptive.algorithm", .choice(["none", "gradient2", "aimd"]), "none",
            "How the limit follows the latency; none: concurrency.limit applies."),
        .init("concurrency.adaptive.initial", .count, "20", "The limit at the start.", in: million),
        .init("concurrency.adaptive.lowest", .count, "20", "The lowest limit.", in: million),
        .init("concurrency.adaptive.highest", .count, "200", "The highest limit.", in: million),
        .init("concurrency.adaptive.window", .duration, "1s", "The shortest window.", in: 0.1...3600),
        .init("concurrency.adaptive.minimumSamples", .count, "10", "The samples of a window.", in: million),
        .init(
            "concurrency.gradient2.queueSize", .count, "4", "By how many requests the limit may grow in a window.",
            in: 0...10_000),
        .init(
            "concurrency.gradient2.tolerance", .number, "1.5", "Which growth of the latency is harmless.", in: 1...100),
        .init("concurrency.gradient2.smoothing", .number, "0.2", "The weight of a new limit.", in: 0.01...1),
        .init("concurrency.gradient2.longWindow", .count, "600", "The long average in windows.", in: million),
        .init("concurrency.gradient2.dropBackoff", .number, "0.9", "The factor after a drop.", in: 0.5...1),
        .init("concurrency.aimd.backoff", .number, "0.9", "The factor after a drop.", in: 0.5...0.99),
        .init("concurrency.aimd.timeout", .duration, "5s", "The latency that counts as a drop.", in: years),
        .init("rate.enabled", .flag, "false", "Whether the rate of requests to an origin is limited."),
        .init(
            "rate.permits", .count, "none", "The requests in rate.period; none: only pauses of servers apply.",
            in: 1...1_000_000_000, orNone: true),
        .init("rate.period", .duration, "1s", "The period of rate.permits.", in: 0.000_001...86_400),
        .init("rate.burst", .count, "1", "The requests that may be sent at once.", in: million),
        .init("rate.longestWait", .duration, "30s", "How long a request waits.", in: years),
        .init("rate.longestPause", .duration, "5m", "The longest pause that a server can cause.", in: years),
        .init("rate.keyCapacity", .count, "4096", "The origins that are remembered.", in: million),
        .init("rate.isDryRun", .flag, "false", "Whether the limit only counts what it would refuse."),
        .init(
            "deadlineHeader", .text, "none",
            "The field with the time that is left: grpc-timeout, or another name for whole milliseconds.",
            orNone: true),
        .init(
            "obeysDeadlines", .flag, "false",
            "Whether requests obey the deadline of their task; with one of the parts above they always do."),
    ]

    /// More than zero, up to ten years.
    private static let openTimes: ClosedRange<Double> = 0.001...315_360_000
}
