import HTTPTypes

/// Decides which entries a response validates.
enum HTTPCacheValidation {
    /// RFC 9111 4.3.4. `candidates`: the entries that match the request. `asked`: the entry whose validators were sent.
    static func selected(
        by headers: HTTPFields, among candidates: [Int], of stored: [HTTPCacheEntry], asked: Int
    ) -> [Int] {
        let tag = headers[values: .eTag].first.flatMap(EntityTag.init)
        if let tag, !tag.isWeak {
            return candidates.filter { stored[$0].entityTag.map(tag.matchesStrongly) ?? false }
        }
        let modified = headers[values: .lastModified].first
        guard tag != nil || modified != nil else {
            // A 304 need not repeat Last-Modified (RFC 9110 15.4.5). The validators of one entry were sent, so that
            // entry has not changed.
            return candidates.filter { $0 == asked }
        }
        let matching = candidates.filter { index in
            let entry = stored[index]
            if let tag { return entry.entityTag.map(tag.matchesWeakly) ?? false }
            return entry.headers[values: .lastModified].first == modified
        }
        // If several entries match, the entry that was revalidated is selected: another entry with the same date must
        // not hide it.
        if matching.contains(asked) { return [asked] }
        return HTTPCacheLookup.newest(matching, of: stored).map { [$0] } ?? []
    }

    enum HeadEffect: Sendable {
        /// Store the entry with this head. Refused: remove the entry.
        case update(HTTPCacheAdmission.Verdict)
        /// The entry differs from the server's response: remove it or make it stale.
        case invalidate
    }

    /// How a 200 to a HEAD changes the entries that match it (RFC 9111 4.3.5), by their index.
    static func afterHead(
        _ request: HTTPCacheRequest, stored: [HTTPCacheEntry], statusCode: Int, headers: HTTPFields,
        requestTime: CacheTime, responseTime: CacheTime, rules: HTTPCacheRules, digest: VaryValues.Digest
    ) -> [Int: HeadEffect] {
        guard request.method == .head, statusCode == 200, !request.isConditionalOrPartial else { return [:] }
        let get = request.asGet
        // RFC 9111 5.2.1.5: no part of the response to such a request is stored.
        guard !request.control.flags.contains(.noStore) else { return [:] }
        var effects: [Int: HeadEffect] = [:]
        for index in HTTPCacheLookup.matches(request, stored, digest) {
            let entry = stored[index]
            guard entry.statusCode == 200, isSame(entry, headers) else {
                effects[index] = .invalidate
                continue
            }
            effects[index] = .update(
                HTTPCacheAdmission.verdict(
                    get, statusCode: 200,
                    headers: StoredFields.updated(entry.headers, by: headers, responseTime: responseTime),
                    requestTime: requestTime, responseTime: responseTime, rules: rules, digest: digest))
        }
        return effects
    }

    private static func isSame(_ entry: HTTPCacheEntry, _ headers: HTTPFields) -> Bool {
        if let value = headers[values: .eTag].first {
            guard let tag = EntityTag(value), entry.entityTag == tag else { return false }
        }
        for name in [HTTPField.Name.lastModified, .contentLength] {
            guard let value = headers[values: name].first else { continue }
            guard entry.headers[values: name].first == value else { return false }
        }
        return true
    }
}
