import Glibc

/// Numbers as text for people.
enum NumberText {
    /// `1234567` as `1,234,567`.
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// With that many digits after the point, and without groups: for machines.
    static func fixed(_ number: Double, _ digits: Int) -> String {
        guard number.isFinite else { return "" }
        let scale = pow(10, Double(digits))
        let scaled = (number.magnitude * scale).rounded()
        guard scaled < 9e18 else { return number.description }
        let (whole, rest) = UInt64(scaled).quotientAndRemainder(dividingBy: UInt64(scale))
        let sign = number < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let fraction = String(rest)
        return sign + String(whole) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// The same without zeros at the end, for coordinates.
    static func short(_ number: Double, _ digits: Int = 1) -> String {
        var text = fixed(number, digits)
        guard text.contains("."), !text.contains("e") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// Three significant digits, or all digits of the whole number: `1,234`, `12.3`, `0.0123`.
    static func significant(_ number: Double) -> String {
        guard number.isFinite else { return "-" }
        let size = number.magnitude
        switch size {
        case 0: return "0"
        case 99.95..<9e18: return grouped(Int64(number.rounded()))
        case 9.995...: return fixed(number, size < 99.95 ? 1 : 0)
        case 0.9995...: return fixed(number, 2)
        default:
            let digits = min(12, Int((-log10(size)).rounded(.up)) + 2)
            return short(number, digits)
        }
    }

    /// Nanoseconds with three significant digits in a suitable unit: `1.01 s`, `12.3 ms`, `456 us`.
    static func time(_ nanoseconds: Double) -> String {
        guard nanoseconds.isFinite else { return "-" }
        for (scale, unit) in [(1e9, "s"), (1e6, "ms"), (1e3, "us")] where nanoseconds.magnitude >= scale * 0.9995 {
            return significant(nanoseconds / scale) + " " + unit
        }
        return significant(nanoseconds) + " ns"
    }

    static func time(_ nanoseconds: UInt64) -> String { time(Double(nanoseconds)) }

    static func time(_ duration: Duration) -> String { time(Double(LoadInstant.nanoseconds(duration))) }

    static func seconds(_ seconds: Double) -> String { time(seconds * 1e9) }

    /// Seconds in hours, minutes and seconds: `12.5 s`, `3 min 20 s`, `1 h 30 min`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e12 else { return short(seconds, 3) + " s" }
        // Rounded first, so that there are no 60 s beside minutes.
        let milliseconds = UInt64((seconds * 1000).rounded())
        let parts = [
            (milliseconds / 3_600_000, "h"), (milliseconds / 60_000 % 60, "min"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let rest = Double(milliseconds % 60_000) / 1000
        guard rest > 0 || parts.isEmpty else { return parts.joined(separator: " ") }
        return (parts + [short(rest, 3) + " s"]).joined(separator: " ")
    }

    /// A round number at an axis: `0.02`, `3`, `2,000`.
    static func tick(_ number: Double) -> String {
        guard number.magnitude < 9e18 else { return significant(number) }
        return number.magnitude < 1000 ? short(number, 9) : grouped(Int64(number.rounded()))
    }

    /// A round number of nanoseconds at an axis: `5 ms`.
    static func tickTime(_ nanoseconds: Double) -> String {
        for (scale, unit) in [(1e9, "s"), (1e6, "ms"), (1e3, "us")] where nanoseconds >= scale * 0.9995 {
            return tick(nanoseconds / scale) + " " + unit
        }
        return tick(nanoseconds) + " ns"
    }

    /// A share as per cent.
    static func percent(_ share: Double) -> String {
        // 99.99 % is not 100 %, and 0.004 % is not 0 %.
        let percent = share * 100
        if percent > 99.9, percent < 100 { return short(min(percent, 99.9999), 4) + " %" }
        return significant(percent) + " %"
    }

    static func bytes(_ count: UInt64) -> String { bytes(Double(count)) }

    static func bytes(_ count: Double) -> String {
        for (scale, unit) in [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")] where count >= scale {
            return significant(count / scale) + " " + unit
        }
        return significant(count) + " B"
    }

    /// A value of a threshold's measure with its unit.
    static func measured(_ value: Double, _ measure: LoadThreshold.Measure) -> String {
        switch measure {
        case .percentile, .mean, .max: time(value)
        case .errors, .checks, .neverSent, .iterations: percent(value)
        case .rate: significant(value) + "/s"
        }
    }

    /// `1 request`, `2 requests`.
    static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        grouped(number) + " " + noun + (number == 1 ? "" : "s")
    }
}
