/// A response as a cache stores it, with the data for later cache decisions. A value type.
public struct CacheRecord: Sendable, Hashable {
    /// The URL that answered, after redirects.
    public var url: String
    /// The method of the request.
    public var method: String
    /// The status code.
    public var status: Int
    /// The header block as received, lines ended by CRLF.
    public var head: [UInt8]
    /// The body, after content decoding.
    public var body: [UInt8]
    /// When the record was made: milliseconds since 1970.
    public var storedAt: Int64
    /// When the request was sent: milliseconds since 1970 (RFC 9111 section 4.2.3, `request_time`).
    public var requestedAt: Int64
    /// When the response arrived: milliseconds since 1970 (RFC 9111 section 4.2.3, `response_time`).
    public var respondedAt: Int64
    /// How many milliseconds after ``storedAt`` the record may be used; `nil` if the header block determines this.
    public var timeToLive: Int64?
    /// The version of the data, set by the command. YTKNetwork: `cacheVersion`.
    public var version: Int64
    /// The version of the program that stored the record, if that matters.
    public var applicationVersion: String?
    /// SHA-256, in hexadecimal digits, of the sensitive data that the response belongs to; never the data. YTKNetwork:
    /// `cacheSensitiveData`.
    public var sensitiveDigest: String?
    /// Names of the request's header fields that select between responses (`Vary`), in lower case.
    public var varyNames: [String]
    /// SHA-256, in hexadecimal digits, of the values that the request had for ``varyNames``.
    public var varyDigest: String?
    /// Labels by which many records can be removed at once.
    public var tags: [String]

    /// Creates a record; all times are milliseconds since 1970.
    public init(
        url: String, method: String = "GET", status: Int = 200, head: [UInt8] = [], body: [UInt8] = [],
        storedAt: Int64, requestedAt: Int64? = nil, respondedAt: Int64? = nil, timeToLive: Int64? = nil,
        version: Int64 = 0, applicationVersion: String? = nil, sensitiveDigest: String? = nil,
        varyNames: [String] = [], varyDigest: String? = nil, tags: [String] = []
    ) {
        self.url = url
        self.method = method
        self.status = status
        self.head = head
        self.body = body
        self.storedAt = storedAt
        self.requestedAt = requestedAt ?? storedAt
        self.respondedAt = respondedAt ?? storedAt
        self.timeToLive = timeToLive
        self.version = version
        self.applicationVersion = applicationVersion
        self.sensitiveDigest = sensitiveDigest
        self.varyNames = varyNames
        self.varyDigest = varyDigest
        self.tags = tags
    }

    /// The size with which the record counts towards a store's limit: its bytes, plus 512 for overhead, plus 32 for
    /// each name in ``varyNames`` and for each tag. The sum cannot overflow, because the whole record is in memory.
    public var byteCount: Int {
        var count = 512 + head.count + body.count + url.utf8.count + method.utf8.count
        if let applicationVersion { count += applicationVersion.utf8.count }
        if let sensitiveDigest { count += sensitiveDigest.utf8.count }
        if let varyDigest { count += varyDigest.utf8.count }
        for name in varyNames { count += 32 + name.utf8.count }
        for tag in tags { count += 32 + tag.utf8.count }
        return count
    }
}
