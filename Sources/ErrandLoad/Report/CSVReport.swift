import Errand
import FoundationEssentials

/// The time series of a result as CSV (RFC 4180): a header, then a row for each interval and name, sorted by time and
/// then in the order of the plan. Intervals in which no request ended are missing. Spreadsheets would take a name such
/// as `=1+1` for a formula, and formulas may run programs and send data away. An apostrophe before the name makes it
/// text (OWASP, CSV injection).
///
/// | column | what |
/// |---|---|
/// | `time` | the start of the interval in seconds since 1970, with three digits after the point |
/// | `offset_seconds` | the start of the interval in seconds since the start of the measured part |
/// | `length_seconds` | the length of the interval; the last one may be cut by the end |
/// | `scenario`, `name` | the scenario and the name of the requests; after an apostrophe if the text begins with `=`, `+`, `-`, `@`, a tab or a line break |
/// | `answered`, `failed`, `timed_out`, `unfinished`, `never_sent` | how the requests ended |
/// | `rejected` | the answered requests that did not pass a check or whose status is an error |
/// | `rate` | answered requests per second |
/// | `head_bytes_sent` to `body_bytes_received` | bytes |
/// | `min_ms`, `mean_ms`, `p50_ms`, `p90_ms`, `p99_ms`, `p999_ms`, `max_ms` | latencies in milliseconds, to 0.1 %; empty: none |
public struct CSVReport: Sendable {
    private let result: LoadResult

    /// A report on a result.
    public init(_ result: LoadResult) {
        self.result = result
    }

    private static let columns = [
        "time", "offset_seconds", "length_seconds", "scenario", "name", "answered", "failed", "timed_out", "unfinished",
        "never_sent", "rejected", "rate", "head_bytes_sent", "body_bytes_sent", "head_bytes_received",
        "body_bytes_received", "min_ms", "mean_ms", "p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms",
    ]

    /// The text, with CR LF after each row.
    public var text: String {
        let rows = LoadTimeline.rows(of: result).map(cells)
        return ([Self.columns] + rows).map { $0.map(Self.cell).joined(separator: ",") + "\r\n" }.joined()
    }

    private func cells(_ row: LoadTimeline.Row) -> [String] {
        let (request, interval) = (row.request, row.interval)
        let length = LoadSummary(result: result).length(ofInterval: interval.index)
        let offset = Double(interval.index) * result.interval.asSeconds
        let (counts, traffic, latency) = (interval.counts, interval.traffic, interval.latency)
        let numbers = [
            counts.answered, counts.failed, counts.timedOut, counts.unfinished, counts.neverSent, interval.rejected,
        ]
        let bytes = [
            traffic.headBytesSent, traffic.bodyBytesSent, traffic.headBytesReceived, traffic.bodyBytesReceived,
        ]
        let times = [
            Double(latency.values.first ?? 0), latency.mean, Double(latency.value(at: 50)),
            Double(latency.value(at: 90)), Double(latency.value(at: 99)), Double(latency.value(at: 99.9)),
            Double(latency.values.last ?? 0),
        ]
        var cells = [
            NumberText.fixed(result.start.timeIntervalSince1970 + offset, 3), NumberText.fixed(offset, 3),
            NumberText.fixed(length, 3), Self.inert(request.scenario), Self.inert(request.name),
        ]
        cells += numbers.map { String($0) }
        cells.append(NumberText.fixed(Double(counts.answered) / length, 3))
        cells += bytes.map { String($0) }
        cells += times.map { latency.isEmpty ? "" : NumberText.fixed($0 / 1e6, 6) }
        return cells
    }

    /// The text in a form that no spreadsheet takes for a formula.
    private static func inert(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, "=+-@\t\r\n".unicodeScalars.contains(first) else { return text }
        return "'" + text
    }

    private static func cell(_ text: String) -> String {
        let isPlain = !text.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\r" || $0 == "\n" }
        guard !isPlain else { return text }
        // RFC 4180 2: a quotation mark within quotation marks is doubled.
        let doubled = text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }
        return "\"" + doubled.joined() + "\""
    }
}
