extension JSONParser {
    /// RFC 8259 6. A whole number that fits an `Int64` is exact, in any notation.
    mutating func number() throws(Failure) -> JSONValue {
        let start = index
        var decimal = Decimal()
        decimal.isNegative = bytes[index] == UInt8(ascii: "-")
        if decimal.isNegative { index += 1 }
        let first = index
        let whole = try digits(&decimal)
        guard whole == 1 || bytes[first] != UInt8(ascii: "0") else {
            index = first + 1
            throw failure("number with a leading zero")
        }
        guard index < bytes.count, isFractionOrExponent(bytes[index]) else {
            if let integer = decimal.integer { return .integer(integer) }
            return .number(try double(start, decimal))
        }
        if bytes[index] == UInt8(ascii: ".") {
            index += 1
            decimal.exponent -= try digits(&decimal)
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            decimal.exponent += try exponent()
        }
        let double = try double(start, decimal)
        if let integer = Int64(exactly: double) {
            // Below 2^53 every whole number has a `Double` of its own.
            if double.magnitude < 0x1p53 { return .integer(integer) }
            if let integer = decimal.integer { return .integer(integer) }
        }
        return .number(double)
    }

    private func isFractionOrExponent(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
    }

    /// Takes one digit or more, and returns their number.
    private mutating func digits(_ decimal: inout Decimal) throws(Failure) -> Int {
        let start = index
        while index < bytes.count, case let digit = bytes[index] &- UInt8(ascii: "0"), digit < 10 {
            decimal.append(digit)
            index += 1
        }
        guard index > start else { throw failure("number without a digit") }
        return index - start
    }

    private mutating func exponent() throws(Failure) -> Int {
        guard index < bytes.count else { throw failure("") }
        let isNegative = bytes[index] == UInt8(ascii: "-")
        if isNegative || bytes[index] == UInt8(ascii: "+") { index += 1 }
        var decimal = Decimal()
        _ = try digits(&decimal)
        // The limit is beyond the exponent of any `Double`, and low enough that adding a count of digits does not
        // overflow.
        let magnitude = decimal.isExact ? Int(min(decimal.digits, 1 << 40)) : 1 << 40
        return isNegative ? -magnitude : magnitude
    }

    /// The nearest `Double`: by Clinger's fast path if both factors are exact, otherwise by the C library, as in
    /// Foundation.
    private func double(_ start: Int, _ decimal: Decimal) throws(Failure) -> Double {
        if let double = decimal.exactDouble { return double }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let double = Double(text), double.isFinite else { throw failure("number out of range") }
        return double
    }

    /// A number as it is written in the text.
    private struct Decimal {
        var isNegative = false
        /// All digits, without the point; only the first ones if not `isExact`.
        private(set) var digits: UInt64 = 0
        private(set) var isExact = true
        var exponent = 0

        private static let powers: [Double] = [
            1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
            1e20, 1e21, 1e22,
        ]

        mutating func append(_ digit: UInt8) {
            let (tenfold, isTooLarge) = digits.multipliedReportingOverflow(by: 10)
            let (sum, isSumTooLarge) = tenfold.addingReportingOverflow(UInt64(digit))
            if isTooLarge || isSumTooLarge { isExact = false }
            if isExact { digits = sum }
        }

        /// The whole number; `nil` if the number has a fraction or does not fit.
        var integer: Int64? {
            guard isExact else { return nil }
            var magnitude = digits
            var exponent = exponent
            while exponent < 0, magnitude > 0 {
                guard magnitude % 10 == 0 else { return nil }
                magnitude /= 10
                exponent += 1
            }
            while exponent > 0, magnitude > 0 {
                let (tenfold, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
                guard !isTooLarge else { return nil }
                magnitude = tenfold
                exponent -= 1
            }
            if isNegative { return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
            return Int64(exactly: magnitude)
        }

        var exactDouble: Double? {
            guard isExact, digits <= 1 << 53, abs(exponent) < Self.powers.count else { return nil }
            let magnitude =
                exponent < 0 ? Double(digits) / Self.powers[-exponent] : Double(digits) * Self.powers[exponent]
            return isNegative ? -magnitude : magnitude
        }
    }
}
