import HTTPTypes

/// What is stored for a request's URL, as far as its header fields may be answered by it.
struct HTTPStoredSet: Sendable {
    struct Stored: Sendable {
        let key: CacheKey
        let record: CacheRecord
        let entry: HTTPCacheEntry
    }

    /// Of the URL.
    let primary: CacheKey
    /// When it was read, by ``CacheRemovals``.
    let moment: UInt64
    var stored: [Stored] = []
    /// There are variants, whether one matches or not.
    var index: HTTPVariantIndex?

    var entries: [HTTPCacheEntry] { stored.map(\.entry) }

    /// Reads it. `then` runs inline where the store answers at once.
    static func read(
        _ primary: CacheKey, for headers: HeaderBlock, from cache: ResponseCache,
        _ then: @escaping @Sendable (HTTPStoredSet) -> Void
    ) {
        let empty = HTTPStoredSet(primary: primary, moment: cache.removals.moment)
        let queue = cache.queue
        queue.read(primary) { record in
            var set = empty
            guard let record else { return then(set) }
            guard let index = HTTPVariantIndex(record) else {
                set.add(record, under: primary)
                return then(set)
            }
            set.index = index
            set.readVariants(index.matching(headers.fields)[...], from: queue, then)
        }
    }

    private func readVariants(
        _ variants: ArraySlice<HTTPVariantIndex.Variant>, from queue: CacheStoreQueue,
        _ then: @escaping @Sendable (HTTPStoredSet) -> Void
    ) {
        guard let variant = variants.first, let key = variant.key(below: primary) else { return then(self) }
        queue.read(key) { record in
            var set = self
            if let record { set.add(record, under: key) }
            set.readVariants(variants.dropFirst(), from: queue, then)
        }
    }

    private mutating func add(_ record: CacheRecord, under key: CacheKey) {
        guard let entry = HTTPCacheEntry(record) else { return }
        stored.append(Stored(key: key, record: record, entry: entry))
    }
}

extension HTTPCacheEntry {
    /// `nil` for a record of another kind.
    init?(_ record: CacheRecord) {
        guard record.timeToLive == nil, record.status > 0 else { return nil }
        self.init(
            statusCode: record.status, headers: record.fields,
            requestTime: CacheTime(milliseconds: record.requestedAt),
            responseTime: CacheTime(milliseconds: record.respondedAt),
            vary: VaryValues(names: record.varyNames, digest: Array((record.varyDigest ?? "").utf8)))
    }
}

extension CacheRecord {
    /// Without the status line.
    var fields: HTTPFields {
        head.withUnsafeBytes { bytes in
            guard let end = bytes.firstIndex(of: 0x0A) else { return HTTPFields() }
            return HeaderParser.fields(UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...]))
        }
    }

    /// With the CRLF.
    var statusLine: [UInt8] {
        guard let end = head.firstIndex(of: 0x0A) else { return Array("HTTP/1.1 \(status) \r\n".utf8) }
        return Array(head[...end])
    }
}
