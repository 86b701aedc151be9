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
