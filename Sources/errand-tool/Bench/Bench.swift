import ArgumentParser
import Errand
import Foundation
import HTTPTypes

struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts a load on one URL and prints rates, CPU cost and latency percentiles.",
        discussion: """
            A closed loop by default: -c requests are in flight, each answer brings the next. With --rate it is an \
            open loop: requests are sent at their times whether or not earlier ones were answered, and latency counts \
            from the intended time, so that a server that stalls cannot hide it.

            Requests a second are those that were answered, whatever their status, until the measured time was over. \
            Requests without an answer are errors. At the end of -d, what is in flight gets twice the time of the slowest \
            answer, 1 s at least and 30 s at most. What is unanswered then is cancelled, an error, and the exit code 13. \
            So it is 1 s after an interrupt.

            Latencies are those of answers, and the waits of requests that waited for an answer in vain: timeouts, what \
            was unanswered at the end, and with --rate what was due and could not be sent. A refused or lost connection \
            has no latency. Bodies are counted and dropped, not kept; with --cache they are kept.

            --json prints one object: due, requests, errors, unanswered, refused, never_sent, seconds, \
            requests_per_second, bytes_received, cpu_user_seconds, cpu_system_seconds, cpu_microseconds_per_request, \
            peak_resident_bytes, latency_microseconds {min, mean, p50, p90, p99, p999, max}, latency_spectrum \
            [[percentile, microseconds], ...], status {code: count}, mode, in_flight, connections (open at the end), \
            loops. due is requests + never_sent; errors has unanswered and refused (by a full queue) in it.
            """)

    @Argument(help: "An http or https URL.")
    var url: URLArgument

    @Option(name: .shortAndLong, help: "Requests in flight; with --rate, at most.")
    var connections: Int = 64

    @Option(name: [.customShort("n"), .long], help: "Requests to measure. Default: 10,000 unless a time is given.")
    var requests: Int?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Measure for so long: a time with its unit, such as 10s.", valueName: "time"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            "Body of each request, '@file' for a file's bytes; POST unless -X. Not -d, which is the duration.",
            valueName: "data"))
    var data: String?

    @Option(
        help: """
            Through what: core (the C interface), closure (Client.start), closure-inline (the same, callbacks on the loop's \
            thread), async (Client.run), async-on-queue (the same, \
            tasks on the callback queue), batch (one Batch; -n alone).
            """)
    var mode: BenchPlan.Mode = .closure

    @Option(
        help: """
            Answer all but the first from a cache: memory, memory-http (the server has to say for how long) or sqlite. \
            Not with --mode core.
            """)
    var cache: BenchPlan.Cache?

    @Option(help: "Event loops, 1 to 64. Default: the engine's own, one a core, at most 4.")
    var loops: Int?

    @Option(help: "Open loop: requests a second, 0.001 to 10,000,000.")
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            """
            With --rate: send all that is due at once, so often; at most 1s. Latency still counts from each request's \
            own time. Default: each is sent at its time.
            """, valueName: "time"))
    var tick: DurationArgument?

    @Option(
        name: .customLong("warm-up"),
        help: ArgumentHelp(
            """
            Requests before the measured ones. Default: a twentieth of all, at most 10 x -c and 5,000, for at most 1 s \
            and a tenth of the time.
            """))
    var warmUp: Int?

    @Option(name: [.customShort("X"), .customLong("method")], help: "Method. Default: GET, or POST with a body.")
    var method: String?

    @Option(name: [.customShort("H"), .customLong("header")], help: "'Name: value', as often as needed.")
    var headers: [HeaderArgument] = []

    @Option(help: "For connecting, and for silence: \(DurationArgument.rule).")
    var timeout = DurationArgument(seconds: 30)

    @Option(help: "automatic, 1.1, 2 (by ALPN over TLS) or 2-prior-knowledge.")
    var httpVersion: HTTPVersionArgument = .automatic

    @Option(help: "PEM file of trusted authorities.", completion: .file())
    var cacert: String?

    @Flag(name: .shortAndLong, help: "Accept any certificate. For tests alone.")
    var insecure = false

    @Flag(help: "Print JSON instead of the table.")
    var json = false

    @Flag(inversion: .prefixedNo, help: "The progress line, shown where standard error is a terminal.")
    var progress = true

    func run() async throws {
        try await ToolError.reporting(of: url.text) {
            let plan = try plan()
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
            try finish(plan, load, loops: engine.loops, connections: connections)
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

    private func finish(_ plan: BenchPlan, _ load: BenchLoad, loops: Int, connections: Int) throws(ToolError) {
        guard let run = load.snapshot() else {
            // Without a signal, a run ends during the warm-up only if the core accepts no more requests.
            if let error = load.firstError, !load.isInterrupted {
                throw ToolError(error.exit, "stopped in the warm-up: \(error.text)")
            }
            throw ToolError(.interrupted, "interrupted in the warm-up, so nothing was measured")
        }
        let result = run.result
        let report = BenchReport(
            run: run, mode: plan.mode, inFlight: plan.connections, connections: connections, loops: loops,
            rate: plan.rate)
        try StandardOutput.write((json ? report.json.text(pretty: true) : report.table) + "\n")
        if json, let error = result.firstError { StandardError.print("errand: first error: \(error.text)") }
        if load.isInterrupted { throw ToolError(.interrupted, "interrupted") }
        if let error = result.firstError, result.errors == result.requests {
            throw ToolError(error.exit, "no request was answered: \(error.text)")
        }
        if result.neverSent > 0 {
            StandardError.print(
                "errand: \(result.neverSent.grouped) of \(result.due.grouped) requests that were due were never sent: "
                    + "the load generator is the limit; lower --rate")
        }
        if result.unanswered > 0 {
            throw ToolError(
                .timeout,
                "\(result.unanswered.grouped) of \(result.due.grouped) requests had no answer when the run was over")
        }
    }
}

extension BenchPlan.Mode: ExpressibleByArgument {}
extension BenchPlan.Cache: ExpressibleByArgument {}
