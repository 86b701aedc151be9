import ArgumentParser
import Errand
import ErrandLoad
import Foundation
import HTTPTypes

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load-tests URLs, .http files and plans, and prints rates and latency percentiles.",
        usage: """
            errand bench [<options>] <url> ...
            errand bench [<options>] <file.http> ...
            errand bench [<options>] <plan.json>
            errand bench compare <before> <after>
            errand bench merge <result> ...
            """,
        discussion: """
            By default the load is a closed loop: -c requests are in flight, and each response starts the next \
            request. With --rate it is an open loop: requests are sent at fixed times, whether or not earlier ones got \
            a response, and latency counts from the intended time, so that a server that stalls cannot hide it.

            A .http file is run as errand chain runs it, again and again by each of the users; docs/load-tests.md \
            describes this, the plans in JSON, thresholds, and load from several machines. With a file, a plan, several \
            URLs, or an option of load tests (--users, --stages, --threshold, --output and others), the result has all \
            requests by scenario and name, and --json prints the format that errand bench compare and errand bench \
            merge read. The rest of this description is about one URL without such an option.

            The rate counts the requests that got a response, whatever its status, within the measured time. Requests \
            without a response are errors. The success rate is the share of due requests with a status below 400.

            At the end of -d, or after an interrupt, the tool waits for the requests in flight. After -d it waits for \
            twice the longest response time, at least 1 s and at most 30 s; after an interrupt it waits 1 s. It then \
            cancels them, which is an error with the exit code 13, or 130 after an interrupt.

            Latencies include the waiting times of requests that got no response: timeouts, requests that were \
            cancelled at the end, and with --rate requests that were due and could not be sent. Refused and lost \
            connections have no latency. Bodies are counted and discarded; with --cache they are kept.

            --json prints one object: due, requests, errors, unanswered, refused, never_sent, seconds, \
            requests_per_second, bytes_received, cpu_user_seconds, cpu_system_seconds, cpu_microseconds_per_request, \
            peak_resident_bytes, latency_microseconds {min, mean, p50, p90, p99, p999, max}, latency_spectrum \
            [[percentile, microseconds], ...], status {code: count}, success_rate, resilience {transfers, attempts, \
            retries {reason: count}, hedges, hedges_won, refused_by_breaker}, mode, in_flight, connections (open at \
            the end), loops. due is requests + never_sent; errors includes unanswered and refused (by a full queue). \
            resilience is null without --retry, --hedge and --breaker; its counts include the warm-up.
            """)

    @Argument(
        help: ArgumentHelp(
            "URLs to request, http or https; or .http files, whose requests users send in order; or one plan in JSON.",
            valueName: "url|file"),
        completion: .file(extensions: ["http", "rest", "har", "json"]))
    var targets: [String]

    @Option(name: .shortAndLong, help: "Number of requests in flight; with --rate, the maximum.")
    var connections: Int = 64

    @Option(
        name: [.customShort("n"), .long], help: "Number of requests to measure. Default: 10,000, or no limit with -d.")
    var requests: Int?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Duration of the measurement, with a unit, such as 10s.", valueName: "time"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            """
            Body of each request, or '@file' for the bytes of a file. Sent as POST without -X. There is no short \
            form: -d is the duration.
            """,
            valueName: "data"))
    var data: String?

    @Option(
        help: """
            Layer to measure: core (the C interface), closure (Client.start), closure-inline (Client.start with \
            callbacks on the event loop's thread), async (Client.run), async-on-queue (Client.run with tasks on the \
            callback queue), batch (one Batch; requires -n).
            """)
    var mode: BenchPlan.Mode = .closure

    @Option(
        help: """
            Serve all requests but the first from a cache: memory, memory-http (the server's header fields set the \
            lifetime) or sqlite. Not with --mode core.
            """)
    var cache: BenchPlan.Cache?

    @Option(help: "Number of event loops, 1 to 64. Default: one per usable core, at most 4.")
    var loops: Int?

    @Option(
        help: """
            Number of HTTP/2 streams per connection; further requests open another connection. Default: 64, or 32 from \
            libcurl 8.10 on. Each event loop has connections of its own.
            """)
    var streams: Int?

    @Option(help: "Open loop: requests per second, 0.001 to 10,000,000.")
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            """
            With --rate: the interval at which all due requests are sent together, at most 1s. Latency still counts \
            from the intended time of each request. Default: each request is sent at its own time.
            """, valueName: "time"))
    var tick: DurationArgument?

    @Option(
        name: .customLong("warm-up"),
        help: ArgumentHelp(
            """
            Number of requests before the measurement, or a time with a unit, such as 5s; load tests require a time. \
            Default: a twentieth of all, at most 10 x -c and 5,000, for at most 1 s and a tenth of the measured time; \
            none in load tests.
            """, valueName: "number|time"))
    var warmUp: WarmUpArgument?

    @Option(
        name: [.customShort("X"), .customLong("method")],
        help: "Method of the requests. Default: GET, or POST with a body.")
    var method: String?

    @Option(name: [.customShort("H"), .customLong("header")], help: "Header field, 'Name: value'. Repeatable.")
    var headers: [HeaderArgument] = []

    @Option(name: .shortAndLong, help: "USER:PASSWORD, sent as Basic. Without ':' the tool prompts for the password.")
    var user: UserArgument?

    @Option(help: "Token, sent as 'Authorization: Bearer TOKEN'.")
    var bearer: String?

    @Option(help: "Time limit for connecting, and for a request without any data: \(DurationArgument.rule).")
    var timeout = DurationArgument(seconds: 30)

    @Option(help: "HTTP version: automatic, 1.1, 2 (by ALPN over TLS) or 2-prior-knowledge.")
    var httpVersion: HTTPVersionArgument = .automatic

    @Option(help: "PEM file with the trusted CA certificates.", completion: .file())
    var cacert: String?

    @Flag(name: .shortAndLong, help: "Accept any server certificate. Only for tests.")
    var insecure = false

    @OptionGroup var way: ConnectionArguments

    @OptionGroup var resilience: ResilienceArguments

    @OptionGroup var load: LoadArguments

    @OptionGroup var outputs: LoadOutputs

    @Flag(help: "Print JSON instead of the table.")
    var json = false

    @Flag(
        inversion: .prefixedNo,
        help: """
            Show a progress line if standard error is a terminal. In load tests without a terminal, print a line every \
            ten seconds.
            """)
    var progress = true

    func run() async throws {
        let chosen = try await ToolError.reporting { try target() }
        guard case .url(let url) = chosen else {
            return try await ToolError.reporting { try await session(chosen).run() }
        }
        try await ToolError.reporting(of: url.text) {
            let plan = try plan(url)
            let load = BenchLoad(plan)
            let engine = try engine(plan, load)
            let interrupt = Interrupt { load.interrupt() }
            let line = BenchProgress(load, isShown: progress)
            let clock = Task { await BenchClock.run(load, engine) }
            if let rate = plan.rate {
                await OpenLoop.run(rate: rate, tick: plan.tick, engine: engine, load: load)
            } else {
                engine.run(load, count: plan.connections)
            }
            await load.wait()
            clock.cancel()
            await clock.value
            await line.end()
            interrupt.end()
            let connections = OpenConnections.count()
            await engine.shutDown()
            try finish(plan, load, engine, connections: connections)
        }
    }

    private func engine(_ plan: BenchPlan, _ load: BenchLoad) throws -> any BenchEngine {
        switch plan.mode {
        case .core: try CoreEngine(plan, load: load)
        case .closure: try ClosureEngine(plan)
        case .async: try AsyncEngine(plan)
        case .closureInline: try ClosureEngine(plan, on: .inline())
        case .asyncOnQueue: try AsyncEngine(plan, on: .serial())
        case .batch: try BatchEngine(plan)
        }
    }

    private func finish(
        _ plan: BenchPlan, _ load: BenchLoad, _ engine: any BenchEngine, connections: Int
    ) throws(ToolError) {
        guard let run = load.snapshot() else {
            // Without a signal, a run ends during the warm-up only if the core accepts no more requests.
            if let error = load.firstError, !load.isInterrupted {
                throw ToolError(error.exit, "the warm-up failed: \(error.text)")
            }
            throw ToolError(.interrupted, "interrupted during the warm-up; nothing was measured")
        }
        let result = run.result
        let report = BenchReport(
            run: run, mode: plan.mode, inFlight: plan.connections, connections: connections, loops: engine.loops,
            rate: plan.rate, resilience: engine.resilience)
        try StandardOutput.write((json ? report.json.text(pretty: true) : report.table) + "\n")
        if json, let error = result.firstError { StandardError.print("errand: first error: \(error.text)") }
        if load.isInterrupted { throw ToolError(.interrupted, "interrupted") }
        if let error = result.firstError, result.errors == result.requests {
            throw ToolError(error.exit, "no request got a response: \(error.text)")
        }
        if result.neverSent > 0 {
            StandardError.print(
                "errand: \(result.neverSent.grouped) of \(result.due.grouped) due requests were never sent: "
                    + "the load generator is the limit; lower --rate")
        }
        if result.unanswered > 0 {
            throw ToolError(
                .timeout,
                "\(result.unanswered.grouped) of \(result.due.grouped) requests had no response at the end of the run")
        }
    }
}

extension BenchPlan.Mode: ExpressibleByArgument {}
extension BenchPlan.Cache: ExpressibleByArgument {}
