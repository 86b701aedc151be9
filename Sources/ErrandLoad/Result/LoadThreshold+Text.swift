extension LoadThreshold {
    /// Reads a threshold: `[SCENARIO/NAME:]MEASURE OPERATOR BOUND`, with or without blanks between the parts.
    ///
    /// | measure | bound |
    /// |---|---|
    /// | `p50`, `p99.9`: the latency at a percentile; `mean`, `max` | a time with a unit: `ns`, `us`, `ms`, `s`, `min` |
    /// | `errors`, `checks`, `never_sent`, `iterations` | a share: `0.1%` or `0.001` |
    /// | `rate` | answered requests per second |
    ///
    /// Operators are `<`, `<=`, `>` and `>=`. Without a slash the text before the colon is the name of requests; with a
    /// slash the text before the first slash is the scenario. `*` stands for any scenario or name. A part in quotation
    /// marks is taken as it is, with `\"` and `\\`: `"GET /orders":p99<200ms`. ``aborts`` is `false`.
    public init(parsing text: String) throws(LoadThresholdError) {
        var parser = LoadThresholdParser(text)
        self = try parser.threshold()
    }
}

/// The text that ``LoadThreshold/init(parsing:)`` reads as the same threshold, for a finite bound that is not negative.
/// ``LoadThreshold/aborts`` is not in the text.
extension LoadThreshold: CustomStringConvertible {
    /// The threshold as text.
    public var description: String { prefix + measure.description + comparison.rawValue + boundText(bound) }

    /// A value of the measure with its unit, as in ``description``.
    private func boundText(_ value: Double) -> String {
        switch measure {
        case .percentile, .mean, .max: Self.time(value)
        case .errors, .checks, .neverSent, .iterations: Self.share(value)
        case .rate: Self.number(value)
        }
    }

    private var prefix: String {
        switch (scenario, request) {
        case (nil, nil): ""
        case (nil, let name?): Self.part(name) + ":"
        case (let scenario?, nil): Self.part(scenario) + "/*:"
        case (let scenario?, let name?): Self.part(scenario) + "/" + Self.part(name) + ":"
        }
    }

    private static func part(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let hasBlankEnd = [scalars.first, scalars.last].contains { $0?.properties.isWhitespace ?? true }
        let needsMarks = hasBlankEnd || name == "*" || scalars.contains { $0 == "/" || $0 == "\"" || $0 == "\\" }
        guard needsMarks else { return name }
        var quoted = "\""
        for scalar in scalars {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// In the largest unit in which the text stands for exactly this number.
    private static func time(_ nanoseconds: Double) -> String {
        for (unit, scale) in [("s", 1e9), ("ms", 1e6), ("us", 1e3)] where nanoseconds >= scale {
            let value = nanoseconds / scale
            if value * scale == nanoseconds { return number(value) + unit }
        }
        return number(nanoseconds) + "ns"
    }

    private static func share(_ value: Double) -> String {
        let percent = value * 100
        return percent / 100 == value ? number(percent) + "%" : number(value)
    }

    fileprivate static func number(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension LoadThreshold.Measure: CustomStringConvertible {
    /// The measure in the text of a threshold, such as `p99.9` or `never_sent`.
    public var description: String {
        switch self {
        case .percentile(let percentile): "p" + LoadThreshold.number(percentile)
        case .mean: "mean"
        case .max: "max"
        case .errors: "errors"
        case .rate: "rate"
        case .checks: "checks"
        case .neverSent: "never_sent"
        case .iterations: "iterations"
        }
    }
}
