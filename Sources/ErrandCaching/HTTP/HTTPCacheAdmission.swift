import HTTPTypes

/// Decides whether a complete response may be stored, and which of its fields (RFC 9111 3).
enum HTTPCacheAdmission {
    enum Verdict: Sendable {
        case store(HTTPCacheEntry)
        case refuse(Reason)
    }

    enum Reason: String, Sendable {
        /// Only responses to GET are stored.
        case method
        /// An interim status; a partial response (206); an answer to a condition or range that later requests do not
        /// have (304, 412, 416); or a status that the cache must understand but does not.
        case status
        case requestNoStore, responseNoStore, `private`, authorization
        /// `Vary: *`, or a `Vary` that cannot be read.
        case varyAny
        /// Neither the status nor a field allows storing.
        case notCacheable
        /// The response would be stale at once and has no validator.
        case notReusable
    }

    static func verdict(
        _ request: HTTPCacheRequest, statusCode: Int, headers: HTTPFields, requestTime: CacheTime,
        responseTime: CacheTime, rules: HTTPCacheRules, digest: VaryValues.Digest
    ) -> Verdict {
        guard request.method == .get else { return .refuse(.method) }
        let control = CacheControl.response(headers)
        if let reason = refusal(of: request, statusCode, headers, control, rules) { return .refuse(reason) }
        guard let names = VaryValues.names(headers) else { return .refuse(.varyAny) }
        var kept = StoredFields.of(headers, control, isShared: rules.isShared)
        // RFC 9110 6.6.1: a recipient with a clock records the time of receipt.
        if !kept.contains(.date) { kept[.date] = HTTPDate.text(responseTime) }
        let entry = HTTPCacheEntry(
            statusCode: statusCode, headers: kept, requestTime: requestTime, responseTime: responseTime,
            vary: VaryValues(names: names, request: request.headers, digest: digest))
        return isReusable(entry, rules) ? .store(entry) : .refuse(.notReusable)
    }

    private static func refusal(
        of request: HTTPCacheRequest, _ statusCode: Int, _ headers: HTTPFields, _ control: CacheControl,
        _ rules: HTTPCacheRules
    ) -> Reason? {
        let flags = control.flags
        guard (200...599).contains(statusCode), ![206, 304, 412, 416].contains(statusCode) else { return .status }
        let mustUnderstand = flags.contains(.mustUnderstand)
        if mustUnderstand, !StatusCacheability.isUnderstood(statusCode) { return .status }
        if request.control.flags.contains(.noStore) { return .requestNoStore }
        // RFC 9111 5.2.2.3: a cache that understands the status may ignore the no-store, which is there for other
        // caches.
        if flags.contains(.noStore), !mustUnderstand { return .responseNoStore }
        if rules.isShared {
            if control.private == .everything { return .private }
            let isShareable =
                flags.contains(.public) || flags.contains(.mustRevalidate) || control.sharedMaxAge != nil
            // RFC 9111 3.5.
            if request.isAuthorized, !isShareable { return .authorization }
        }
        // Without these fields, the entry would mean something other than the response.
        if !StoredFields.essential.isDisjoint(with: control.noCache.fieldNames) { return .responseNoStore }
        if rules.isShared, !StoredFields.essential.isDisjoint(with: control.private.fieldNames) { return .private }
        let isCacheable =
            flags.contains(.public) || (!rules.isShared && control.private != .nothing)
            || headers.contains(.expires) || control.maxAge != nil
            || (rules.isShared && control.sharedMaxAge != nil)
            || StatusCacheability.isHeuristicallyCacheable(statusCode)
        return isCacheable ? nil : .notCacheable
    }

    private static func isReusable(_ entry: HTTPCacheEntry, _ rules: HTTPCacheRules) -> Bool {
        if entry.hasValidator { return true }
        if entry.control.noCache == .everything { return false }
        if entry.lifetime(rules).span > 0 { return true }
        guard !entry.mustBeValidatedWhenStale(rules) else { return false }
        return (entry.control.staleWhileRevalidate ?? 0) > 0
            || (entry.control.staleIfError ?? rules.staleIfError ?? 0) > 0
    }
}

/// The status codes of RFC 9110 15, as caches treat them.
enum StatusCacheability {
    /// RFC 9110 15.1. 206 is heuristically cacheable too, but partial responses are not stored here.
    static func isHeuristicallyCacheable(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether the cache implements all that a response with that status requires (RFC 9111 3): true for the final
    /// status codes of RFC 9110, except those that need ranges or conditions.
    static func isUnderstood(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 200...205, 300...303, 305, 307, 308, 400...411, 413...415, 417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// RFC 5861 4.
    static func isServerFailure(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}
