import ArgumentParser
import Errand

/// The options of `errand fetch` for retries. Names and meaning are those of curl's options; docs/tool.md lists the
/// differences.
struct RetryArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Number of retries, 0 to 99, after a timeout, a failed name lookup or a status of 408, 429, 500, 502, 503, \
            504, 522 or 524, whatever the method. The tool waits 1 s before the first retry and twice as long before \
            each further one, up to 10 min, or as long as Retry-After asks. --timeout then limits each attempt. With \
            -L, number and times are those of each hop. Default: none.
            """,
            valueName: "number"))
    var retry: Int?

    @Option(help: "With --retry: the time before each retry, instead of 1 s that doubles; 0 is the default.")
    var retryDelay: OptionalDurationArgument?

    @Option(
        help: """
            With --retry: no retry begins later than this after the start, with -L after the start of each hop; an \
            attempt that has begun goes on. 0 is no limit, the default.
            """)
    var retryMaxTime: OptionalDurationArgument?

    @Flag(
        help: """
            With --retry: retry after every failure of a connection or a transfer too, and with --fail after every \
            status of 400 or above.
            """)
    var retryAllErrors = false

    @Flag(help: "With --retry: retry after a connection that was refused or not possible, too.")
    var retryConnrefused = false

    /// The waits and the statuses are those of curl.
    private static let firstDelay = Duration.seconds(1)
    private static let longestDelay = Duration.seconds(600)
    private static let statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504, 522, 524]
    /// The failures that `--retry-connrefused` and `--retry-all-errors` add to failed lookups and connect timeouts.
    private static let failedConnections: Set<ErrandError> = [.connectFailed]
    private static let otherFailedConnections: Set<ErrandError> = [.proxyFailed, .tlsFailed, .outOfDescriptors]

    /// The policy of the retries; `nil`: there are no retries.
    ///
    /// - Parameters:
    ///   - timeout: The time limit of an attempt.
    ///   - fails: Whether a status of 400 or above is a failure.
    func policy(timeout: Duration?, fails: Bool) throws(ToolError) -> RetryPolicy? {
        guard let retry else {
            let given = [
                ("--retry-delay", retryDelay != nil), ("--retry-max-time", retryMaxTime != nil),
                ("--retry-all-errors", retryAllErrors), ("--retry-connrefused", retryConnrefused),
            ]
            if let (name, _) = given.first(where: \.1) { throw ToolError(.usage, "\(name) requires --retry") }
            return nil
        }
        guard (0...99).contains(retry) else { throw ToolError(.usage, "--retry is \(retry), expected 0 to 99") }
        guard retry > 0 else { return nil }
        let delay = retryDelay?.duration
        var excluded: Set<ErrandError> = []
        if !retryAllErrors {
            excluded = Self.otherFailedConnections
            if !retryConnrefused { excluded.formUnion(Self.failedConnections) }
        }
        return RetryPolicy(
            maxAttempts: retry + 1,
            backoff: RetryBackoff(
                base: delay ?? Self.firstDelay, cap: delay ?? Self.longestDelay, jitter: 0),
            methods: .any,
            statusCodes: retryAllErrors && fails ? Self.statusCodes.union(400...599) : Self.statusCodes,
            failures: retryAllErrors
                ? Set(ErrandError.TransientFailure.allCases) : [.noConnection, .timeout],
            excludedErrors: excluded,
            retryAfterCap: .seconds(Int64.max), attemptTimeout: timeout, maxRetryTime: retryMaxTime?.duration)
    }
}

/// A duration, or 0 for none.
struct OptionalDurationArgument: ExpressibleByArgument, Hashable, Sendable {
    /// `nil`: 0 was given.
    let duration: Duration?

    init?(argument: String) {
        guard argument != "0" else {
            duration = nil
            return
        }
        guard let given = DurationArgument(argument: argument) else { return nil }
        duration = given.duration
    }
}
