extension BinaryInteger {
    /// `1234567` as `1,234,567`.
    var grouped: String {
        let digits = String(self)
        var out = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, digit != "-", (digits.count - index).isMultiple(of: 3), out != "-" { out += "," }
            out.append(digit)
        }
        return out
    }
}

extension Double {
    /// The number with that many digits after the decimal point.
    func text(_ digits: Int) -> String {
        guard isFinite else { return "-" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64(Swift.max(-9e15, Swift.min(9e15, (self * scale).rounded())))
        let whole = (scaled / Int64(scale)).grouped
        guard digits > 0 else { return whole }
        let rest = String(abs(scaled % Int64(scale)))
        return whole + "." + String(repeating: "0", count: digits - rest.count) + rest
    }
}

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
