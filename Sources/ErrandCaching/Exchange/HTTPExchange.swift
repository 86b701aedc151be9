import HTTPTypes

/// One transfer with ``CachePolicy/http``: applies the decisions of RFC 9111, from the stored responses to the update
/// of the store.
package struct HTTPExchange: Sendable {
    let plan: ResponseCachePlan
    let description: RequestDescription
    let request: HTTPCacheRequest
    let set: HTTPStoredSet
    let rules: HTTPCacheRules
    /// Whether libcurl adds cookies that are not in the description.
    let hasHiddenCookies: Bool
    var decision = HTTPCacheDecision.miss(.bypass)
    private var isCollapsed = false
    /// The response to serve when the network fails, whatever the new response's fields say.
    private var standIn: (entry: Int, age: Int64)?

    private var cache: ResponseCache { plan.cache }

    package init(
        _ plan: ResponseCachePlan, _ description: RequestDescription, _ set: HTTPStoredSet, hasHiddenCookies: Bool
    ) {
        self.plan = plan
        self.description = description
        self.set = set
        self.hasHiddenCookies = hasHiddenCookies
        request = HTTPCacheRequest(
            method: description.method, url: description.url, headers: description.headers.fields,
            answersChallenges: description.authentication != nil)
        var rules = plan.cache.rules
        rules.staleIfError = plan.members.staleIfError.map { $0.cacheMilliseconds / 1000 }
        self.rules = rules
    }

    /// A copy; `isCollapsed`: the transfer waited for an equal one instead of being sent.
    func waiting(_ isCollapsed: Bool) -> HTTPExchange {
        var exchange = self
        exchange.isCollapsed = isCollapsed
        return exchange
    }

    // MARK: Before the network

    /// `now` in milliseconds since 1970.
    mutating func begin(now: Int64) -> CacheAction {
        let now = CacheTime(milliseconds: now)
        decision = HTTPCacheLookup.decide(
            request, stored: set.entries, now: now, rules: rules, digest: ResponseCache.digest)
        if case .miss(.nothingStored) = decision, set.index != nil { decision = .miss(.vary) }
        switch plan.reading {
        case .cacheOnly:
            if case .serve(let response, .stored, _) = action() {
                return .serve(response, .stored, revalidation: nil)
            }
            if let stale = HTTPCacheLookup.stale(request, stored: set.entries, now: now, rules, ResponseCache.digest),
                plan.takesStale(expiredFor: stale.staleness)
            {
                return .serve(served(stale.entry, age: stale.age, .standIn), .standIn, revalidation: nil)
            }
            return .fail(missed)
        case .networkElseCache:
            force(keeping: true)
        case .cacheThenNetwork where plan.isSecond:
            force(keeping: false)
        case .cacheElseNetwork, .cacheThenNetwork, .networkOnly:
            break
        }
        return action()
    }

    /// Forces the request to the server.
    private mutating func force(keeping: Bool) {
        switch decision {
        case .fresh(let entry, let age), .stale(let entry, let age, _):
            if keeping { standIn = (entry, age) }
            decision = .revalidate(entry: entry, conditions: set.entries[entry].conditions, reason: .request)
        case .revalidate, .miss, .unsatisfiable:
            break
        }
    }

    private func action() -> CacheAction {
        switch decision {
        case .fresh(let entry, let age):
            return .serve(served(entry, age: age, .stored), .stored, revalidation: nil)
        case .stale(let entry, let age, let revalidation):
            // With `cacheThenNetwork` the request is sent next in any case.
            let isAsked = plan.reading == .cacheThenNetwork
            let question = isAsked ? nil : revalidation.map { CacheQuestion.http(self, conditions: $0) }
            return .serve(served(entry, age: age, .stored), .stored, revalidation: question)
        case .revalidate(_, let conditions, _):
            return .ask(.http(self, conditions: conditions))
        case .miss:
            return .ask(.http(self, conditions: HTTPFields()))
        case .unsatisfiable:
            // RFC 9111 5.2.1.7.
            return .serve(Response(statusCode: 504), .network, revalidation: nil)
        }
    }

    private var missed: CacheMiss {
        switch decision {
        case .fresh, .stale, .revalidate: .expired
        case .miss(.method), .miss(.bypass): .notCached
        case .miss(.nothingStored): .notStored
        case .miss(.vary): .varies
        case .miss(.unusable): .expired
        case .unsatisfiable: set.stored.isEmpty ? (set.index == nil ? .notStored : .varies) : .expired
        }
    }

    // MARK: Responses from the store

    private func served(_ index: Int, age: Int64, _ source: CacheSource, failure: Int? = nil) -> Response {
        let entry = set.entries[index]
        var status = CacheStatus(cache: cache.name)
        // Rounded down: a response that expired half a second ago has -1.
        status.timeToLive = (entry.lifetime(rules).span - age).flooredSeconds
        if source == .standIn {
            status.forward = CacheStatus.Forward(decision) ?? .stale
            status.forwardStatus = failure
            status.isCollapsed = isCollapsed
            status.detail = "stand-in"
        }
        return response(index, entry, age: age, HTTPCacheInfo(isServed: true, status))
    }

    private func response(
        _ index: Int, _ entry: HTTPCacheEntry, age: Int64, _ info: HTTPCacheInfo, metrics: TransferMetrics? = nil
    ) -> Response {
        let record = set.stored[index].record
        let head = record.statusLine + HeaderBlock(entry.fieldsToServe(age: age)).bytes
        return Response(
            statusCode: record.status, head: head, body: description.method == .head ? [] : record.body,
            metrics: metrics, cacheInfo: info)
    }

    // MARK: After the network

    /// Stores the response if that is allowed. Times are in milliseconds since 1970.
    package func ended(_ result: TransferResult, requestedAt: Int64, now: Int64) -> CacheReply {
        let requestTime = CacheTime(milliseconds: requestedAt)
        let now = CacheTime(milliseconds: now)
        switch result {
        case .failure(let error):
            guard error.networkFailure != nil else { return .deliver(result, .network) }
            if case .serveStale(let entry, let age) = HTTPCacheReply.afterFailure(
                decision, request: request, stored: set.entries, now: now, rules: rules)
            {
                return .deliver(.response(served(entry, age: age, .standIn)), .standIn)
            }
            return standingIn(for: nil) ?? .deliver(result, .network)
        case .response(let response):
            if StatusCacheability.isServerFailure(response.statusCode), let reply = standingIn(for: response) {
                return reply
            }
            return ended(response, requestTime, now)
        }
    }

    private func standingIn(for response: Response?) -> CacheReply? {
        guard let standIn else { return nil }
        let served = served(standIn.entry, age: standIn.age, .standIn, failure: response?.statusCode)
        return .deliver(.response(served), .standIn)
    }

    private func ended(_ response: Response, _ requestTime: CacheTime, _ now: CacheTime) -> CacheReply {
        let headers = response.headers
        let reply = HTTPCacheReply.after(
            decision, request: request, stored: set.entries, statusCode: response.statusCode, headers: headers,
            requestTime: requestTime, responseTime: now, rules: rules, digest: ResponseCache.digest)
        switch reply {
        case .askAgain:
            return .askAgain
        case .serveStale(let entry, let age):
            let served = served(entry, age: age, .standIn, failure: response.statusCode)
            return .deliver(.response(served), .standIn)
        case .serveStored(let index, let head, let updates):
            let isStored = update(updates, asked: index)
            var status = CacheStatus(cache: cache.name, forward: CacheStatus.Forward(decision) ?? .stale)
            status.forwardStatus = 304
            status.isStored = isStored
            status.isCollapsed = isCollapsed
            let age = head.age(at: now)
            status.timeToLive = (head.lifetime(rules).span - age).flooredSeconds
            let merged = self.response(
                index, head, age: age, HTTPCacheInfo(isServed: false, status), metrics: response.metrics)
            return .deliver(.response(merged), .network)
        case .deliver(let verdict, let obsolete):
            var status = CacheStatus(cache: cache.name, forward: CacheStatus.Forward(decision) ?? .bypass)
            status.isStored = keep(response, verdict, obsolete)
            status.isCollapsed = isCollapsed
            applyHead(response.statusCode, headers, requestTime, now)
            return .deliver(.response(response.marked(HTTPCacheInfo(isServed: false, status))), .network)
        }
    }

    // MARK: Storing

    /// The tags of the policy and the tag of the request's URL; `nil` if libcrypto fails.
    var tags: [String]? {
        let url = CachePolicy.Members.withoutFragment(description.url)
        let known = plan.members.keyURL(of: description.url)
        guard let tag = ResponseCache.tag(of: url) else { return nil }
        let other = known == url ? nil : ResponseCache.tag(of: known)
        return plan.members.tags + [tag] + (other.map { [$0] } ?? [])
    }

    /// Returns whether the response is stored.
    private func keep(_ response: Response, _ verdict: HTTPCacheAdmission.Verdict, _ obsolete: [Int]) -> Bool {
        var written: Written?
        if case .store(let entry) = verdict, isKeepable(entry), cache.takes(response) {
            let line = Array(response.rawHead.prefix { $0 != 0x0A }) + [0x0A]
            written = write(entry, statusLine: line, body: response.body.bytes)
        }
        for index in obsolete where set.stored[index].key != written?.key { remove(set.stored[index].key, written) }
        // The stored response was not read. It is older than the response that has just arrived.
        if plan.reading == .networkOnly, written == nil, HTTPCacheReply.replacesStored(verdict, response.statusCode) {
            removeOutdated(set.primary)
        }
        return written?.isStored == true
    }

    /// The key under which a response is stored.
    private struct Written {
        let key: CacheKey
        /// Whether the response may be reported as stored: not while the store is failing.
        let isStored: Bool

        init?(_ written: CacheStoreQueue.Written, _ key: CacheKey) {
            switch written {
            case .stored: isStored = true
            case .tried: isStored = false
            case .refused: return nil
            }
            self.key = key
        }

        init(left key: CacheKey) {
            self.key = key
            isStored = false
        }
    }

    /// Whether all header fields that the response depends on are known.
    private func isKeepable(_ entry: HTTPCacheEntry) -> Bool {
        let isHidden = { (name: String, field: HTTPField.Name) in
            entry.vary.names.contains(name) && !request.headers.contains(field)
        }
        return !(hasHiddenCookies && isHidden("cookie", .cookie))
            && !(request.answersChallenges && rules.isShared && isHidden("authorization", .authorization))
    }

    private func remove(_ key: CacheKey, _ written: Written?) {
        // After a variant was written, the primary key holds the variant index.
        if key == set.primary, written != nil { return }
        removeOutdated(key)
    }

    /// Removes a record that a newer response has replaced, even if the newer response is not stored. The arrival is
    /// recorded, so that a 304 to an earlier request does not confirm the old record.
    private func removeOutdated(_ key: CacheKey) {
        cache.changes.noteArrival(under: key)
        cache.queue.remove(key)
    }

    /// Whether the record was replaced by another one since it was read.
    private func hasNewer(_ stored: HTTPStoredSet.Stored) -> Bool {
        cache.changes.hasStored(under: [stored.key, set.primary], since: set.moment)
    }

    /// Returns whether the stored response that was revalidated is still stored.
    private func update(_ updates: [Int: HTTPCacheAdmission.Verdict], asked: Int) -> Bool {
        var isKept = false
        for (index, verdict) in updates {
            let stored = set.stored[index]
            switch verdict {
            case .store(let entry) where isKeepable(entry):
                // A record stored since the read is newer than the revalidated one.
                guard !hasNewer(stored) else { break }
                let written = write(entry, statusLine: stored.record.statusLine, body: stored.record.body, of: stored)
                if written?.key != stored.key { remove(stored.key, written) }
                if index == asked { isKept = written?.isStored == true }
            case .refuse(.requestNoStore):
                break
            case .refuse, .store:
                // Remove even a newer record, at the cost of a miss: a response that must not be stored has to be
                // removed.
                removeOutdated(stored.key)
            }
        }
        return isKept
    }

    private func applyHead(
        _ statusCode: Int, _ headers: HTTPFields, _ requestTime: CacheTime, _ now: CacheTime
    ) {
        guard request.method == .head else { return }
        let effects = HTTPCacheValidation.afterHead(
            request, stored: set.entries, statusCode: statusCode, headers: headers, requestTime: requestTime,
            responseTime: now, rules: rules, digest: ResponseCache.digest)
        for (index, effect) in effects {
            switch effect {
            case .update(let verdict): _ = update([index: verdict], asked: index)
            case .invalidate: removeOutdated(set.stored[index].key)
            }
        }
    }

    /// `nil` if the response is not stored: libcrypto failed, the store does not accept it, or a removal that covers it
    /// was made since the transfer began. `old`: the record that is stored again with updated header fields. While the
    /// store does not write, `old` stays unchanged, because it is as good as before.
    private func write(
        _ entry: HTTPCacheEntry, statusLine: [UInt8], body: [UInt8], of old: HTTPStoredSet.Stored? = nil
    ) -> Written? {
        if let old, !cache.queue.isWorking { return Written(left: old.key) }
        guard let tags else { return nil }
        let url = URLReference.withoutUserInformation(CachePolicy.Members.withoutFragment(description.url))
        let names = { tags + [set.primary.removalName] }
        guard !cache.changes.hasRemoved(names, storedAt: old?.record.storedAt, since: set.moment) else { return nil }
        let now = entry.responseTime.milliseconds
        let record = CacheRecord(
            url: url, method: "GET", status: entry.statusCode, head: statusLine + HeaderBlock(entry.headers).bytes,
            body: body, storedAt: now, requestedAt: entry.requestTime.milliseconds, respondedAt: now,
            applicationVersion: cache.applicationVersion, varyNames: entry.vary.names,
            varyDigest: entry.vary.names.isEmpty ? nil : String(decoding: entry.vary.digest, as: UTF8.self), tags: tags)
        let queue = cache.queue
        let primary = set.primary
        guard !entry.vary.names.isEmpty else {
            for variant in set.index?.variants ?? [] {
                if let key = variant.key(below: primary) { queue.remove(key) }
            }
            if old == nil { cache.changes.noteArrival(under: primary) }
            let written = Written(queue.write(record, for: primary), primary)
            return revoked(primary, names, old) ? nil : written
        }
        let variant = HTTPVariantIndex.Variant(entry.vary)
        guard let key = variant.key(below: primary) else { return nil }
        if old == nil {
            cache.changes.noteArrival(under: key)
            // The single record under the primary key becomes one of several variants.
            if set.index == nil { cache.changes.noteArrival(under: primary) }
        }
        guard let written = Written(queue.write(record, for: key), key) else { return nil }
        // Updates the index that is stored now: other requests may have added variants. With a store in memory, one of
        // two concurrent updates may be lost; a request for that variant then misses.
        queue.update(primary) { present in
            var index = present.flatMap(HTTPVariantIndex.init) ?? HTTPVariantIndex()
            for dropped in index.insert(variant) {
                if let key = dropped.key(below: primary) { queue.remove(key) }
            }
            return index.record(url: url, tags: tags, now: now)
        }
        return revoked(key, names, old) ? nil : written
    }

    private func revoked(_ key: CacheKey, _ names: () -> [String], _ old: HTTPStoredSet.Stored?) -> Bool {
        let isRemoved = cache.changes.hasRemoved(names, storedAt: old?.record.storedAt, since: set.moment)
        guard isRemoved || old.map(hasNewer) == true else { return false }
        cache.queue.remove(key)
        return true
    }
}

extension Int64 {
    /// Milliseconds as whole seconds, rounded down.
    var flooredSeconds: Int64 { self >= 0 ? self / 1000 : (self - 999) / 1000 }
}
