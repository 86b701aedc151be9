import Foundation

/// A chart of lines over the time of a script, as inline SVG.
struct Chart {
    struct Line {
        let contender: Contender
        /// `nil`: a gap.
        let values: [(time: Double, value: Double?)]
    }

    let title: String
    /// The label of the vertical axis.
    let unit: String
    let script: SickScript
    let lines: [Line]
    /// The values that are marked with a horizontal line and a label, from the lowest to the highest.
    let ticks: [(value: Double, label: String)]
    /// Whether equal ratios have equal heights.
    var isLogarithmic = false

    private static let width = 920.0
    private static let height = 250.0
    private static let left = 64.0
    private static let right = 12.0
    private static let top = 26.0
    private static let bottom = 40.0

    var svg: String {
        let names = lines.map(\.contender.name).joined(separator: ", ")
        return """
            <svg viewBox="0 0 \(Self.text(Self.width)) \(Self.text(Self.height))" role="img" \
            aria-label="\(title) over time for \(names). The table below has the figures.">
            \((phases + grid + axes + lines.map(path)).joined(separator: "\n"))
            </svg>
            """
    }

    private func x(_ time: Double) -> Double {
        Self.left + (Self.width - Self.left - Self.right) * time / script.seconds
    }

    private func y(_ value: Double) -> Double {
        let (low, high) = (ticks.first?.value ?? 0, ticks.last?.value ?? 1)
        let shown = min(max(value, low), high)
        let share = isLogarithmic ? log(shown / low) / log(high / low) : (shown - low) / (high - low)
        return Self.top + (Self.height - Self.top - Self.bottom) * (1 - share)
    }

    /// A band for each phase, with its name.
    private var phases: [String] {
        script.phases.enumerated().flatMap { index, phase in
            let (begin, end) = (x(phase.begin), x(phase.end))
            let band = """
                <rect class="band\(index % 2)" x="\(Self.text(begin))" y="\(Self.text(Self.top - 20))" \
                width="\(Self.text(end - begin))" height="\(Self.text(Self.height - Self.top - Self.bottom + 20))"/>
                """
            let name = """
                <text class="phase" x="\(Self.text((begin + end) / 2))" y="\(Self.text(Self.top - 6))" \
                text-anchor="middle">\(phase.name)</text>
                """
            return [band, name]
        }
    }

    private var grid: [String] {
        ticks.map { tick in
            let at = Self.text(y(tick.value))
            return """
                <path class="grid" d="M\(Self.text(Self.left)) \(at)H\(Self.text(Self.width - Self.right))"/>\
                <text class="tick" x="\(Self.text(Self.left - 8))" y="\(at)" dy=".33em" \
                text-anchor="end">\(tick.label)</text>
                """
        }
    }

    private var axes: [String] {
        let base = Self.height - Self.bottom
        let step = script.seconds > 30 ? 10.0 : 2
        let marks = stride(from: 0, through: script.seconds, by: step).map { time in
            """
            <path class="axis" d="M\(Self.text(x(time))) \(Self.text(base))v5"/>\
            <text class="tick" x="\(Self.text(x(time)))" y="\(Self.text(base + 18))" \
            text-anchor="middle">\(Self.text(time))</text>
            """
        }
        let middle = Self.text((Self.top + base) / 2)
        return marks + [
            """
            <path class="axis" d="M\(Self.text(Self.left)) \(Self.text(Self.top))V\(Self.text(base))\
            H\(Self.text(Self.width - Self.right))"/>
            """,
            """
            <text class="tick" x="\(Self.text((Self.left + Self.width) / 2))" y="\(Self.text(Self.height - 6))" \
            text-anchor="middle">seconds</text>
            """,
            """
            <text class="tick" transform="rotate(-90 14 \(middle))" x="14" y="\(middle)" \
            text-anchor="middle">\(unit)</text>
            """,
        ]
    }

    private func path(_ line: Line) -> String {
        var path = ""
        var isDrawn = false
        for (time, value) in line.values {
            if let value { path += "\(isDrawn ? "L" : "M")\(Self.text(x(time))) \(Self.text(y(value)))" }
            isDrawn = value != nil
        }
        return """
            <path class="line s-\(line.contender.colour)"\(Self.dashes(line.contender)) d="\(path)">\
            <title>\(line.contender.name)</title></path>
            """
    }

    static func dashes(_ contender: Contender) -> String {
        contender.dashes.isEmpty ? "" : " stroke-dasharray=\"\(contender.dashes)\""
    }

    /// A number with at most one digit after the point.
    static func text(_ value: Double) -> String {
        let text = String(format: "%.1f", value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
