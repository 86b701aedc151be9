import Errand
import FoundationEssentials

/// The tables and sentences of the HTML report.
struct LoadTables {
    let summary: LoadSummary
    let total: RequestStatistics
    private var result: LoadResult { summary.result }

    /// All requests, then those of each name. A single row if there is one name.
    private var rows: [RequestStatistics] { result.requests.count == 1 ? result.requests : [total] + result.requests }

    var head: String {
        var lines = [
            "<h1>\(MarkupText.escaped(result.plan))</h1>", "<p>\(MarkupText.escaped(summary.head)).</p>",
        ]
        if let threshold = result.abortedBy {
            lines.append("<p class=\"bad\">Ended early by the threshold \(MarkupText.escaped(threshold)).</p>")
        }
        let style = summary.isLimited ? "verdict bad" : "verdict"
        lines += summary.verdict.map { "<p class=\"\(style)\">\(MarkupText.escaped($0))</p>" }
        lines.append("<p class=\"verdict\">\(MarkupText.escaped(LoadSummary.sum(total.counts))).</p>")
        if let failed = summary.failedIterations {
            lines.append("<p class=\"verdict bad\">\(MarkupText.escaped(failed)).</p>")
        }
        return lines.joined(separator: "\n")
    }

    /// The figures that are read first.
    var tiles: String {
        let latency = total.latency
        let hasLatency = latency.count > 0
        let due = total.counts.due
        let figures = [
            ("answered per second", NumberText.significant(summary.answeredRate(total))),
            ("p50", hasLatency ? NumberText.time(latency.value(at: 50)) : "-"),
            ("p99", hasLatency ? NumberText.time(latency.value(at: 99)) : "-"),
            ("largest latency", hasLatency ? NumberText.time(latency.max) : "-"),
            ("errors", due == 0 ? "-" : NumberText.percent(Double(total.errorCount) / Double(due))),
        ]
        let items = figures.map { "<li><b>\(MarkupText.escaped($0.1))</b> \(MarkupText.escaped($0.0))</li>" }
        return "<ul class=\"tiles\">\(items.joined())</ul>"
    }

    var thresholds: String {
        var table = HTMLTable(caption: "Thresholds", columns: ["threshold", "verdict", "measured"])
        for outcome in result.thresholds {
            table.styles[table.rows.count] = outcome.isMet ? "good" : "bad"
            table.rows.append([
                outcome.threshold.description, outcome.isMet ? "✓ met" : "✗ not met",
                outcome.measured.map { NumberText.measured($0, outcome.threshold.measure) } ?? "nothing",
            ])
        }
        return table.html
    }

    var requests: String {
        var table = HTMLTable(
            caption: "Latency from the moment when a request was due to its end",
            columns: ["name", "due", "answered", "errors", "rate", "mean", "p50", "p90", "p99", "p99.9", "max"])
        for request in rows {
            let due = request.counts.due
            let errors = due == 0 ? "-" : NumberText.percent(Double(request.errorCount) / Double(due))
            let cells = [
                LoadSummary.path(request.scenario, request.name), NumberText.grouped(due),
                NumberText.grouped(request.counts.answered), "\(NumberText.grouped(request.errorCount)) (\(errors))",
                NumberText.significant(summary.answeredRate(request)) + "/s",
            ]
            table.rows.append(cells + times(request.latency, [50, 90, 99, 99.9], hasMean: true))
        }
        return table.html
    }

    var delays: String {
        var table = HTMLTable(
            caption:
                "From sending to the end of the response; the wait for a free user; and the lateness of the generator",
            columns: [
                "name", "server p50", "p99", "max", "user p50", "p99", "max", "generator p50", "p99", "max",
            ])
        for request in rows where request.serviceTime.count > 0 || request.sendDelay.count > 0 {
            table.rows.append(
                [LoadSummary.path(request.scenario, request.name)] + times(request.serviceTime, [50, 99])
                    + times(request.userWait, [50, 99]) + times(request.sendDelay, [50, 99]))
        }
        return table.html
    }

    /// The mean if it is wanted, the percentiles and the maximum.
    private func times(_ histogram: LatencyHistogram, _ percentiles: [Double], hasMean: Bool = false) -> [String] {
        guard histogram.count > 0 else {
            return Array(repeating: "-", count: percentiles.count + (hasMean ? 2 : 1))
        }
        var cells = hasMean ? [NumberText.time(histogram.mean)] : []
        cells += percentiles.map { NumberText.time(histogram.value(at: $0)) }
        cells.append(NumberText.time(histogram.max))
        return cells
    }

    var errors: String {
        var table = HTMLTable(caption: "Errors by kind and phase", columns: ["kind", "phase", "count"])
        for (error, count) in total.errors.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            table.rows.append([error.kind, error.phase.rawValue, NumberText.grouped(count)])
        }
        return table.html
    }

    var statuses: String {
        var table = HTMLTable(caption: "Responses by status", columns: ["status", "count"])
        for (status, count) in total.statuses.sorted(by: { $0.key < $1.key }) {
            table.rows.append([String(status), NumberText.grouped(count)])
        }
        return table.html
    }

    var failures: String {
        guard !result.failures.isEmpty else { return "" }
        return "<p>The first failures:</p><pre>\(MarkupText.escaped(result.failures.joined(separator: "\n")))</pre>"
    }

    var checks: String {
        var table = HTMLTable(caption: "Conditions of responses", columns: ["check", "verdict", "passed", "failed"])
        for check in result.checks {
            table.styles[table.rows.count] = check.failed == 0 ? "good" : "bad"
            table.rows.append([
                LoadSummary.path(check.scenario, check.name), check.failed == 0 ? "✓ passed" : "✗ failed",
                NumberText.grouped(check.passed), NumberText.grouped(check.failed),
            ])
        }
        return table.html
    }

    var scenarios: String {
        var table = HTMLTable(
            caption: "Iterations of users",
            columns: [
                "scenario", "started", "completed", "failed", "interrupted", "never started", "users at most",
            ])
        for scenario in result.scenarios {
            let counts = [
                scenario.started, scenario.completed, scenario.failed, scenario.interrupted, scenario.neverStarted,
            ]
            let cells = [scenario.name] + counts.map { NumberText.grouped($0) }
            table.rows.append(cells + [NumberText.grouped(scenario.peakUsers)])
        }
        return table.html
    }

    /// What resilience did, and the reasons of retries.
    var resilience: String {
        var table = HTMLTable(
            caption: "Retries, hedges and breakers",
            columns: ["scenario", "retries", "hedges", "hedges won", "refused by breaker"])
        var reasons = HTMLTable(caption: "Retries by reason", columns: ["scenario", "reason", "count"])
        for row in summary.resilience {
            let cells = [row.retries, row.counts.hedges, row.counts.hedgesWon, row.counts.refusedByBreaker]
            table.rows.append([row.scenario] + cells.map { NumberText.grouped($0) })
            for (reason, count) in row.counts.sortedRetries {
                reasons.rows.append([row.scenario, reason, NumberText.grouped(count)])
            }
        }
        return table.html + reasons.html
    }

    var phases: String {
        var table = HTMLTable(
            caption: "Phases of answered requests; the first three only where a connection was made",
            columns: ["phase", "count", "p50", "p90", "p99", "max"])
        let phases = total.phases
        for (name, histogram) in [
            ("resolve", phases.resolve), ("connect", phases.connect), ("TLS", phases.tls),
            ("first byte", phases.firstByte), ("body", phases.body),
        ] where histogram.count > 0 {
            table.rows.append([name, NumberText.grouped(histogram.count)] + times(histogram, [50, 90, 99]))
        }
        return table.html
    }

    var traffic: String {
        var table = HTMLTable(
            caption: "Traffic, and requests on the wire for each one that was sent",
            columns: [
                "name", "heads sent", "bodies sent", "heads received", "bodies received", "received per second",
                "attempts/request",
            ])
        for request in rows {
            let traffic = request.traffic
            let received = result.measured(request).bytesReceived
            table.rows.append([
                LoadSummary.path(request.scenario, request.name), NumberText.bytes(traffic.headBytesSent),
                NumberText.bytes(traffic.bodyBytesSent), NumberText.bytes(traffic.headBytesReceived),
                NumberText.bytes(traffic.bodyBytesReceived), NumberText.bytes(summary.rate(received)) + "/s",
                LoadSummary.amplification(request).map { NumberText.significant($0) } ?? "-",
            ])
        }
        return table.html
    }

    var generators: String {
        var table = HTMLTable(
            caption: "The processes that made the load",
            columns: [
                "generator", "verdict", "CPU user", "CPU system", "cores", "loops", "memory", "lag p99", "lag max",
                "connections", "descriptors",
            ])
        for (place, generator) in result.generators.enumerated() {
            table.styles[place] = generator.limits.isEmpty ? "good" : "bad"
            table.rows.append([
                String(place + 1), generator.limits.isEmpty ? "✓ kept up" : "✗ was the limit",
                NumberText.seconds(generator.userSeconds), NumberText.seconds(generator.systemSeconds),
                NumberText.grouped(generator.cores), NumberText.grouped(generator.loops),
                NumberText.bytes(Double(generator.peakResidentBytes)), NumberText.time(generator.lag.value(at: 99)),
                NumberText.time(generator.lag.max), NumberText.grouped(generator.connections),
                "\(NumberText.grouped(generator.peakDescriptors)) of \(NumberText.grouped(generator.descriptorLimit))",
            ])
        }
        let lines = summary.verdict.map { "<p>\(MarkupText.escaped($0))</p>" }
        return lines.joined(separator: "\n") + "\n" + table.html
    }
}

extension LoadTables {
    /// A row for each name and measure.
    static func comparison(_ comparison: LoadComparison) -> String {
        var table = HTMLTable(
            caption: """
                Before and after, with confidence intervals; chance: the probability of such a difference without a change
                """,
            columns: ["name and measure", "verdict", "before", "interval", "after", "interval", "change", "chance"])
        for row in comparison.rows {
            for figure in row.figures {
                switch figure.verdict {
                case .better: table.styles[table.rows.count] = "good"
                case .worse: table.styles[table.rows.count] = "bad"
                case .noDifference, .differsInBursts, .tooLittleData: break
                }
                let name = LoadSummary.path(row.scenario, row.name) + " " + LoadSummary.name(figure.measure)
                var cells = [name, LoadSummary.words(figure)]
                cells += values(figure.before, figure.measure)
                cells += values(figure.after, figure.measure)
                cells.append(LoadSummary.change(figure))
                cells.append(figure.chance.map { NumberText.percent($0) } ?? "-")
                table.rows.append(cells)
            }
        }
        let figures = comparison.rows.flatMap(\.figures)
        let verdicts: [LoadComparison.Verdict] = [.worse, .better, .differsInBursts, .noDifference, .tooLittleData]
        let counts = verdicts.map { verdict in
            "\(NumberText.grouped(figures.count { $0.verdict == verdict })) \(LoadSummary.words(verdict))"
        }
        let style = comparison.isWorse ? "verdict bad" : "verdict"
        let sum = "\(NumberText.count(figures.count, "figure")): \(counts.joined(separator: ", "))."
        var lines = ["<p class=\"\(style)\">\(MarkupText.escaped(sum))</p>", table.html]
        for row in comparison.rows {
            guard let bursts = LoadSummary.bursts(row) else { continue }
            let path = LoadSummary.path(row.scenario, row.name)
            lines.append("<p class=\"bad\">\(MarkupText.escaped("\(path): \(bursts)")).</p>")
        }
        lines += comparison.remarks.map { "<p class=\"bad\">Note: \(MarkupText.escaped($0)).</p>" }
        lines += comparison.onlyBefore.map { "<p>Only before: \(MarkupText.escaped($0))</p>" }
        lines += comparison.onlyAfter.map { "<p>Only after: \(MarkupText.escaped($0))</p>" }
        return lines.joined(separator: "\n")
    }

    private static func values(_ value: LoadComparison.Value?, _ measure: LoadComparison.Measure) -> [String] {
        guard let value else { return ["-", "-"] }
        return [
            LoadSummary.text(value.value, measure),
            "\(LoadSummary.text(value.low, measure)) to \(LoadSummary.text(value.high, measure))",
        ]
    }
}
