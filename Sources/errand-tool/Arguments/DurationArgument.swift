import ArgumentParser

/// A duration such as `500ms`, `10s`, `1.5m`, `2h`; a number without a unit is in seconds.
struct DurationArgument: ExpressibleByArgument, Hashable, Sendable, CustomStringConvertible {
    let duration: Duration
    /// Whether the argument had a unit.
    let hasUnit: Bool

    init?(argument: String) {
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        let unit = units.first { argument.hasSuffix($0.suffix) }
        let digits = argument.dropLast(unit?.suffix.count ?? 0)
        // `Double` would also accept "0x1p3", "inf" and "1e9".
        guard let first = digits.first, first.isASCII, first.isNumber,
            digits.allSatisfy({ ("0"..."9").contains($0) || $0 == "." }), let value = Double(digits)
        else { return nil }
        let seconds = value * (unit?.seconds ?? 1)
        guard seconds > 0, seconds <= 30 * 86_400 else { return nil }
        duration = .seconds(seconds)
        hasUnit = unit != nil
    }

    /// The text that `--help` shows for a default.
    var description: String { "\(Double(duration.nanoseconds) / 1e9)s" }

    /// Makes a default value.
    init(seconds: Int) {
        duration = .seconds(seconds)
        hasUnit = true
    }

    static let rule =
        "a time above 0 and up to 30 days, such as 500ms, 10s, 1.5m or 2h; a number without a unit is in seconds"
}
