import FoundationEssentials

/// The dates of `Set-Cookie` (RFC 6265 5.1.1), which is laxer than HTTP's own format.
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    static func date(_ text: String) -> Date? {
        var time: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        // Delimiters are all characters but digits, letters, colons and bytes above 0x7E.
        let tokens = text.utf8.split { (byte: UInt8) -> Bool in
            !((0x30...0x3A).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte > 0x7E)
        }
        for token in tokens {
            let word = String(decoding: token, as: UTF8.self).lowercased()
            let clock = word.split(separator: ":")
            if time == nil, clock.count == 3, let hour = Int(clock[0]), let minute = Int(clock[1]),
                let second = Int(clock[2])
            {
                time = (hour, minute, second)
            } else if day == nil, word.utf8.count <= 2, let number = Int(word) {
                day = number
            } else if month == nil, let place = months.firstIndex(where: { word.hasPrefix($0) }) {
                month = place + 1
            } else if year == nil, (2...4).contains(word.utf8.count), let number = Int(word) {
                year = number
            }
        }
        guard let (hour, minute, second) = time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard (1...31).contains(day), year >= 1601, year <= 9999, (0...23).contains(hour), (0...59).contains(minute),
            (0...59).contains(second)
        else { return nil }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Days since 1970 of a Gregorian date, with years that begin in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
