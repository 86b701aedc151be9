import HTTPTypes

/// What tells one content of a URL from another, as the server said it.
struct DownloadValidators: Sendable, Hashable {
    /// With quotes, and `W/` where it is weak.
    var entityTag: String?
    var lastModified: String?
    /// When the server said so.
    var date: String?

    init(entityTag: String? = nil, lastModified: String? = nil, date: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.date = date
    }

    init(_ fields: HTTPFields) {
        self.init(entityTag: fields[.eTag], lastModified: fields[.lastModified], date: fields[.date])
    }

    /// The value of `If-Range` (RFC 9110 13.1.5); `nil` where nothing is strong enough to join bytes by. A date is not
    /// taken where there is an entity tag, be that weak or malformed.
    var ifRange: String? {
        if let entityTag { return Self.isStrong(entityTag) ? entityTag : nil }
        guard let lastModified, let date, let modified = HTTPSeconds.read(lastModified),
            let sent = HTTPSeconds.read(date)
        else { return nil }
        // RFC 9110 8.8.2.2: within the same second it may have been modified twice.
        return sent > modified ? lastModified : nil
    }

    /// Whether `other` is of another content for sure. Silence is no contradiction: a 206 to `If-Range` need not repeat
    /// what the 200 had (RFC 9110 15.3.7).
    func contradicts(_ other: DownloadValidators) -> Bool {
        if let entityTag, let theirs = other.entityTag { return entityTag != theirs }
        if let lastModified, let theirs = other.lastModified { return lastModified != theirs }
        return false
    }

    /// RFC 9110 8.8.3.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return false
        }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
    }
}

/// Seconds since 1970 of an HTTP date, in the one form that is still to be sent (RFC 9110 5.6.7). The two old ones do not
/// count as strong here, which costs a server of the last century a resumption.
enum HTTPSeconds {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func read(_ text: String) -> Int64? {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].utf8.count == 4, words[0].hasSuffix(","), words[5] == "GMT",
            let day = number(words[1], 2), let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], 4)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 2), let minute = number(clock[1], 2),
            let second = number(clock[2], 2), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        return days(year, Int64(month) + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Days since 1970 in the Gregorian calendar: years are counted from March, so that a leap day is the last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
    }
}
