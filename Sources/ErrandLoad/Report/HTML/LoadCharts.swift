import Errand
import Glibc

/// The charts of a result.
struct LoadCharts {
    private let result: LoadResult
    private let total: RequestStatistics
    private let time: TimeColumns

    init(_ result: LoadResult, total: RequestStatistics) {
        self.result = result
        self.total = total
        time = TimeColumns(total, of: result)
    }

    private var timeAxis: ChartAxis {
        let shaded = time.outside == nil ? "" : "; shaded: after its end"
        return .time("time since the start of the measured part\(shaded)", to: time.end)
    }

    private func latencyAxis(_ title: String, from least: UInt64, to most: UInt64) -> ChartAxis {
        .logarithmic(title, from: Double(least), to: Double(most)) { NumberText.tickTime($0) }
    }

    /// The time after the measured part, in which requests of that part still end.
    private func outside(_ frame: ChartFrame) -> String {
        guard let start = time.outside else { return "" }
        return ChartPaint.outside.group([
            frame.rectangle(
                from: start, to: time.end, below: frame.vertical.high, above: frame.vertical.low,
                tip: "after the measured part")
        ])
    }

    /// One invisible rectangle for each column, with its values as a tooltip.
    private func tips(_ frame: ChartFrame, _ tip: (TimeColumns.Column) -> String) -> String {
        ChartPaint.tips.group(
            time.columns.map { column in
                frame.rectangle(
                    from: column.start, to: column.end, below: frame.vertical.high, above: frame.vertical.low,
                    tip: "\(TimeColumns.time(column)): \(tip(column))")
            })
    }

    private func points(_ value: (TimeColumns.Column) -> Double?) -> [(x: Double, y: Double?)] {
        time.columns.map { (x: ($0.start + $0.end) / 2, y: value($0)) }
    }

    var rate: String {
        func answered(_ column: TimeColumns.Column) -> Double {
            column.measured > 0 ? Double(column.sum.counts.answered) / column.measured : 0
        }
        func due(_ column: TimeColumns.Column) -> Double {
            column.measured > 0 ? Double(column.sum.counts.due) / column.measured : 0
        }
        let frame = ChartFrame(
            label: "Requests per second over time", horizontal: timeAxis,
            vertical: .linear("requests per second", to: time.columns.map(due).max() ?? 0) { NumberText.tick($0) })
        let drawn = [
            outside(frame), frame.line(1, points(due), tip: "ended in any way"),
            frame.line(0, points(answered), tip: "answered"),
            tips(frame) {
                "\(NumberText.significant(answered($0))) answered per second, \(NumberText.significant(due($0))) ended"
            },
        ]
        let most = time.columns.map(answered).max() ?? 0
        return frame.chart(
            ChartLegend(entries: [(.line(0), "answered"), (.line(1), "ended in any way")]), drawn,
            summary: "at most \(NumberText.significant(most)) answered per second")
    }

    /// Each percentile has the look of its index.
    private static let percentiles: [(name: String, value: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("max", 100),
    ]

    private static let nothing = "<p>No latency was measured.</p>"

    var latency: String {
        func value(_ percentile: Double, _ column: TimeColumns.Column) -> Double? {
            let latency = column.sum.latency
            return latency.isEmpty ? nil : Double(latency.value(at: percentile))
        }
        guard total.latency.count > 0 else { return Self.nothing }
        let frame = ChartFrame(
            label: "Percentiles of the latency over time", horizontal: timeAxis,
            vertical: latencyAxis("latency", from: total.latency.min, to: total.latency.max))
        let percentiles = Array(Self.percentiles.enumerated())
        let lines = percentiles.reversed().map { place, percentile in
            frame.line(place, points { value(percentile.value, $0) }, tip: percentile.name)
        }
        let tooltips = tips(frame) { column in
            Self.percentiles.map { percentile in
                "\(percentile.name) \(value(percentile.value, column).map { NumberText.time($0) } ?? "-")"
            }.joined(separator: ", ")
        }
        let figures = Self.percentiles.map { "\($0.name) \(NumberText.time(total.latency.value(at: $0.value)))" }
        return frame.chart(
            ChartLegend(entries: percentiles.map { (paint: ChartPaint.line($0.offset), name: $0.element.name) }),
            [outside(frame)] + lines + [tooltips],
            summary: "\(figures.joined(separator: ", ")) of the whole run")
    }

    /// The names that have lines of their own: those with the largest p99, as many as there are looks besides that of all
    /// requests. They are in the order of the plan.
    private var slowest: [RequestStatistics] {
        let requests = Array(result.requests.enumerated())
        let ranked = requests.map { (place: $0.offset, p99: $0.element.latency.value(at: 99)) }
            .sorted { ($1.p99, $0.place) < ($0.p99, $1.place) }
        let chosen = Set(ranked.prefix(ChartPaint.count - 1).map { $0.place })
        return requests.filter { chosen.contains($0.offset) }.map { $0.element }
    }

    /// Says which names have lines, if not all have.
    private var choice: String {
        let (count, all) = (slowest.count, result.requests.count)
        guard count < all else { return "" }
        return "<p>Of \(NumberText.grouped(all)) names the \(NumberText.grouped(count)) with the largest p99.</p>"
    }

    /// The p99 of each name over time, in the looks of ``distribution``; empty if there is one name.
    var latencyByName: String {
        guard result.requests.count > 1 else { return "" }
        var series: [(look: Int, name: String, points: [(x: Double, y: Double?)])] = []
        for (place, request) in slowest.enumerated() where request.latency.count > 0 {
            let points = TimeColumns(request, of: result).columns.map { column -> (x: Double, y: Double?) in
                let latency = column.sum.latency
                return ((column.start + column.end) / 2, latency.isEmpty ? nil : Double(latency.value(at: 99)))
            }
            series.append((place + 1, LoadSummary.path(request.scenario, request.name), points))
        }
        let values = series.flatMap { $0.points.compactMap { $0.y } }
        guard let least = values.min(), let most = values.max() else { return "" }
        let frame = ChartFrame(
            label: "p99 of the latency over time by name", horizontal: timeAxis,
            vertical: .logarithmic("p99", from: least, to: most) { NumberText.tickTime($0) })
        let largest = series.map { "\($0.name) at most \(NumberText.time($0.points.compactMap { $0.y }.max() ?? 0))" }
        return "<h2>Latency over time by name</h2>" + choice
            + frame.chart(
                ChartLegend(entries: series.map { (paint: ChartPaint.line($0.look), name: $0.name) }),
                [outside(frame)] + series.map { frame.line($0.look, $0.points, tip: "p99 of \($0.name)") },
                summary: largest.joined(separator: ", "))
    }

    private static let endings = ["rejected", "failed", "timed out", "unfinished", "never sent"]

    private static func errorCounts(_ rejected: UInt64, _ counts: LoadCounts) -> [UInt64] {
        [rejected, counts.failed, counts.timedOut, counts.unfinished, counts.neverSent]
    }

    var errors: String {
        let counts = time.columns.map { Self.errorCounts($0.sum.rejected, $0.sum.counts) }
        let most = counts.map { $0.reduce(0, +) }.max() ?? 0
        guard most > 0 else { return "<p>No request failed, timed out or was rejected.</p>" }
        let frame = ChartFrame(
            label: "Errors over time by their kind", horizontal: timeAxis,
            // Labels are whole numbers, even if there are few errors.
            vertical: .linear("requests", to: max(5, Double(most))) { NumberText.tick($0) })
        var areas = Array(repeating: [String](), count: Self.endings.count)
        for (column, counts) in zip(time.columns, counts) {
            var base = 0.0
            for (place, count) in counts.enumerated() where count > 0 {
                areas[place].append(
                    frame.rectangle(
                        from: column.start, to: column.end, below: base + Double(count), above: base,
                        tip: "\(TimeColumns.time(column)): \(NumberText.grouped(count)) \(Self.endings[place])"))
                base += Double(count)
            }
        }
        let sums = Self.errorCounts(total.rejected, total.counts)
        // Only kinds that occurred. The first kind is grey.
        let entries = areas.indices.filter { !areas[$0].isEmpty }.map { place in
            (paint: ChartPaint.area(place + 1), name: "\(Self.endings[place]): \(NumberText.grouped(sums[place]))")
        }
        return frame.chart(
            ChartLegend(entries: entries),
            [outside(frame)] + areas.enumerated().map { ChartPaint.area($0.offset + 1).group($0.element) },
            summary: entries.map { $0.name }.joined(separator: ", "))
    }

    /// All requests and the slowest names by percentile.
    var distribution: String {
        let names = slowest.map { (name: LoadSummary.path($0.scenario, $0.name), histogram: $0.latency) }
        let series = names.count == 1 ? names : [(name: "all", histogram: total.latency)] + names
        return choice + Self.distribution("Latency by percentile", series)
    }

    /// Names and histograms as lines by percentile.
    static func distribution(_ label: String, _ series: [(name: String, histogram: LatencyHistogram)]) -> String {
        let series = series.enumerated().filter { $0.element.histogram.count > 0 }.map { place, one in
            (look: place % ChartPaint.count, name: one.name, histogram: one.histogram)
        }
        guard let most = series.map({ $0.histogram.count }).max() else { return nothing }
        let frame = ChartFrame(
            label: label, horizontal: .percentiles(upTo: most),
            vertical: .logarithmic(
                "latency", from: Double(series.map { $0.histogram.min }.min() ?? 1),
                to: Double(series.map { $0.histogram.max }.max() ?? 1)
            ) { NumberText.tickTime($0) })
        let lines = series.map { one -> String in
            let compact = CompactHistogram(one.histogram)
            let end = min(frame.horizontal.high, log10(Double(one.histogram.count)))
            let steps = stride(from: 0, through: end, by: 0.05).map { $0 } + [end]
            let points = steps.map { nines in
                (x: nines, y: Double?.some(Double(compact.value(at: ChartAxis.percentile(nines)))))
            }
            return frame.line(one.look, points, tip: one.name)
        }
        let figures = series.map { "\($0.name) \(NumberText.time($0.histogram.value(at: 99)))" }
        return frame.chart(
            ChartLegend(entries: series.map { (paint: ChartPaint.line($0.look), name: $0.name) }), lines,
            summary: "p99: \(figures.joined(separator: ", "))")
    }

    /// Latencies over time: the darker a cell, the more requests.
    var heatMap: String {
        let columns = TimeColumns(total, of: result, atMost: 100).columns
        guard total.latency.count > 0 else { return Self.nothing }
        let frame = ChartFrame(
            label: "Heat map of the latency over time", horizontal: timeAxis,
            vertical: latencyAxis("latency", from: total.latency.min, to: total.latency.max))
        let rows = 32
        let cells = columns.map { column in
            var cells = Array(repeating: UInt64(0), count: rows)
            for (value, count) in column.sum.latency.buckets {
                cells[min(rows - 1, Int(frame.vertical.share(of: Double(value)) * Double(rows)))] += count
            }
            return cells
        }
        let most = max(1, cells.joined().max() ?? 1)
        func bound(_ row: Int) -> Double {
            frame.vertical.low * pow(frame.vertical.high / frame.vertical.low, Double(row) / Double(rows))
        }
        var shades = Array(repeating: [String](), count: 6)
        for (column, cells) in zip(columns, cells) {
            for (row, count) in cells.enumerated() where count > 0 {
                // Logarithmic, so that single slow requests are seen beside thousands of quick ones.
                let shade = most > 1 ? Int(log(Double(count)) / log(Double(most)) * 5.99) : 5
                let (low, high) = (bound(row), bound(row + 1))
                shades[min(5, max(0, shade))].append(
                    frame.rectangle(
                        from: column.start, to: column.end, below: high, above: low,
                        tip: "\(TimeColumns.time(column)), \(NumberText.time(low)) to \(NumberText.time(high)): "
                            + NumberText.count(count, "request")))
            }
        }
        let legend: [(paint: ChartPaint, name: String)] =
            most > 1
            ? [(.heat(0), "1 request"), (.heat(5), "up to \(NumberText.count(most, "request"))")]
            : [(.heat(5), "1 request")]
        let (least, largest) = (NumberText.time(total.latency.min), NumberText.time(total.latency.max))
        return frame.chart(
            ChartLegend(entries: legend),
            [outside(frame)] + shades.enumerated().map { ChartPaint.heat($0.offset).group($0.element) },
            summary: "from \(least) to \(largest)")
    }
}
