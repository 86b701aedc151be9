import HTTPTypes

/// The head of a stored response to a GET, read once. An object, so that passing it on copies none of its many parts.
final class HTTPCacheEntry: Sendable {
    let statusCode: Int
    let headers: HTTPFields
    /// When the request was sent that brought it, or validated it last.
    let requestTime: CacheTime
    let responseTime: CacheTime
    let vary: VaryValues
    /// Whether ``vary`` is what the fields ask for; never with `Vary: *`.
    let isMatchable: Bool
    let control: CacheControl
    /// When the server made it; when it came, where the server does not say (RFC 9110 6.6.1).
    let date: CacheTime
    let entityTag: EntityTag?
    let lastModified: CacheTime?
    /// `nil`: none was sent; in the past where it cannot be read (RFC 9111 5.3).
    let expires: CacheTime?
    /// Seconds, by the caches before this one.
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
        // RFC 9111 5.1: the first member counts, and what is no number does not.
        ageField =
            headers[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first
            .flatMap { DeltaSeconds.parse(FieldTokens.trimmed($0)) } ?? 0
    }

    /// Whether the server can be asked if it has changed.
    var hasValidator: Bool { entityTag != nil || lastModified != nil }

    /// RFC 9111 4.3.1: what to ask with. `Last-Modified` as it was sent, so that a server that compares text finds it.
    var conditions: HTTPFields {
        var fields = HTTPFields()
        if let entityTag { fields[.ifNoneMatch] = entityTag.text }
        if lastModified != nil { fields[.ifModifiedSince] = headers[values: .lastModified].first }
        return fields
    }

    /// The fields to hand out with it at `age`, which replaces any (RFC 9111 4, 5.1).
    func fieldsToServe(age: Int64) -> HTTPFields {
        var fields = headers
        fields[.age] = String(max(0, age) / 1000)
        return fields
    }
}
