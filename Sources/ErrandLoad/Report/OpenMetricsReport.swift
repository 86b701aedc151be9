import Errand
import FoundationEssentials

/// A result as OpenMetrics text 1.0 (`application/openmetrics-text; version=1.0.0; charset=utf-8`), for a push gateway or a
/// file that is scraped. All names begin with `errand_load_`.
///
/// ``prometheusText`` is the older format, which a Prometheus Pushgateway takes.
///
/// Labels are bounded: the first ``maximumSeries`` names, checks and thresholds have series of their own. The requests of
/// further names are added up under the name `other`; further checks and thresholds are left out. Texts are cut to 200
/// characters. A cut text that is the same as another one has no series of its own either.
public struct OpenMetricsReport: Sendable {
    /// How many names, checks and thresholds have series of their own.
    public static let maximumSeries = 100
    private static let longestLabel = 200

    /// The upper bounds of the buckets, in seconds.
    static let bounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100,
    ]

    private typealias Labels = [(String, String)]
    private let result: LoadResult
    private var isPrometheus = false

    /// A report on a result.
    public init(_ result: LoadResult) {
        self.result = result
    }

    /// The text, which ends with `# EOF`.
    public var text: String { body + "# EOF\n" }

    /// The same in Prometheus' text format 0.0.4 (`text/plain; version=0.0.4; charset=utf-8`): in this format a counter
    /// has the name of its samples (`errand_load_requests_total`), because the samples would have no type otherwise.
    public var prometheusText: String {
        var report = self
        report.isPrometheus = true
        return report.body
    }

    private var body: String {
        let requests = boundedRequests
        var output = ""
        counter("requests", "Requests by the way in which they ended.", &output) { requests.flatMap(outcomes) }
        counter("rejected_requests", "Answered requests that did not pass.", &output) {
            requests.map { (labels($0), $0.rejected) }
        }
        counter("attempts", "Requests on the wire.", &output) { requests.map { (labels($0), $0.attempts) } }
        counter("responses", "Responses by status.", &output) { requests.flatMap(responses) }
        counter("errors", "Errors by kind and phase.", &output) { requests.flatMap(errors) }
        counter("transferred_bytes", "Bytes of heads and bodies.", unit: "bytes", &output) {
            requests.flatMap(transfers)
        }
        histogram("latency_seconds", "From the moment when a request was due to its end.", requests, &output) {
            $0.latency
        }
        histogram("service_time_seconds", "From sending to the end of the response.", requests, &output) {
            $0.serviceTime
        }
        histogram("user_wait_seconds", "Waiting for a free user.", requests, &output) { $0.userWait }
        histogram("send_delay_seconds", "The lateness of the generator.", requests, &output) { $0.sendDelay }
        resilience(&output)
        counter("checks", "Checks by outcome.", &output) { checks }
        gauge("threshold_met", "Whether the threshold is met: 1 or 0.", &output) { thresholds }
        gauge("generator_limits", "Reasons for which the generator was the limit.", &output) {
            [([], Double(result.generators.reduce(0) { $0 + $1.limits.count }))]
        }
        gauge("duration_seconds", "The measured part of the run.", unit: "seconds", &output) {
            [([], result.duration.asSeconds)]
        }
        return output
    }

    /// The statistics with the labels that they have in the text; no two of them have the same labels.
    private var boundedRequests: [RequestStatistics] {
        var bounded: [RequestStatistics] = []
        var other: RequestStatistics?
        var seen: Set<[String]> = []
        for request in result.requests {
            var request = request
            request.intervals = []
            request.scenario = Self.cut(request.scenario)
            request.name = Self.cut(request.name)
            let isOther = request.scenario.isEmpty && request.name == "other"
            if bounded.count < Self.maximumSeries, !isOther, seen.insert([request.scenario, request.name]).inserted {
                bounded.append(request)
            } else {
                var sum = other ?? RequestStatistics(scenario: "", name: "other")
                sum.add(request)
                other = sum
            }
        }
        return bounded + [other].compactMap { $0 }
    }

    private var checks: [(Labels, UInt64)] {
        var seen: Set<[String]> = []
        return result.checks.prefix(Self.maximumSeries).flatMap { check -> [(Labels, UInt64)] in
            let (scenario, name) = (Self.cut(check.scenario), Self.cut(check.name))
            guard seen.insert([scenario, name]).inserted else { return [] }
            return [
                ([("scenario", scenario), ("check", name), ("outcome", "passed")], check.passed),
                ([("scenario", scenario), ("check", name), ("outcome", "failed")], check.failed),
            ]
        }
    }

    private var thresholds: [(Labels, Double)] {
        var seen: Set<String> = []
        return result.thresholds.prefix(Self.maximumSeries).compactMap { outcome -> (Labels, Double)? in
            let text = Self.cut(outcome.threshold.description)
            guard seen.insert(text).inserted else { return nil }
            return ([("threshold", text)], outcome.isMet ? 1 : 0)
        }
    }

    /// The counters of scenarios with resilience; nothing if there are none.
    private func resilience(_ output: inout String) {
        var seen: Set<String> = []
        let rows = LoadSummary(result: result).resilience.prefix(Self.maximumSeries).compactMap {
            row -> (labels: Labels, counts: LoadResilience)? in
            let name = Self.cut(row.scenario)
            return seen.insert(name).inserted ? (labels: [("scenario", name)], counts: row.counts) : nil
        }
        guard !rows.isEmpty else { return }
        counter("retries", "Retries by reason.", &output) {
            rows.flatMap { row in Self.retries(row.counts).map { (row.labels + [("reason", $0.reason)], $0.count) } }
        }
        counter("hedges", "Hedges that were sent.", &output) { rows.map { ($0.labels, $0.counts.hedges) } }
        counter("hedges_won", "Hedges whose answer was used.", &output) {
            rows.map { ($0.labels, $0.counts.hedgesWon) }
        }
        counter("breaker_refusals", "Attempts that a breaker refused.", &output) {
            rows.map { ($0.labels, $0.counts.refusedByBreaker) }
        }
    }

    /// There are only few reasons, but a result that was read from JSON may contain any text.
    private static func retries(_ counts: LoadResilience) -> [(reason: String, count: UInt64)] {
        var sums: [String: UInt64] = [:]
        for (reason, count) in counts.sortedRetries {
            let name = cut(reason)
            let isNew = sums[name] == nil && sums.count >= maximumSeries
            sums[isNew ? "other" : name, default: 0] += count
        }
        return sums.sorted { $0.key < $1.key }.map { (reason: $0.key, count: $0.value) }
    }

    private func outcomes(_ request: RequestStatistics) -> [(Labels, UInt64)] {
        let counts = request.counts
        return [
            (labels(request, ("outcome", "answered")), counts.answered),
            (labels(request, ("outcome", "failed")), counts.failed),
            (labels(request, ("outcome", "timed_out")), counts.timedOut),
            (labels(request, ("outcome", "unfinished")), counts.unfinished),
            (labels(request, ("outcome", "never_sent")), counts.neverSent),
        ]
    }

    private func responses(_ request: RequestStatistics) -> [(Labels, UInt64)] {
        request.statuses.sorted { $0.key < $1.key }.map { (labels(request, ("status", String($0.key))), $0.value) }
    }

    private func transfers(_ request: RequestStatistics) -> [(Labels, UInt64)] {
        let traffic = request.traffic
        return [
            (labels(request, ("direction", "sent"), ("part", "head")), traffic.headBytesSent),
            (labels(request, ("direction", "sent"), ("part", "body")), traffic.bodyBytesSent),
            (labels(request, ("direction", "received"), ("part", "head")), traffic.headBytesReceived),
            (labels(request, ("direction", "received"), ("part", "body")), traffic.bodyBytesReceived),
        ]
    }

    /// Kinds are codes of `ErrandError`, of which there are few. A result that was read from JSON may contain any text.
    private func errors(_ request: RequestStatistics) -> [(Labels, UInt64)] {
        var sums: [LoadError: UInt64] = [:]
        for (error, count) in request.errors.sorted(by: { $0.key < $1.key }) {
            var error = LoadError(kind: Self.cut(error.kind), phase: error.phase)
            if sums[error] == nil, sums.count >= Self.maximumSeries { error.kind = "other" }
            sums[error, default: 0] += count
        }
        return sums.sorted { $0.key < $1.key }.map {
            (labels(request, ("kind", $0.key.kind), ("phase", $0.key.phase.rawValue)), $0.value)
        }
    }

    private func labels(_ request: RequestStatistics, _ more: (String, String)...) -> Labels {
        [("scenario", request.scenario), ("name", request.name)] + more
    }

    private static func cut(_ text: String) -> String { String(text.unicodeScalars.prefix(longestLabel)) }

    private func counter(
        _ name: String, _ help: String, unit: String? = nil, _ output: inout String, samples: () -> [(Labels, UInt64)]
    ) {
        head(name, "counter", help, unit, &output)
        for (labels, value) in samples() {
            output += "errand_load_\(name)_total\(Self.text(labels)) \(value)\n"
        }
    }

    private func gauge(
        _ name: String, _ help: String, unit: String? = nil, _ output: inout String, samples: () -> [(Labels, Double)]
    ) {
        head(name, "gauge", help, unit, &output)
        for (labels, value) in samples() {
            output += "errand_load_\(name)\(Self.text(labels)) \(value)\n"
        }
    }

    private func histogram(
        _ name: String, _ help: String, _ requests: [RequestStatistics], _ output: inout String,
        of values: (RequestStatistics) -> LatencyHistogram
    ) {
        head(name, "histogram", help, "seconds", &output)
        for request in requests {
            let histogram = values(request)
            let own = Self.text(labels(request))
            var buckets = histogram.counts[...]
            var count: UInt64 = 0
            for bound in Self.bounds {
                while let bucket = buckets.first, Double(bucket.value) <= bound * 1e9 {
                    count += bucket.count
                    buckets.removeFirst()
                }
                let place = Self.text(labels(request, ("le", String(bound))))
                output += "errand_load_\(name)_bucket\(place) \(count)\n"
            }
            let last = Self.text(labels(request, ("le", "+Inf")))
            output += "errand_load_\(name)_bucket\(last) \(histogram.count)\n"
            output += "errand_load_\(name)_count\(own) \(histogram.count)\n"
            output += "errand_load_\(name)_sum\(own) \(histogram.mean * Double(histogram.count) / 1e9)\n"
        }
    }

    private func head(_ name: String, _ type: String, _ help: String, _ unit: String?, _ output: inout String) {
        // OpenMetrics names the family of a counter without `_total`.
        let name = isPrometheus && type == "counter" ? name + "_total" : name
        output += "# TYPE errand_load_\(name) \(type)\n"
        if let unit, !isPrometheus { output += "# UNIT errand_load_\(name) \(unit)\n" }
        output += "# HELP errand_load_\(name) \(help)\n"
    }

    private static func text(_ labels: Labels) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar.isControl ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }
}
