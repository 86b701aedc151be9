import HTTPTypes

/// What tells one content of a URL from another, as the server said it.
struct DownloadValidators: Sendable, Hashable {
    /// With quotes, and `W/` where it is weak.
    var entityTag: String?
    var lastModified: String?
    /// When the server said so.
    var date: String?

    /// Of a content that came with a content coding. Which coding a server takes may differ from response to response, and
    /// a modification date is the same for all of them: nothing is joined to it. No entity tag is without quotes.
    static let ofEncoded = DownloadValidators(entityTag: "encoded")

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
        guard let lastModified, let date, let modified = Self.time(lastModified), let sent = Self.time(date) else {
            return nil
        }
        // RFC 9110 8.8.2.2: within the same second it may have been modified twice.
        return sent > modified ? lastModified : nil
    }

    /// Both dates are read from one point of time, so that the century of an old format's year does not matter.
    static func time(_ text: String) -> CacheTime? {
        HTTPDate.time(text, now: CacheTime(seconds: 784_111_777))
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
