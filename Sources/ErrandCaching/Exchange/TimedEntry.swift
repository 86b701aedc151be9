import HTTPTypes

/// A response to be stored with ``CachePolicy/timed(_:version:sensitiveData:requiresApplicationVersion:reading:)``:
/// kept as received, and stored after its request has succeeded.
package struct TimedEntry: Sendable {
    package let key: CacheKey
    package let box: CachePolicy.Box
    package let description: RequestDescription
    package let response: Response
    /// Milliseconds since 1970.
    package let requestedAt: Int64
    package let respondedAt: Int64
    /// When its transfer began, as a moment of ``CacheChanges``.
    package let moment: UInt64
    /// The cache's object about the delivered response; `nil` if none was delivered.
    var info: HTTPCacheInfo?

    /// Whether `response` is the delivered response, or was made from it with ``Response/replacing(body:headers:)``.
    func isOrigin(of response: Response) -> Bool {
        guard let info, let others = response.cacheInfo else { return false }
        return info === others
    }

    func store(in cache: ResponseCache) {
        if let record = record(for: cache) {
            let names = { box.members.tags + [key.removalName] }
            guard !cache.changes.hasRemoved(names, since: moment) else { return }
            cache.store(record, for: key)
            if cache.changes.hasRemoved(names, since: moment) { cache.queue.remove(key) }
            return
        }
        // The response is too large to store, and the old record is outdated.
        if !cache.takes(response) { cache.queue.remove(key) }
    }

    /// `nil` if the response is not to be stored.
    package func record(for cache: ResponseCache) -> CacheRecord? {
        guard case .timed(let timeToLive, let version, let sensitiveDigest, _) = box.members.kind,
            timeToLive > .zero, cache.takes(response)
        else { return nil }
        var vary = VaryValues(names: [], digest: [])
        if response.header(.vary) != nil {
            // `*` means that the fields which the server's choice depends on are unknown. A timed policy uses the
            // response nevertheless.
            let names = FieldTokens.members(response.headers[values: .vary]).compactMap { $0 }.filter { $0 != "*" }
            vary = VaryValues(
                names: Set(names).sorted(), request: description.headers.fields, digest: ResponseCache.digest)
        }
        return CacheRecord(
            url: URLReference.withoutUserInformation(description.url), method: description.method.rawValue,
            status: response.statusCode,
            head: response.rawHead, body: response.body.bytes, storedAt: respondedAt, requestedAt: requestedAt,
            respondedAt: respondedAt, timeToLive: timeToLive.cacheMilliseconds, version: version,
            applicationVersion: cache.applicationVersion, sensitiveDigest: sensitiveDigest,
            varyNames: vary.names, varyDigest: vary.names.isEmpty ? nil : String(decoding: vary.digest, as: UTF8.self),
            tags: box.members.tags)
    }
}
