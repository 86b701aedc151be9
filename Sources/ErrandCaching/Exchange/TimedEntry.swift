import HTTPTypes

/// A response on its way into the cache by ``CachePolicy/timed(_:version:sensitiveData:requiresApplicationVersion:reading:)``:
/// taken as it came, and stored once its request has succeeded.
package struct TimedEntry: Sendable {
    package let key: CacheKey
    package let box: CachePolicy.Box
    package let description: RequestDescription
    package let response: Response
    /// Milliseconds since 1970.
    package let requestedAt: Int64
    package let respondedAt: Int64
    /// When its transfer began, by ``CacheChanges``.
    package let moment: UInt64

    func store(in cache: ResponseCache) {
        if let record = record(for: cache) {
            let names = { box.members.tags + [key.removalName] }
            guard !cache.changes.hasRemoved(names, since: moment) else { return }
            cache.store(record, for: key)
            if cache.changes.hasRemoved(names, since: moment) { cache.queue.remove(key) }
            return
        }
        // Too large: what is there is not what the server has any more.
        if !cache.takes(response) { cache.queue.remove(key) }
    }

    /// `nil` for what is not to be stored.
    package func record(for cache: ResponseCache) -> CacheRecord? {
        guard case .timed(let timeToLive, let version, let sensitiveDigest, _) = box.members.kind,
            timeToLive > .zero, cache.takes(response)
        else { return nil }
        var vary = VaryValues(names: [], digest: [])
        if response.header(.vary) != nil {
            // `*` says that the server's choice cannot be known; that the response is used all the same is this policy's.
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
