/// The frame of a chart, as inline SVG: axes, grid lines, labels. The content of the frame is passed as markup.
struct ChartFrame {
    let label: String
    let horizontal: ChartAxis
    let vertical: ChartAxis

    static let width = 920.0
    static let height = 260.0
    private static let left = 80.0
    /// Room for half of the label at the end of the axis.
    private static let right = 28.0
    private static let top = 12.0
    private static let bottom = 42.0

    func x(_ value: Double) -> Double {
        Self.left + (Self.width - Self.left - Self.right) * horizontal.share(of: value)
    }

    func y(_ value: Double) -> Double {
        Self.top + (Self.height - Self.top - Self.bottom) * (1 - vertical.share(of: value))
    }

    /// The whole chart with its legend. `summary`: its most important figures, for people who use a screen reader.
    func chart(_ legend: ChartLegend, _ drawn: [String], summary: String) -> String {
        let name = MarkupText.escaped(label)
        return """
            <div class="chart">\(legend.html)<div class="scroll" role="region" aria-label="\(name)" tabindex="0">\
            <svg viewBox="0 0 \(text(Self.width)) \(text(Self.height))" width="\(text(Self.width))" \
            height="\(text(Self.height))" font-size="12" font-family="sans-serif" role="img" \
            aria-label="\(name): \(MarkupText.escaped(summary))">
            \((grid + drawn.filter { !$0.isEmpty } + axes).joined(separator: "\n"))
            </svg></div></div>
            """
    }

    /// A rectangle between two values of each axis, with a tooltip. Its colour is that of its group.
    func rectangle(from left: Double, to right: Double, below top: Double, above bottom: Double, tip: String)
        -> String
    {
        // Edges are rounded instead of sizes, because rounded sizes would leave gaps between neighbours.
        let (begin, end, low) = (rounded(x(left)), rounded(x(right)), rounded(y(bottom)))
        // Even a single one of thousands of requests must be visible.
        let height = max(1.5, low - rounded(y(top)))
        return """
            <rect x="\(text(begin))" y="\(text(low - height))" width="\(text(max(0.4, end - begin)))" \
            height="\(text(height))"><title>\(MarkupText.escaped(tip))</title></rect>
            """
    }

    /// A line through points; a gap at each point without a value, and a dot for a value between two gaps.
    func line(_ place: Int, _ points: [(x: Double, y: Double?)], tip: String) -> String {
        var (path, dots) = ("", "")
        var run: [String] = []
        func end() {
            // A dot is a line with round caps and no length.
            if run.count == 1 {
                dots += "M\(run[0])h0"
            } else if run.count > 1 {
                path += "M" + run.joined(separator: "L")
            }
            run = []
        }
        for point in points {
            if let value = point.y { run.append("\(text(x(point.x))) \(text(y(value)))") } else { end() }
        }
        end()
        let title = "<title>\(MarkupText.escaped(tip))</title>"
        let shapes = [(ChartPaint.line(place), path), (ChartPaint.dot(place), dots)].filter { !$0.1.isEmpty }
        return shapes.map { "<path \($0.0.attributes) d=\"\($0.1)\">\(title)</path>" }.joined()
    }

    private var grid: [String] {
        vertical.ticks.map { tick in
            let at = text(y(tick.value))
            return """
                <path \(ChartPaint.grid.attributes) d="M\(text(Self.left)) \(at)H\(text(Self.width - Self.right))"/>\
                <text class="tick" x="\(text(Self.left - 8))" y="\(at)" dy=".33em" \
                text-anchor="end">\(MarkupText.escaped(tick.label))</text>
                """
        }
    }

    private var axes: [String] {
        let base = Self.height - Self.bottom
        let line = ChartPaint.axis.attributes
        let marks = horizontal.ticks.map { tick in
            let at = text(x(tick.value))
            return """
                <path \(line) d="M\(at) \(text(base))v5"/>\
                <text class="tick" x="\(at)" y="\(text(base + 18))" \
                text-anchor="middle">\(MarkupText.escaped(tick.label))</text>
                """
        }
        let middle = text((Self.top + base) / 2)
        return marks + [
            """
            <path \(line) d="M\(text(Self.left)) \(text(Self.top))V\(text(base))H\(text(Self.width - Self.right))"/>
            """,
            // The title is at the left end, which a narrow screen shows first.
            """
            <text class="tick" x="\(text(Self.left))" y="\(text(Self.height - 6))">\
            \(MarkupText.escaped(horizontal.title))</text>
            """,
            """
            <text class="tick" transform="rotate(-90 14 \(middle))" x="14" y="\(middle)" \
            text-anchor="middle">\(MarkupText.escaped(vertical.title))</text>
            """,
        ]
    }

    private func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    private func text(_ number: Double) -> String { NumberText.short(number, 1) }
}

/// The names of the drawn series, with their looks.
struct ChartLegend {
    let entries: [(paint: ChartPaint, name: String)]

    var html: String {
        let items = entries.map { entry in
            let shape =
                switch entry.paint {
                case .line: "<path \(entry.paint.attributes) d=\"M1 5H33\"/>"
                default: "<rect \(entry.paint.attributes) x=\"8\" y=\"0\" width=\"18\" height=\"10\"/>"
                }
            return "<li><svg class=\"swatch\" viewBox=\"0 0 34 10\" width=\"34\" height=\"10\" "
                + "aria-hidden=\"true\">\(shape)</svg>\(MarkupText.escaped(entry.name))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }
}
