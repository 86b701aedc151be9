import HTTPTypes

/// How a cache handles a response or a failure from the network.
enum HTTPCacheReply: Sendable {
    /// Deliver the response; store it or not. `obsolete`: the entries that the response replaces, whether or not it is
    /// stored.
    case deliver(HTTPCacheAdmission.Verdict, obsolete: [Int])
    /// 304: serve `entry` with its new head `head` and its stored body. `updates`: the entries that the response
    /// validates, `entry` among them. A refused entry is removed. Exception: if the request forbids storing
    /// (``HTTPCacheAdmission/Reason/requestNoStore``), the store stays as it is.
    case serveStored(entry: Int, head: HTTPCacheEntry, updates: [Int: HTTPCacheAdmission.Verdict])
    /// The server failed; serve the stale `entry`. `age` in milliseconds.
    case serveStale(entry: Int, age: Int64)
    /// A 304 that matches no stored response: send the request again without conditions (RFC 9111 4.3.4).
    case askAgain

    /// `decision`: the decision before the network. `stored`: the same entries as in that decision.
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
            HTTPCacheLookup.mayServeStale(stored[index], for: request, now: responseTime, rules: rules)
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

    /// Whether the response replaces the stored ones. A partial response, an error, or a response that the request
    /// forbids storing does not.
    static func replacesStored(_ verdict: HTTPCacheAdmission.Verdict, _ statusCode: Int) -> Bool {
        switch verdict {
        case .store: true
        case .refuse(.requestNoStore), .refuse(.method), .refuse(.status): false
        case .refuse: (200...399).contains(statusCode) || statusCode == 404 || statusCode == 410
        }
    }

    /// The reply if there is no response; `nil`: the failure is the result.
    static func afterFailure(
        _ decision: HTTPCacheDecision, request: HTTPCacheRequest, stored: [HTTPCacheEntry], now: CacheTime,
        rules: HTTPCacheRules
    ) -> HTTPCacheReply? {
        guard let (index, _) = decision.asked, stored.indices.contains(index),
            HTTPCacheLookup.mayServeStale(stored[index], for: request, now: now, rules: rules)
        else { return nil }
        return .serveStale(entry: index, age: stored[index].age(at: now))
    }
}

extension HTTPCacheDecision {
    /// The entry that is being revalidated, and the conditions that were sent.
    fileprivate var asked: (entry: Int, conditions: HTTPFields)? {
        switch self {
        case .revalidate(let entry, let conditions, _): (entry, conditions)
        case .stale(let entry, _, let revalidation?): (entry, revalidation)
        case .fresh, .stale, .miss, .unsatisfiable: nil
        }
    }
}
