import Glibc

/// Times of a HAR: points of the wall clock as ISO 8601 text, and spans in milliseconds.
package enum HARTime {
    /// The present moment, since 1970.
    package static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Duration.seconds(Int64(time.tv_sec)) + Duration.nanoseconds(Int64(time.tv_nsec))
    }

    /// `2026-08-01T12:34:56.789Z`. Times beyond the years 1 to 9999 are clamped.
    static func text(_ time: Duration) -> String {
        let milliseconds = min(max(time.wholeMicroseconds / 1000, -62_135_596_800_000), 253_402_300_799_999)
        let (days, rest) = floored(milliseconds, by: 86_400_000)
        let date = civil(days)
        let second = rest / 1000
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(padded(second / 3600, 2)):"
            + "\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)).\(padded(rest % 1000, 3))Z"
    }

    /// The time of ISO 8601 text with a date, a time and a zone, as browsers and proxies write it; `nil` for other text.
    static func time(_ text: String) -> Duration? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take(" "), let hour = reader.number(2),
            reader.take(":"), let minute = reader.number(2), (1...12).contains(month), (1...31).contains(day),
            hour <= 24, minute < 60
        else { return nil }
        var second: Int64 = 0
        if reader.take(":") {
            guard let read = reader.number(2), read <= 60 else { return nil }
            second = read
        }
        let fraction = reader.take(".") || reader.take(",") ? reader.fraction() : 0
        guard let offset = reader.zone(), reader.rest.isEmpty else { return nil }
        let days = dayCount(year, month, day)
        let whole = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Duration.seconds(whole) + Duration.nanoseconds(fraction)
    }

    private static func floored(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Days since 1970 of a Gregorian date. Years start in March, so that the leap day is the last day of a year.
    private static func dayCount(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let (era, yearOfEra) = floored(shifted, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: scalar) else { return false }
            rest.removeFirst()
            return true
        }

        /// A number of exactly this many digits.
        mutating func number(_ digits: Int) -> Int64? {
            let word = rest.prefix(digits)
            guard word.count == digits, word.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// The digits after the point as nanoseconds; more than nine digits are cut.
        mutating func fraction() -> Int64 {
            let word = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(word.count)
            let digits = word.prefix(9)
            let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
            return (digits.count..<9).reduce(value) { value, _ in value * 10 }
        }

        /// The offset of the zone in seconds: `Z`, `+01:00`, `+0100`; no zone means UTC.
        mutating func zone() -> Int64? {
            if rest.isEmpty || take("Z") || take("z") { return 0 }
            let sign: Int64
            if take("+") {
                sign = 1
            } else if take("-") {
                sign = -1
            } else {
                return nil
            }
            guard let hours = number(2) else { return nil }
            _ = take(":")
            return sign * (hours * 3600 + (number(2) ?? 0) * 60)
        }
    }
}

extension Duration {
    /// Whole microseconds, clamped to about 31,000 years.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let bound: Int64 = 1_000_000_000_000
        return min(max(seconds, -bound), bound) * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
