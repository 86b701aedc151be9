import Errand

/// A result as text for a terminal or a log.
public struct TextReport: Sendable {
    private let summary: LoadSummary
    private var result: LoadResult { summary.result }

    /// A report on a result.
    public init(_ result: LoadResult) {
        summary = LoadSummary(result: result)
    }

    /// The text, with a line break at the end. Names from plans and servers have no control characters in it.
    public var text: String {
        let total = result.total
        var lines = ["\(result.plan): \(summary.head)"]
        if let threshold = result.abortedBy { lines.append("ended early by the threshold \(threshold)") }
        lines += summary.verdict
        lines += summary.generators.map { "  " + $0 }
        lines.append(LoadSummary.sum(total.counts) + "; \(NumberText.grouped(total.rejected)) rejected")
        if let failed = summary.failedIterations { lines.append(failed) }
        lines += ["", "latency from the moment when a request was due"]
        lines += requestTable(total).lines
        lines += section(
            "from sending to the end of the response, and the lateness of the generator", delayTable(total))
        lines += section("waiting for a free user, which is part of the latency", waitTable(total))
        lines += section("traffic", trafficTable(total))
        lines += section("statuses", statusTable(total))
        lines += section("errors", errorTable(total))
        lines += section("phases", phaseTable(total))
        lines += section("scenarios", scenarioTable)
        lines += section("retries, hedges and breakers", resilienceTable)
        lines += section("retries by reason", retryTable)
        lines += section("checks", checkTable)
        lines += section("thresholds", thresholdTable)
        if !result.failures.isEmpty { lines += ["", "first failures"] + result.failures.map { "  " + $0 } }
        return lines.map { TextTable.plain($0) + "\n" }.joined()
    }

    private func section(_ title: String, _ table: TextTable) -> [String] {
        // The first row has the titles of the columns.
        table.rows.count > 1 ? ["", title] + table.lines : []
    }

    /// All requests, then those of each name. A single row if there is one name.
    private func rows(_ total: RequestStatistics) -> [RequestStatistics] {
        result.requests.count == 1 ? result.requests : [total] + result.requests
    }

    private func requestTable(_ total: RequestStatistics) -> TextTable {
        var table = TextTable()
        table.rows.append([
            "", "due", "answered", "errors", "", "rate/s", "mean", "p50", "p90", "p99", "p99.9", "max",
        ])
        for request in rows(total) {
            let latency = request.latency
            let times =
                latency.count == 0
                ? Array(repeating: "-", count: 6)
                : [NumberText.time(latency.mean)]
                    + [50, 90, 99, 99.9].map { NumberText.time(latency.value(at: $0)) } + [NumberText.time(latency.max)]
            let due = request.counts.due
            let cells = [
                LoadSummary.path(request.scenario, request.name), NumberText.grouped(due),
                NumberText.grouped(request.counts.answered), NumberText.grouped(request.errorCount),
                due == 0 ? "-" : NumberText.percent(Double(request.errorCount) / Double(due)),
                NumberText.significant(summary.answeredRate(request)),
            ]
            table.rows.append(cells + times)
        }
        return table
    }

    private func delayTable(_ total: RequestStatistics) -> TextTable {
        var table = TextTable()
        table.rows.append(["", "server p50", "p99", "max", "generator p50", "p99", "max"])
        for request in rows(total) where request.sendDelay.count > 0 || request.serviceTime.count > 0 {
            let cells = [request.serviceTime, request.sendDelay].flatMap { histogram -> [String] in
                guard histogram.count > 0 else { return ["-", "-", "-"] }
                return [histogram.value(at: 50), histogram.value(at: 99), histogram.max].map { NumberText.time($0) }
            }
            table.rows.append([LoadSummary.path(request.scenario, request.name)] + cells)
        }
        return table
    }

    private func waitTable(_ total: RequestStatistics) -> TextTable {
        var table = TextTable()
        table.rows.append(["", "p50", "p90", "p99", "max"])
        for request in rows(total) where request.userWait.max > 0 {
            let wait = request.userWait
            table.rows.append(
                [LoadSummary.path(request.scenario, request.name)]
                    + [50, 90, 99].map { NumberText.time(wait.value(at: $0)) } + [NumberText.time(wait.max)])
        }
        return table
    }

    private func trafficTable(_ total: RequestStatistics) -> TextTable {
        var table = TextTable()
        table.rows.append(["", "heads sent", "bodies sent", "heads received", "bodies received", "attempts/request"])
        for request in rows(total) {
            let traffic = request.traffic
            table.rows.append([
                LoadSummary.path(request.scenario, request.name), NumberText.bytes(traffic.headBytesSent),
                NumberText.bytes(traffic.bodyBytesSent), NumberText.bytes(traffic.headBytesReceived),
                NumberText.bytes(traffic.bodyBytesReceived),
                LoadSummary.amplification(request).map { NumberText.significant($0) } ?? "-",
            ])
        }
        return table
    }

    private func statusTable(_ total: RequestStatistics) -> TextTable {
        var table = TextTable()
        table.rows.append(["status", "count", ""])
        for (status, count) in total.statuses.sorted(by: { $0.key < $1.key }) {
            table.rows.append([
                String(status), NumberText.grouped(count),
                total.counts.due == 0 ? "-" : NumberText.percent(Double(count) / Double(total.counts.due)),
            ])
        }
        return table
    }

    private func errorTable(_ total: RequestStatistics) -> TextTable {
        var table = TextTable(leftColumns: 2)
        table.rows.append(["kind", "phase", "count"])
        for (error, count) in total.errors.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            table.rows.append([error.kind, error.phase.rawValue, NumberText.grouped(count)])
        }
        return table
    }

    private func phaseTable(_ total: RequestStatistics) -> TextTable {
        let phases = total.phases
        var table = TextTable()
        table.rows.append(["", "count", "p50", "p90", "p99", "max"])
        for (name, histogram) in [
            ("resolve", phases.resolve), ("connect", phases.connect), ("tls", phases.tls),
            ("first byte", phases.firstByte), ("body", phases.body),
        ] where histogram.count > 0 {
            table.rows.append(
                [name, NumberText.grouped(histogram.count)]
                    + [50, 90, 99].map { NumberText.time(histogram.value(at: $0)) } + [NumberText.time(histogram.max)])
        }
        return table
    }

    private var scenarioTable: TextTable {
        var table = TextTable()
        table.rows.append(["", "started", "completed", "failed", "interrupted", "never started", "users at most"])
        for scenario in result.scenarios {
            table.rows.append(
                [scenario.name]
                    + [
                        scenario.started, scenario.completed, scenario.failed, scenario.interrupted,
                        scenario.neverStarted,
                    ].map { NumberText.grouped($0) } + [NumberText.grouped(scenario.peakUsers)])
        }
        return table
    }

    private var resilienceTable: TextTable {
        var table = TextTable()
        table.rows.append(["", "retries", "hedges", "hedges won", "refused by breaker"])
        for row in summary.resilience {
            let cells = [row.retries, row.counts.hedges, row.counts.hedgesWon, row.counts.refusedByBreaker]
            table.rows.append([row.scenario] + cells.map { NumberText.grouped($0) })
        }
        return table
    }

    private var retryTable: TextTable {
        var table = TextTable(leftColumns: 2)
        table.rows.append(["", "reason", "count"])
        for row in summary.resilience {
            for (reason, count) in row.counts.sortedRetries {
                table.rows.append([row.scenario, reason, NumberText.grouped(count)])
            }
        }
        return table
    }

    private var checkTable: TextTable {
        var table = TextTable()
        table.rows.append(["", "passed", "failed"])
        for check in result.checks {
            table.rows.append([
                LoadSummary.path(check.scenario, check.name), NumberText.grouped(check.passed),
                NumberText.grouped(check.failed),
            ])
        }
        return table
    }

    private var thresholdTable: TextTable {
        var table = TextTable(leftColumns: 2)
        table.rows.append(["", "", "measured"])
        for outcome in result.thresholds {
            table.rows.append([
                outcome.isMet ? "met" : "NOT MET", outcome.threshold.description,
                outcome.measured.map { NumberText.measured($0, outcome.threshold.measure) } ?? "nothing",
            ])
        }
        return table
    }
}

extension TextReport {
    /// A comparison as text: a table for each name, with the confidence intervals.
    public static func text(_ comparison: LoadComparison) -> String {
        var lines: [String] = []
        for row in comparison.rows {
            if !lines.isEmpty { lines.append("") }
            lines.append(LoadSummary.path(row.scenario, row.name))
            var table = TextTable(leftColumns: 2)
            table.rows.append(["", "verdict", "before", "", "after", "", "change"])
            for figure in row.figures {
                table.rows.append(
                    [LoadSummary.name(figure.measure), LoadSummary.words(figure)]
                        + [figure.before, figure.after].flatMap { cells($0, figure.measure) }
                        + [LoadSummary.change(figure)])
            }
            lines += table.lines
            if let bursts = LoadSummary.bursts(row) { lines.append(bursts) }
        }
        for remark in comparison.remarks { lines.append("note: \(remark)") }
        for name in comparison.onlyBefore { lines.append("only before: \(name)") }
        for name in comparison.onlyAfter { lines.append("only after: \(name)") }
        return lines.map { TextTable.plain($0) + "\n" }.joined()
    }

    private static func cells(_ value: LoadComparison.Value?, _ measure: LoadComparison.Measure) -> [String] {
        guard let value else { return ["-", ""] }
        return [
            LoadSummary.text(value.value, measure),
            "(\(LoadSummary.text(value.low, measure)) to \(LoadSummary.text(value.high, measure)))",
        ]
    }
}
