import HTTPTypes

/// Which fields of a response are stored (RFC 9111 3.1), and which of them a later response may change (3.2).
enum StoredFields {
    /// The fields that cache decisions depend on. They are stored even if `Cache-Control` or `Connection` names them.
    static let essential: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified", "vary",
    ]

    /// Fields of one connection or one proxy (RFC 9110 7.6.1, RFC 9111 3.1).
    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// Fields that describe the stored body as it was transferred, not the next one (RFC 9111 3.2).
    private static let ofBody: Set<String> = [
        "content-digest", "content-encoding", "content-length", "content-md5", "content-range",
    ]

    /// `HTTPFields` traps beyond 65,535 fields.
    private static let mostFields = 60_000

    static func of(_ headers: HTTPFields, _ control: CacheControl, isShared: Bool) -> HTTPFields {
        var excluded = control.noCache.fieldNames
        if isShared { excluded.formUnion(control.private.fieldNames) }
        for case let name? in FieldTokens.members(headers[values: .connection]) { excluded.insert(name) }
        excluded.subtract(essential)
        excluded.formUnion(ofConnection)
        return headers.filtered { !excluded.contains($0) }
    }

    /// The stored fields, updated with the fields of a 304 or of a response to HEAD.
    static func updated(_ stored: HTTPFields, by headers: HTTPFields, responseTime: CacheTime) -> HTTPFields {
        let control = CacheControl.response(headers)
        let newer = of(headers, control, isShared: false).filtered { !ofBody.contains($0) }
        var replaced: Set<String> = []
        for field in newer { replaced.insert(field.name.canonicalName) }
        // An `Age` belongs to its message: the old value would make the entry that was just validated old again.
        replaced.insert("age")
        replaced.insert("date")
        var result = stored.filtered { !replaced.contains($0) }
        for field in newer where result.count < mostFields { result.append(field) }
        if !result.contains(.date) { result[.date] = HTTPDate.text(responseTime) }
        return result
    }
}

extension HTTPFields {
    /// The fields whose lower-case name is wanted.
    fileprivate func filtered(_ isWanted: (String) -> Bool) -> HTTPFields {
        var fields = HTTPFields()
        for field in self where isWanted(field.name.canonicalName) { fields.append(field) }
        return fields
    }
}
