import HTTPTypes

/// What a cache does with what came from the network.
enum HTTPCacheReply: Sendable {
    /// The response is the response; keep it or not. `obsolete` are the entries that it takes the place of, kept or not.
    case deliver(HTTPCacheAdmission.Verdict, obsolete: [Int])
    /// 304: serve `entry`, which `head` is the new head of, with the body as it is stored. `updates` are the entries that
    /// the response validates, `entry` among them; a refused one is to go, but where the request forbids to keep anything
    /// (``HTTPCacheAdmission/Reason/requestNoStore``): there all stays as it is.
    case serveStored(entry: Int, head: HTTPCacheEntry, updates: [Int: HTTPCacheAdmission.Verdict])
    /// The server failed; serve `entry` though it is stale. `age` in milliseconds.
    case serveStale(entry: Int, age: Int64)
    /// A 304 about something else than what is stored: ask again, without conditions (RFC 9111 4.3.4).
    case askAgain

    /// `decision` is what was decided before, among `stored`, which must be the same.
    static func after(
        _ decision: HTTPCacheDecision, request: HTTPCacheRequest, stored: [HTTPCacheEntry], statusCode: Int,
        headers: HTTPFields, requestTime: CacheTime, responseTime: CacheTime, rules: HTTPCacheRules,
        digest: VaryValues.Digest
    ) -> HTTPCacheReply {
        func judge(_ statusCode: Int, _ headers: HTTPFields) -> HTTPCacheAdmission.Verdict {
            HTTPCacheAdmission.verdict(
                request.asGet, statusCode: statusCode, headers: headers, requestTime: requestTime,
                responseTime: responseTime, rules: rules, digest: digest)
        }
        func delivery() -> HTTPCacheReply {
            guard request.method == .get else { return .deliver(.refuse(.method), obsolete: []) }
            let verdict = judge(statusCode, headers)
            let isObsolete = replacesStored(verdict, statusCode)
            let obsolete = isObsolete ? HTTPCacheLookup.matches(request, stored, digest) : []
            return .deliver(verdict, obsolete: obsolete)
        }
        guard let (index, conditions) = decision.asked, stored.indices.contains(index) else { return delivery() }
        if StatusCacheability.isServerFailure(statusCode),
            HTTPCacheLookup.mayStandIn(stored[index], for: request, now: responseTime, rules: rules)
        {
            return .serveStale(entry: index, age: stored[index].age(at: responseTime))
        }
        guard statusCode == 304, !conditions.isEmpty else { return delivery() }
        let matching = HTTPCacheLookup.matches(request, stored, digest)
        let selected = HTTPCacheValidation.selected(by: headers, among: matching, of: stored, asked: index)
        guard selected.contains(index) else { return .askAgain }
        var updates: [Int: HTTPCacheAdmission.Verdict] = [:]
        for entry in selected {
            let fields = StoredFields.updated(stored[entry].headers, by: headers, responseTime: responseTime)
            updates[entry] = judge(stored[entry].statusCode, fields)
        }
        let head = HTTPCacheEntry(
            statusCode: stored[index].statusCode,
            headers: StoredFields.updated(stored[index].headers, by: headers, responseTime: responseTime),
            requestTime: requestTime, responseTime: responseTime, vary: stored[index].vary)
        return .serveStored(entry: index, head: head, updates: updates)
    }

    /// A part, an error or what the request did not want kept says nothing about what is stored.
    static func replacesStored(_ verdict: HTTPCacheAdmission.Verdict, _ statusCode: Int) -> Bool {
        switch verdict {
        case .store: true
        case .refuse(.requestNoStore), .refuse(.method), .refuse(.status): false
        case .refuse: (200...399).contains(statusCode) || statusCode == 404 || statusCode == 410
        }
    }

    /// Where there is no response at all; `nil`: the failure is the result.
    static func afterFailure(
        _ decision: HTTPCacheDecision, request: HTTPCacheRequest, stored: [HTTPCacheEntry], now: CacheTime,
        rules: HTTPCacheRules
    ) -> HTTPCacheReply? {
        guard let (index, _) = decision.asked, stored.indices.contains(index),
            HTTPCacheLookup.mayStandIn(stored[index], for: request, now: now, rules: rules)
        else { return nil }
        return .serveStale(entry: index, age: stored[index].age(at: now))
    }
}

extension HTTPCacheDecision {
    /// The entry that the server was asked about, and how.
    fileprivate var asked: (entry: Int, conditions: HTTPFields)? {
        switch self {
        case .revalidate(let entry, let conditions, _): (entry, conditions)
        case .stale(let entry, _, let revalidation?): (entry, revalidation)
        case .fresh, .stale, .miss, .unsatisfiable: nil
        }
    }
}
