import Errand
import Histogram

/// The results of a finished run, as JSON with documented keys and as a table.
struct BenchReport {
    let run: BenchLoad.Snapshot
    let mode: BenchPlan.Mode
    /// The limit of requests in flight.
    let inFlight: Int
    /// Connections that were open at the end of the run.
    let connections: Int
    let loops: Int
    /// The rate of an open loop in requests per second; `nil`: a closed loop.
    let rate: Double?
    /// What the client did about failures, including the warm-up; `nil`: it was not configured to do anything about
    /// them.
    var resilience: ResilienceParts.Counts?

    private var result: BenchLoad.Result { run.result }

    private static let percentiles: [(key: String, value: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9),
    ]

    var cpuUser: Double { run.to.user - run.from.user }
    var cpuSystem: Double { run.to.system - run.from.system }
    var cpuMicrosecondsPerRequest: Double { (cpuUser + cpuSystem) * 1e6 / Double(max(1, result.requests)) }

    private var statuses: [(code: Int, count: UInt64)] {
        result.status.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }
    }

    /// `nil`: no request was answered.
    private var latencies: [(key: String, microseconds: Double?)] {
        let histogram = result.latency
        guard histogram.totalCount > 0 else {
            return (["min", "mean"] + BenchReport.percentiles.map(\.key) + ["max"]).map { ($0, nil) }
        }
        var rows: [(String, Double?)] = [("min", Double(histogram.min) / 1e3), ("mean", result.meanLatency / 1e3)]
        rows += BenchReport.percentiles.map { ($0.key, Double(histogram.valueAtPercentile($0.value)) / 1e3) }
        return rows + [("max", Double(histogram.max) / 1e3)]
    }

    /// The share of the due requests that succeeded; `nil`: none was due.
    private var successRate: Double? {
        result.due == 0 ? nil : Double(result.succeeded) / Double(result.due)
    }

    /// The points of a latency curve: percentile, microseconds. Empty: no request was answered.
    private var spectrum: [PrintedJSON] {
        let histogram = result.latency
        guard histogram.totalCount > 0 else { return [] }
        return BenchReport.curve.map { percentile in
            // Minimum and maximum are exact; the values between have three significant digits.
            let value =
                switch percentile {
                case 0: histogram.min
                case 100: histogram.max
                default: min(histogram.valueAtPercentile(percentile), histogram.max)
                }
            return .array([.number(percentile), .number(Double(value) / 1e3)])
        }
    }

    private static let curve: [Double] = [
        0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 100,
    ]

    var json: PrintedJSON {
        .object([
            ("due", .integer(result.due)),
            ("requests", .integer(result.requests)),
            ("errors", .integer(result.errors)),
            ("unanswered", .integer(result.unanswered)),
            ("refused", .integer(result.refused)),
            ("never_sent", .integer(result.neverSent)),
            ("seconds", .number(run.seconds)),
            ("requests_per_second", .number(run.answeredPerSecond)),
            ("bytes_received", .integer(result.bytes)),
            ("cpu_user_seconds", .number(cpuUser)),
            ("cpu_system_seconds", .number(cpuSystem)),
            ("cpu_microseconds_per_request", .number(cpuMicrosecondsPerRequest)),
            ("peak_resident_bytes", .integer(ProcessUsage.peakResident)),
            (
                "latency_microseconds",
                .object(latencies.map { ($0.key, $0.microseconds.map(PrintedJSON.number) ?? .null) })
            ),
            ("latency_spectrum", .array(spectrum)),
            (
                "status",
                .object(statuses.map { (String($0.code), .integer($0.count)) })
            ),
            ("success_rate", successRate.map(PrintedJSON.number) ?? .null),
            ("resilience", resilience.map(\.json) ?? .null),
            ("mode", .string(mode.rawValue)),
            ("in_flight", .integer(inFlight)),
            ("connections", .integer(connections)),
            ("loops", .integer(loops)),
        ])
    }

    var table: String {
        var rows: [(String, String)] = [
            ("mode", "\(mode.rawValue), \(inFlight.grouped) in flight, \(loops) \(loops == 1 ? "loop" : "loops")"),
            ("connections", "\(connections.grouped) open at the end"),
            ("requests", "\(result.requests.grouped) in \(run.seconds.timeText), \(result.errors.grouped) errors"),
            ("rate", "\(run.answeredPerSecond.text(0)) requests/s, \((run.bytesPerSecond / 1e6).text(1)) MB/s"),
            (
                "CPU",
                "\((cpuMicrosecondsPerRequest / 1e6).timeText)/request "
                    + "(user \(cpuUser.timeText), system \(cpuSystem.timeText))"
            ),
            ("peak memory", "\((Double(ProcessUsage.peakResident) / 1e6).text(1)) MB resident"),
        ]
        if let rate {
            rows.insert(
                (
                    "due",
                    "\(result.due.grouped) at \(rate.text(rate < 10 ? 3 : 0))/s: \(result.answered.grouped) answered, "
                        + "\(result.unanswered.grouped) unanswered, \(result.refused.grouped) refused, "
                        + "\(result.neverSent.grouped) never sent"
                ), at: 2)
        }
        rows += statuses.map { ("status \($0.code)", $0.count.grouped) }
        rows.append(("success", successRate.map { "\(($0 * 100).text(2)) %" } ?? "-"))
        rows += resilience?.rows ?? []
        rows.append(("latency", ""))
        rows += latencies.map { ("  " + $0.key, $0.microseconds.map { ($0 / 1e6).timeText } ?? "-") }
        let width = rows.map(\.0.count).max() ?? 0
        var text = rows.map { name, value in
            let padding = String(repeating: " ", count: width - name.count)
            return value.isEmpty ? name : "\(name)\(padding)  \(value)"
        }.joined(separator: "\n")
        if let error = result.firstError { text += "\nfirst error: \(error.text)" }
        return text
    }
}
