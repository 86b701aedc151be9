import Foundation

/// The results as one HTML page, without scripts or network access, for light and dark mode.
struct Page {
    let script: SickScript
    let rate: Double
    let outcomes: [Outcome]
    /// The seconds that one point of the charts covers.
    let step: Double

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>A server falls ill</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>A server falls ill</h1>
        <p>\(outcomes.count) clients each send \(Int(rate)) requests a second to a server of their own. All servers \
        follow the same script and can answer about \(Int(SickServer.capacity)) requests a second. A request fails \
        if its answer is not a good one, or does not come within one second. The charts have one point for each \
        \(step == 1 ? "second" : "\(Chart.text(step)) s"). Success and latency are shown at the time when a request \
        was due.</p>
        <ul class="legend">
        \(outcomes.map(legend).joined(separator: "\n"))
        </ul>
        <h2>Success rate</h2>
        \(success.svg)
        <h2>99th percentile of the time to the end of a request</h2>
        <p>Failures count too: a refusal ends at once, a request that is given up ends after a second.</p>
        \(latency.svg)
        <h2>Load at the server</h2>
        <p>Requests a second that reach the server, with retries and hedges, by the time when they arrive. While it is \
        dead, each connection counts as one.</p>
        \(load.svg)
        <h2>By phase</h2>
        \(table)
        </body>
        </html>

        """
    }

    private func legend(_ outcome: Outcome) -> String {
        let contender = outcome.contender
        return """
            <li><svg class="swatch" viewBox="0 0 34 10" aria-hidden="true"><path class="line s-\(contender.colour)"\
            \(Chart.dashes(contender)) d="M1 5H33"/></svg><b>\(contender.name)</b>: \(contender.explanation)</li>
            """
    }

    private func lines(_ value: (Outcome.Figures) -> Double?) -> [Chart.Line] {
        outcomes.map { outcome in
            Chart.Line(
                contender: outcome.contender,
                values: outcome.series(script, step: step).map { ($0.time, value($0.figures)) })
        }
    }

    private var success: Chart {
        Chart(
            title: "Success rate", unit: "% of the requests", script: script, lines: lines { $0.success },
            ticks: [0, 25, 50, 75, 100].map { ($0 / 100, Chart.text($0)) })
    }

    private var latency: Chart {
        Chart(
            title: "99th percentile", unit: "milliseconds", script: script, lines: lines { $0.p99.map { $0 * 1000 } },
            ticks: [10, 20, 50, 100, 200, 500, 1000, 2000].map { ($0, Chart.text($0)) }, isLogarithmic: true)
    }

    private var load: Chart {
        let drawn = lines { $0.load }
        let highest = drawn.flatMap(\.values).compactMap(\.value).max() ?? 0
        let step = max(100, (highest / 500).rounded(.up) * 100)
        return Chart(
            title: "Load", unit: "requests a second", script: script, lines: drawn,
            ticks: stride(from: 0, through: (highest / step).rounded(.up) * step, by: step).map {
                ($0, Chart.text($0))
            })
    }

    private var table: String {
        let heads = script.phases.map { "<th scope=\"col\">\($0.name)</th>" }.joined()
        let rows = outcomes.map { outcome in
            let cells = script.phases.map { phase in
                let figures = outcome.figures(from: phase.begin, to: phase.end)
                return "<td>\(Self.percent(figures.success))<small>\(Self.milliseconds(figures.p99))</small>"
                    + "<small>\(Int(figures.load))/s</small></td>"
            }
            return "<tr><th scope=\"row\">\(outcome.contender.name)</th>\(cells.joined())</tr>"
        }
        return """
            <div class="scroll"><table><caption>Success rate; p99; load at the server</caption>
            <thead><tr><td></td>\(heads)</tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            """
    }

    static func percent(_ share: Double?) -> String { share.map { "\(Chart.text($0 * 100)) %" } ?? "-" }
    static func milliseconds(_ seconds: Double?) -> String { seconds.map { "\(Int($0 * 1000)) ms" } ?? "-" }
}

extension Page {
    /// The colours are those of Okabe and Ito, but darker if a thin line on white needs it.
    private static let style = """
        :root {
          color-scheme: light dark;
          --paper: #fff; --ink: #1a1e22; --soft: #59626b; --rule: #c9ced3; --faint: #e6e9ec;
          --band0: #f6f7f8; --band1: #fff;
          --c-grey: #6b747d; --c-red: #cc5200; --c-blue: #0072b2; --c-purple: #b35a92; --c-green: #00875f;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #14171a; --ink: #e6e8ea; --soft: #a3abb3; --rule: #32383e; --faint: #262b30;
            --band0: #1b1f23; --band1: #14171a;
            --c-grey: #98a1aa; --c-red: #f07c45; --c-blue: #56a8e6; --c-purple: #d58bbd; --c-green: #3dbf94;
          }
        }
        body {
          margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
          font: 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
          font-variant-numeric: tabular-nums;
        }
        h1 { font-size: 1.75rem; margin: 0.5rem 0; }
        h2 { font-size: 1.125rem; margin: 1.75rem 0 0.25rem; }
        p { margin: 0.25rem 0 0.75rem; color: var(--soft); }
        svg { display: block; width: 100%; height: auto; }
        .legend { list-style: none; margin: 1rem 0; padding: 0; }
        .legend li { margin: 0.15rem 0; }
        .swatch { display: inline-block; width: 34px; height: 10px; margin-right: 0.6rem; }
        .band0 { fill: var(--band0); } .band1 { fill: var(--band1); }
        .phase, .tick { fill: var(--soft); font-size: 12px; }
        .grid { stroke: var(--faint); fill: none; } .axis { stroke: var(--rule); fill: none; }
        .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .s-grey { stroke: var(--c-grey); } .s-red { stroke: var(--c-red); } .s-blue { stroke: var(--c-blue); }
        .s-purple { stroke: var(--c-purple); } .s-green { stroke: var(--c-green); }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-size: 0.8125rem; }
        caption { text-align: left; color: var(--soft); padding-bottom: 0.35rem; }
        th, td { padding: 0.3rem 0.9rem 0.3rem 0; text-align: right; vertical-align: top; }
        th[scope="row"] { text-align: left; font-weight: 600; white-space: nowrap; }
        tbody tr { border-top: 1px solid var(--rule); }
        small { display: block; color: var(--soft); }
        """
}
