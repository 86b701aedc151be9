import Errand
import FoundationEssentials

/// A result as one HTML page with tables, and charts as inline SVG. The page loads nothing from a network and has no
/// script. It is light or dark by the reader's preference, and readable on a narrow screen. Charts have at most 240
/// columns, whatever the length of the run. The page is also well-formed XML, and all texts from plans and servers are
/// escaped. Its Content-Security-Policy forbids scripts and loads. If the policy of a server forbids the page's style
/// sheet, the charts keep their colours.
public struct HTMLReport: Sendable {
    private let result: LoadResult
    private let before: LoadResult?
    private let smallestChange: Double

    /// A report on a result; with `before`, also a comparison with that result. `smallestChange`: the smallest change that
    /// counts in it, as a share (``LoadComparison/smallestChange``).
    public init(_ result: LoadResult, before: LoadResult? = nil, smallestChange: Double = 0.02) {
        self.result = result
        self.before = before
        self.smallestChange = smallestChange
    }

    /// The page, with a line break at the end.
    public var text: String {
        let total = result.total
        let charts = LoadCharts(result, total: total)
        let tables = LoadTables(summary: LoadSummary(result: result), total: total)
        var parts = [tables.head, tables.tiles, tables.thresholds]
        if let before { parts += comparison(before, total) }
        parts += [
            "<h2>Requests</h2>", tables.requests, tables.delays,
            "<h2>Rate over time</h2>", charts.rate,
            "<h2>Latency over time</h2>", Self.latencyNote, charts.latency, charts.latencyByName,
            "<h2>Heat map of the latency</h2>", charts.heatMap,
            "<h2>Latency by percentile</h2>", charts.distribution,
            "<h2>Errors</h2>", charts.errors, tables.errors, tables.statuses, tables.failures,
            tables.checks.isEmpty ? "" : "<h2>Checks</h2>", tables.checks,
            tables.scenarios.isEmpty ? "" : "<h2>Scenarios</h2>", tables.scenarios, tables.resilience,
            "<h2>Phases and traffic</h2>", tables.phases, tables.traffic,
            "<h2>Generator</h2>", tables.generators,
        ]
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <title>\(MarkupText.escaped(result.plan)): load test</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            \(parts.filter { !$0.isEmpty }.joined(separator: "\n"))
            </body>
            </html>

            """
    }

    private static let latencyNote = """
        <p>From the moment when a request was due to its end. Requests that failed, timed out, did not end or were never sent \
        count with the time that they waited; those that failed within a second and had no connection do not count.</p>
        """

    private func comparison(_ before: LoadResult, _ total: RequestStatistics) -> [String] {
        let comparison = LoadComparison(before: before, after: result, smallestChange: smallestChange)
        let first = MarkupText.escaped("\(before.plan), \(LoadSummary(result: before).head)")
        let distribution = LoadCharts.distribution(
            "Latency by percentile, before and after",
            [(name: "after", histogram: total.latency), (name: "before", histogram: before.total.latency)])
        return [
            "<h2>Comparison</h2>", "<p>Before: \(first).</p>", LoadTables.comparison(comparison), distribution,
            """
            <p>Better or worse: the 99 % confidence intervals do not overlap, parts of the runs differ by the test of Mann \
            and Whitney (p &lt; 0.01), and the change is at least \
            \(MarkupText.escaped(NumberText.percent(comparison.smallestChange))). Noise from run to run is not in two runs: \
            repeat them.</p>
            """,
        ]
    }
}
