import HTTPTypes

/// The validators that tell one content of a URL from another, as the server sent them.
struct DownloadValidators: Sendable, Hashable {
    /// The entity tag with quotes, and `W/` if it is weak.
    var entityTag: String?
    var lastModified: String?
    /// The `Date` of the response with these validators.
    var date: String?

    /// The validators of content with a content coding. The server's choice of a coding may differ from response to
    /// response, and the modification date is the same for all codings, so bytes of several responses may not be
    /// joined. Real entity tags have quotes; this one does not.
    static let ofEncoded = DownloadValidators(entityTag: "encoded")

    init(entityTag: String? = nil, lastModified: String? = nil, date: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.date = date
    }

    init(_ fields: HTTPFields) {
        self.init(entityTag: fields[.eTag], lastModified: fields[.lastModified], date: fields[.date])
    }

    /// The value of `If-Range` (RFC 9110 13.1.5); `nil` if no validator is strong enough to join bytes. The date is
    /// not used if there is an entity tag, even a weak or malformed one.
    var ifRange: String? {
        if let entityTag { return EntityTag(entityTag)?.isWeak == false ? entityTag : nil }
        guard let lastModified, let date, let modified = HTTPDate.fixed(lastModified),
            let sent = HTTPDate.fixed(date)
        else { return nil }
        // RFC 9110 8.8.2.2: the content may have been modified twice within the same second.
        return sent > modified ? lastModified : nil
    }

    /// Whether `other` certainly belongs to another content. A missing validator is not a contradiction: a 206 to
    /// `If-Range` need not repeat the fields of the 200 (RFC 9110 15.3.7).
    func contradicts(_ other: DownloadValidators) -> Bool {
        if let entityTag, let theirs = other.entityTag { return entityTag != theirs }
        if let lastModified, let theirs = other.lastModified { return lastModified != theirs }
        return false
    }
}
