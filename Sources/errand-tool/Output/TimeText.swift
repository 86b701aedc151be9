extension Double {
    /// Seconds as text with three significant digits, in a suitable unit: `1.01 s`, `12.3 ms`, `456 us`.
    var timeText: String {
        guard isFinite else { return "-" }
        for (unit, name) in [(1.0, "s"), (1e-3, "ms")] where abs(self) >= unit * 0.9995 {
            return (self / unit).threeDigits + " " + name
        }
        return (self / 1e-6).threeDigits + " us"
    }

    private var threeDigits: String {
        switch abs(self) {
        case 99.95...: text(0)
        case 9.995...: text(1)
        default: text(2)
        }
    }
}
