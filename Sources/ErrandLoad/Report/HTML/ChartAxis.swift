import Glibc

/// An axis of a chart: the values at its ends, and the values with a label.
struct ChartAxis {
    let title: String
    let low: Double
    let high: Double
    let ticks: [(value: Double, label: String)]
    /// Whether equal ratios have equal lengths. Then ``low`` is positive.
    var isLogarithmic = false

    /// Where a value is, from 0 at the low end to 1.
    func share(of value: Double) -> Double {
        let shown = min(max(value, low), high)
        guard high > low, shown.isFinite else { return 0 }
        return isLogarithmic ? log(shown / low) / log(high / low) : (shown - low) / (high - low)
    }

    /// From 0 to a round number at or above `most`.
    static func linear(_ title: String, to most: Double, label: (Double) -> String) -> ChartAxis {
        let most = most.isFinite && most > 0 ? most : 1
        let step = roundStep(most / 5)
        let count = Int((most / step - 1e-9).rounded(.up))
        let ticks = (0...max(1, count)).map { (value: Double($0) * step, label: label(Double($0) * step)) }
        return ChartAxis(title: title, low: 0, high: ticks[ticks.count - 1].value, ticks: ticks)
    }

    /// From 0 to exactly `most` seconds, with labels at round times.
    static func time(_ title: String, to most: Double) -> ChartAxis {
        let most = most.isFinite && most > 0 ? most : 1
        let steps: [Double] = [
            1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
        ]
        let least = most / 8
        let days = roundStep(least / 86_400) * 86_400
        let step = least < 1 ? roundStep(least) : steps.first(where: { $0 >= least }) ?? days
        let ticks = (0...Int((most / step + 1e-9).rounded(.down))).map {
            (value: Double($0) * step, label: NumberText.duration(Double($0) * step))
        }
        return ChartAxis(title: title, low: 0, high: most, ticks: ticks)
    }

    /// Powers of ten, and 2 and 5 times them if they are few.
    static func logarithmic(_ title: String, from least: Double, to most: Double, label: (Double) -> String)
        -> ChartAxis
    {
        let least = least.isFinite && least >= 1 ? least : 1
        let most = most.isFinite && most > least ? most : least * 2
        let decades = Int(log10(least).rounded(.down))...Int(log10(most).rounded(.up))
        let factors: [Double] = decades.count > 3 ? [1] : [1, 2, 5]
        let steps = decades.flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } }
        let low = steps.last { $0 <= least } ?? least
        let high = steps.first { $0 >= most } ?? most
        let ticks = steps.filter { $0 >= low && $0 <= high }.map { (value: $0, label: label($0)) }
        return ChartAxis(title: title, low: low, high: max(high, low * 2), ticks: ticks, isLogarithmic: true)
    }

    /// Percentiles, spread so that each nine has the same length. Values on the axis are numbers of nines, as in
    /// ``percentile(_:)``.
    static func percentiles(upTo count: UInt64) -> ChartAxis {
        let labels = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999"]
        let most = min(Double(labels.count - 1), max(1, log10(Double(max(1, count))).rounded(.up)))
        let ticks = labels.prefix(Int(most) + 1).enumerated().map { (value: Double($0.offset), label: $0.element) }
        return ChartAxis(title: "percentile", low: 0, high: most, ticks: ticks)
    }

    /// The percentile with that many nines: 0 for 0, 90 for 1, 99 for 2.
    static func percentile(_ nines: Double) -> Double { 100 * (1 - pow(10, -nines)) }

    /// 1, 2 or 5 times a power of ten, at or above `step`.
    private static func roundStep(_ step: Double) -> Double {
        let power = pow(10, log10(step).rounded(.down))
        return ([1, 2, 5].first { $0 * power >= step * (1 - 1e-9) } ?? 10) * power
    }
}
