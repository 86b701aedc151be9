/// HTTP-date (RFC 9110 5.6.7) in its three formats, letters of either case (RFC 9111 4.2). A date with a zone other
/// than GMT is invalid, and so is the 31st of April.
package enum HTTPDate {
    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// `now` determines the century of a year with two digits.
    package static func time(_ text: String, now: CacheTime) -> CacheTime? {
        var reader = Reader(text)
        let day = reader.letters()
        let isShort = day.utf8.count == 3
        guard days.contains(where: { isShort ? $0.hasPrefix(day) : $0 == day }) else { return nil }
        if isShort, !reader.take(",") { return asctime(&reader) }
        if !isShort, !reader.take(",") { return nil }
        let separator: Unicode.Scalar = isShort ? " " : "-"
        guard reader.take(" "), let dayOfMonth = reader.number(2), reader.take(separator),
            let month = months.firstIndex(of: reader.letters()), reader.take(separator),
            let writtenYear = reader.number(isShort ? 4 : 2), reader.take(" "),
            let clock = secondOfDay(&reader), reader.take(" "), reader.letters() == "gmt", reader.isAtEnd
        else { return nil }
        guard !isShort else { return time(writtenYear, month + 1, dayOfMonth, clock) }
        let century = civil(dayCount(now)).year / 100 * 100
        // A date more than 50 years in the future is in the past (RFC 9110 5.6.7).
        let horizon = now + 50 * 31_556_952_000
        return [century + 100, century, century - 100].lazy
            .compactMap { time($0 + writtenYear, month + 1, dayOfMonth, clock) }
            .first { $0 <= horizon }
    }

    /// For dates that are compared with each other: all are parsed relative to the same fixed time, so that the century
    /// of a two-digit year does not matter.
    package static func fixed(_ text: String) -> CacheTime? {
        time(text, now: CacheTime(seconds: 784_111_777))
    }

    /// The date that is later by `span`; `nil`: the text is no date.
    package static func shifted(_ text: String, by span: Duration) -> String? {
        guard let time = fixed(text) else { return nil }
        let (seconds, attoseconds) = span.components
        return self.text(time + (seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// `Sun Nov  6 08:49:37 1994`, starting after the day's name.
    private static func asctime(_ reader: inout Reader) -> CacheTime? {
        guard reader.take(" "), let month = months.firstIndex(of: reader.letters()), reader.take(" "),
            let dayOfMonth = reader.take(" ") ? reader.number(1) : reader.number(2), reader.take(" "),
            let clock = secondOfDay(&reader), reader.take(" "), let year = reader.number(4), reader.isAtEnd
        else { return nil }
        return time(year, month + 1, dayOfMonth, clock)
    }

    /// `08:49:37` in seconds; 60 is a leap second.
    private static func secondOfDay(_ reader: inout Reader) -> Int64? {
        guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), reader.take(":"),
            let second = reader.number(2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func time(_ year: Int64, _ month: Int, _ day: Int64, _ clock: Int64) -> CacheTime? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length: Int64 =
            switch month {
            case 2: isLeap ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        guard day >= 1, day <= length else { return nil }
        return CacheTime(seconds: dayCount(year, month, day) * 86_400 + clock)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`; the milliseconds are dropped. Years with more than four digits are clamped.
    package static func text(_ time: CacheTime) -> String {
        let first: Int64 = -62_167_219_200_000
        let last: Int64 = 253_402_300_799_000
        let time = CacheTime(milliseconds: min(max(time.milliseconds, first), last))
        let days = dayCount(time)
        let date = civil(days)
        let clock = (time.milliseconds - days * 86_400_000) / 1000
        // 1 January 1970 was a Thursday.
        let weekday = Int(((days % 7) + 7 + 3) % 7)
        return "\(capitalized(Self.days[weekday])), \(padded(date.day, 2)) \(capitalized(months[date.month - 1])) "
            + "\(padded(date.year, 4)) \(padded(clock / 3600, 2)):\(padded(clock / 60 % 60, 2)):"
            + "\(padded(clock % 60, 2)) GMT"
    }

    private static func capitalized(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst().prefix(2)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Whole days since 1970, rounded down.
    private static func dayCount(_ time: CacheTime) -> Int64 {
        let days = time.milliseconds / 86_400_000
        return time.milliseconds % 86_400_000 < 0 ? days - 1 : days
    }

    /// Days since 1970 of a Gregorian date. Years start in March, so that the leap day is the last day of a year.
    private static func dayCount(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), Int(month), dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private struct Reader {
        private var rest: ArraySlice<UInt8>

        init(_ text: String) {
            rest = Array(text.utf8)[...]
            while let byte = rest.first, FieldTokens.isBlank(byte) { rest.removeFirst() }
            while let byte = rest.last, FieldTokens.isBlank(byte) { rest.removeLast() }
        }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: scalar) else { return false }
            rest.removeFirst()
            return true
        }

        /// In lower case.
        mutating func letters() -> String {
            let word = rest.prefix { (0x61...0x7A).contains($0 | 0x20) }
            rest = rest.dropFirst(word.count)
            return String(decoding: word.map { $0 | 0x20 }, as: UTF8.self)
        }

        mutating func number(_ digits: Int) -> Int64? {
            let word = rest.prefix(digits)
            guard word.count == digits, word.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
    }
}
