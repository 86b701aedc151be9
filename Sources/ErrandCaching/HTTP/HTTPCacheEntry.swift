import HTTPTypes

/// The head of a stored response to a GET, parsed once. A class, so that passing it on copies nothing.
final class HTTPCacheEntry: Sendable {
    let statusCode: Int
    let headers: HTTPFields
    /// When the request that returned the response, or that last validated it, was sent.
    let requestTime: CacheTime
    let responseTime: CacheTime
    let vary: VaryValues
    /// Whether ``vary`` has the names of the `Vary` field; never with `Vary: *`.
    let isMatchable: Bool
    let control: CacheControl
    /// The server's `Date`; the time of receipt if there is none (RFC 9110 6.6.1).
    let date: CacheTime
    let entityTag: EntityTag?
    let lastModified: CacheTime?
    /// `nil` if no `Expires` was sent; already past if it cannot be read (RFC 9111 5.3).
    let expires: CacheTime?
    /// The `Age` field in seconds, set by caches nearer to the server.
    let ageField: Int64

    init(
        statusCode: Int, headers: HTTPFields, requestTime: CacheTime, responseTime: CacheTime, vary: VaryValues
    ) {
        self.statusCode = statusCode
        self.headers = headers
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.vary = vary
        isMatchable = VaryValues.names(headers) == vary.names
        control = .response(headers)
        let date = headers[values: .date].first.flatMap { HTTPDate.time($0, now: responseTime) } ?? responseTime
        self.date = date
        entityTag = headers[values: .eTag].first.flatMap(EntityTag.init)
        lastModified = headers[values: .lastModified].first.flatMap { HTTPDate.time($0, now: responseTime) }
        expires = headers[values: .expires].first.map { HTTPDate.time($0, now: responseTime) ?? date }
        // RFC 9111 5.1: the first member counts. A value that is no number is ignored.
        ageField =
            headers[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first
            .flatMap { DeltaSeconds.parse(FieldTokens.trimmed($0)) } ?? 0
    }

    /// Whether the entry can be revalidated.
    var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// RFC 9111 4.3.1: the fields of a revalidation. `Last-Modified` is sent as received, for servers that compare
    /// text.
    var conditions: HTTPFields {
        var fields = HTTPFields()
        if let entityTag { fields[.ifNoneMatch] = entityTag.text }
        if lastModified != nil { fields[.ifModifiedSince] = headers[values: .lastModified].first }
        return fields
    }

    /// The fields to serve at `age`. The new `Age` replaces any other (RFC 9111 4, 5.1).
    func fieldsToServe(age: Int64) -> HTTPFields {
        var fields = headers
        fields[.age] = String(max(0, age) / 1000)
        return fields
    }
}
