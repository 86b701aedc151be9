import Foundation

/// `{{$datetime FORMAT [OFFSET UNIT]}}` and `{{$localDatetime ...}}`, as in the VS Code client.
struct DateTimeVariable: Sendable, Hashable {
    enum Format: Sendable, Hashable {
        case rfc1123
        case iso8601
        /// A Day.js format such as `YYYY-MM-DD`; text in brackets is copied literally.
        case custom(String)
    }

    let format: Format
    /// Whether the time is in this machine's time zone; otherwise it is in UTC.
    let isLocal: Bool
    private(set) var count = 0
    private(set) var unit = Unit.second

    enum Unit: String, Sendable {
        case year = "y"
        case quarter = "Q"
        case month = "M"
        case week = "w"
        case day = "d"
        case hour = "h"
        case minute = "m"
        case second = "s"
        case millisecond = "ms"
    }

    /// `arguments` is the text after the variable's name.
    init(_ arguments: Substring, isLocal: Bool, at position: FilePosition) throws(HTTPFileError) {
        self.isLocal = isLocal
        var rest = arguments
        if let quote = rest.first, quote == "\"" || quote == "'" {
            let text = rest.dropFirst().prefix { $0 != quote }
            guard text.endIndex < rest.endIndex else {
                throw HTTPFileError(position, "the format of the date is not closed by \(quote)")
            }
            format = .custom(String(text))
            rest = rest[rest.index(after: text.endIndex)...].trimmed
        } else {
            let word = rest.prefix { $0 != " " && $0 != "\t" }
            switch word {
            case "rfc1123": format = .rfc1123
            case "iso8601": format = .iso8601
            default:
                throw HTTPFileError(
                    position,
                    "the date format is '\(word)', expected rfc1123, iso8601 or a format in quotes such as \"YYYY-MM-DD\""
                )
            }
            rest = rest[word.endIndex...].trimmed
        }
        guard !rest.isEmpty else { return }
        let words = rest.split { $0 == " " || $0 == "\t" }
        guard words.count == 2, let count = Int(words[0]), count.magnitude < 1 << 32,
            let unit = Unit(rawValue: String(words[1]))
        else {
            throw HTTPFileError(position, "the date offset must be an integer and one of y, Q, M, w, d, h, m, s, ms")
        }
        self.count = count
        self.unit = unit
        // The range of dates is limited, and a formatter does not report dates beyond it.
        guard text(now: Date(), zone: .gmt) != nil else {
            throw HTTPFileError(position, "the date offset leads to a year outside 1 to 9999")
        }
    }

    /// `nil`: the date is outside the years 1 to 9999.
    func text(now: Date, zone: TimeZone) -> String? {
        let zone = isLocal ? zone : .gmt
        guard let date = moved(now, zone), Self.years.contains(date) else { return nil }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.dateFormat =
            switch format {
            case .rfc1123: isLocal ? "EEE, dd MMM yyyy HH:mm:ss xx" : "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            case .iso8601: isLocal ? "yyyy-MM-dd'T'HH:mm:ss.SSSxxx" : "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"
            case .custom(let text): DateTimeVariable.pattern(text)
            }
        return formatter.string(from: date)
    }

    /// The years that can be written with four digits, in any time zone.
    private static let years =
        Date(timeIntervalSince1970: -62_135_500_000)...Date(timeIntervalSince1970: 253_402_200_000)

    private func moved(_ date: Date, _ zone: TimeZone) -> Date? {
        if unit == .millisecond { return date.addingTimeInterval(Double(count) / 1000) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let (component, factor): (Calendar.Component, Int) =
            switch unit {
            case .year: (.year, 1)
            case .quarter: (.month, 3)
            case .month: (.month, 1)
            case .week: (.day, 7)
            case .day: (.day, 1)
            case .hour: (.hour, 1)
            case .minute: (.minute, 1)
            case .second, .millisecond: (.second, 1)
            }
        return calendar.date(byAdding: component, value: count * factor, to: date)
    }

    /// Letters of Day.js and the equivalent letters of Unicode (UTS #35), longest first.
    private static let letters: [(String, String)] = [
        ("YYYY", "yyyy"), ("YY", "yy"), ("MMMM", "MMMM"), ("MMM", "MMM"), ("MM", "MM"), ("M", "M"), ("DD", "dd"),
        ("D", "d"), ("dddd", "EEEE"), ("ddd", "EEE"), ("HH", "HH"), ("H", "H"), ("hh", "hh"), ("h", "h"), ("mm", "mm"),
        ("m", "m"), ("ss", "ss"), ("s", "s"), ("SSS", "SSS"), ("A", "a"), ("ZZ", "xx"), ("Z", "xxx"),
    ]

    private static func pattern(_ format: String) -> String {
        var pattern = ""
        var rest = Substring(format)
        func quoted(_ text: some StringProtocol) -> String {
            text.isEmpty ? "" : "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        }
        while let first = rest.first {
            if first == "[", let end = rest.firstIndex(of: "]") {
                pattern += quoted(rest[..<end].dropFirst())
                rest = rest[rest.index(after: end)...]
            } else if let (mark, letters) = letters.first(where: { rest.hasPrefix($0.0) }) {
                pattern += letters
                rest = rest.dropFirst(mark.count)
            } else {
                pattern += first.isLetter ? quoted(String(first)) : first == "'" ? "''" : String(first)
                rest = rest.dropFirst()
            }
        }
        return pattern
    }
}
