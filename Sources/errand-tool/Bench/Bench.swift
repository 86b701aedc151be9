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

            Latencies and requests a second are those of answered requests, whatever their status; requests without an \
            answer are errors. At the end of -d, what is in flight gets twice the time of the slowest answer, 1 s at \
            least and 30 s at most; what is unanswered then is cancelled, and an error. So it is 1 s after an interrupt.

            --json prints one object: requests, errors, seconds, requests_per_second, bytes_received, \
            cpu_user_seconds, cpu_system_seconds, cpu_microseconds_per_request, peak_resident_bytes, \
            latency_microseconds {min, mean, p50, p90, p99, p999, max}, latency_spectrum [[percentile, microseconds], \
            ...], status {code: count}, mode, connections, loops.

            \(ExitStatus.help)
            """)

    @Argument(help: "An http or https URL.")
    var url: String

    @Option(name: .shortAndLong, help: "Requests in flight; with --rate, at most.")
    var connections: Int = 64

    @Option(name: [.customShort("n"), .long], help: "Requests to measure. Default: 10,000 unless a time is given.")
    var requests: Int?

    @Option(
        name: .customShort("d"),
        help: ArgumentHelp(
            "A time such as 10s, or a body: what looks like a time with its unit is one. See --duration and --data.",
            valueName: "duration-or-data"))
    var durationOrData: [String] = []

    @Option(help: ArgumentHelp("Measure for so long: \(DurationArgument.rule)."))
    var duration: DurationArgument?

    @Option(help: ArgumentHelp("Body of each request, '@file' for a file's bytes; POST unless -X.", valueName: "data"))
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

    @Option(help: "PEM file of trusted authorities.")
    var cacert: String?

    @Flag(name: .shortAndLong, help: "Accept any certificate. For tests alone.")
    var insecure = false

    @Flag(help: "Print JSON instead of the table.")
    var json = false

    @Flag(inversion: .prefixedNo, help: "The progress line, shown where standard error is a terminal.")
    var progress = true

    func run() async throws {
        try await ToolError.reporting {
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
            await engine.shutDown()
            try finish(plan, load, loops: engine.loops)
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

    private func finish(_ plan: BenchPlan, _ load: BenchLoad, loops: Int) throws(ToolError) {
        guard let (result, from, to) = load.snapshot() else {
            // Without a signal, only a core that takes no more requests ends a run in the warm-up.
            if let error = load.firstError, !load.isInterrupted {
                throw ToolError(error.exit, "stopped in the warm-up: \(error.text)")
            }
            throw ToolError(.interrupted, "interrupted in the warm-up, so nothing was measured")
        }
        let report = BenchReport(
            result: result, from: from, to: to, mode: plan.mode, connections: plan.connections, loops: loops)
        try StandardOutput.write((json ? report.json.text(pretty: true) : report.table) + "\n")
        if json, let error = result.firstError { StandardError.print("errand: first error: \(error.text)") }
        if load.isInterrupted { throw ToolError(.interrupted, "interrupted") }
        if let error = result.firstError, result.errors == result.requests {
            throw ToolError(error.exit, "no request was answered: \(error.text)")
        }
    }
}

extension BenchPlan.Mode: ExpressibleByArgument {}
extension BenchPlan.Cache: ExpressibleByArgument {}
