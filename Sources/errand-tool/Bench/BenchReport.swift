import Histogram

/// What a finished run says, as JSON with documented keys and as a table.
struct BenchReport {
    let result: BenchLoad.Result
    let from: ProcessUsage
    let to: ProcessUsage
    let mode: BenchPlan.Mode
    let connections: Int
    let loops: Int

    private static let percentiles: [(key: String, value: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9),
    ]

    var seconds: Double { Double(to.time - from.time) / 1e9 }
    var requestsPerSecond: Double { seconds > 0 ? Double(result.answered) / seconds : 0 }
    var cpuUser: Double { to.user - from.user }
    var cpuSystem: Double { to.system - from.system }
    var cpuMicrosecondsPerRequest: Double { (cpuUser + cpuSystem) * 1e6 / Double(max(1, result.requests)) }

    private var statuses: [(code: Int, count: UInt64)] {
        result.status.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }
    }

    /// `nil`: there was no answer.
    private var latencies: [(key: String, microseconds: Double?)] {
        let histogram = result.latency
        guard histogram.totalCount > 0 else {
            return (["min", "mean"] + BenchReport.percentiles.map(\.key) + ["max"]).map { ($0, nil) }
        }
        var rows: [(String, Double?)] = [("min", Double(histogram.min) / 1e3), ("mean", histogram.mean / 1e3)]
        rows += BenchReport.percentiles.map { ($0.key, Double(histogram.valueAtPercentile($0.value)) / 1e3) }
        return rows + [("max", Double(histogram.max) / 1e3)]
    }

    /// What a curve of latencies is drawn from: percentile, microseconds. Empty: there was no answer.
    private var spectrum: [JSONValue] {
        let histogram = result.latency
        guard histogram.totalCount > 0 else { return [] }
        return BenchReport.curve.map { percentile in
            // Both ends exactly, what is between to three digits.
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

    var json: JSONValue {
        .object([
            ("requests", .integer(result.requests)),
            ("errors", .integer(result.errors)),
            ("seconds", .number(seconds)),
            ("requests_per_second", .number(requestsPerSecond)),
            ("bytes_received", .integer(result.bytes)),
            ("cpu_user_seconds", .number(cpuUser)),
            ("cpu_system_seconds", .number(cpuSystem)),
            ("cpu_microseconds_per_request", .number(cpuMicrosecondsPerRequest)),
            ("peak_resident_bytes", .integer(ProcessUsage.peakResident)),
            (
                "latency_microseconds",
                .object(latencies.map { ($0.key, $0.microseconds.map(JSONValue.number) ?? .null) })
            ),
            ("latency_spectrum", .array(spectrum)),
            (
                "status",
                .object(statuses.map { (String($0.code), .integer($0.count)) })
            ),
            ("mode", .string(mode.rawValue)),
            ("connections", .integer(connections)),
            ("loops", .integer(loops)),
        ])
    }

    var table: String {
        var rows: [(String, String)] = [
            ("mode", "\(mode.rawValue), \(connections) connections, \(loops) \(loops == 1 ? "loop" : "loops")"),
            ("requests", "\(result.requests.grouped) in \(seconds.text(3)) s, \(result.errors.grouped) errors"),
            ("rate", "\(requestsPerSecond.text(0)) requests/s, \(megabytesPerSecond) MB/s"),
            (
                "CPU",
                "\(cpuMicrosecondsPerRequest.text(2)) us/request "
                    + "(user \(cpuUser.text(3)) s, system \(cpuSystem.text(3)) s)"
            ),
            ("peak memory", "\((Double(ProcessUsage.peakResident) / 1e6).text(1)) MB resident"),
        ]
        rows += statuses.map { ("status \($0.code)", $0.count.grouped) }
        rows.append(("latency", ""))
        rows += latencies.map { ("  " + $0.key, $0.microseconds.map { "\($0.text(1)) us" } ?? "-") }
        let width = rows.map(\.0.count).max() ?? 0
        var text = rows.map { name, value in
            let padding = String(repeating: " ", count: width - name.count)
            return value.isEmpty ? name : "\(name)\(padding)  \(value)"
        }.joined(separator: "\n")
        if let error = result.firstError { text += "\nfirst error: \(error.text)" }
        return text
    }

    private var megabytesPerSecond: String {
        (seconds > 0 ? Double(result.bytes) / 1e6 / seconds : 0).text(1)
    }
}
