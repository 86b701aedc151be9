import HTTPTypes

/// The stored responses for a request's URL whose `Vary` matches the request's header fields.
package struct HTTPStoredSet: Sendable {
    struct Stored: Sendable {
        let key: CacheKey
        let record: CacheRecord
        let entry: HTTPCacheEntry
    }

    /// The key of the URL.
    package let primary: CacheKey
    /// When the set was read, as a moment of ``CacheChanges``.
    package let moment: UInt64
    var stored: [Stored] = []
    /// The index of the variants. It is set if there are any, whether or not one of them matches.
    var index: HTTPVariantIndex?

    var entries: [HTTPCacheEntry] { stored.map(\.entry) }

    /// Reads the set. `known`: the result of a read under `primary` that was made after `moment`. `then` runs inline
    /// if the store answers at once.
    static func read(
        _ primary: CacheKey, _ known: CacheStoreQueue.AtOnce, at moment: UInt64, for headers: HeaderBlock,
        from cache: ResponseCache, _ then: @escaping @Sendable (HTTPStoredSet) -> Void
    ) {
        let found = { @Sendable (record: CacheRecord?) in
            var set = HTTPStoredSet(primary: primary, moment: moment)
            guard let record else { return then(set) }
            guard let index = HTTPVariantIndex(record) else {
                set.add(record, under: primary, cache.heads)
                return then(set)
            }
            set.index = index
            set.readVariants(index.matching(headers.fields)[...], from: cache, then)
        }
        switch known {
        case .known(let record): found(record)
        case .later: cache.queue.readLater(primary, found)
        }
    }

    private func readVariants(
        _ variants: ArraySlice<HTTPVariantIndex.Variant>, from cache: ResponseCache,
        _ then: @escaping @Sendable (HTTPStoredSet) -> Void
    ) {
        guard let variant = variants.first, let key = variant.key(below: primary) else { return then(self) }
        cache.queue.read(key) { record in
            var set = self
            if let record { set.add(record, under: key, cache.heads) }
            set.readVariants(variants.dropFirst(), from: cache, then)
        }
    }

    private mutating func add(_ record: CacheRecord, under key: CacheKey, _ heads: HTTPHeadMemo) {
        guard let head = heads.head(of: record, under: key) else { return }
        stored.append(Stored(key: key, record: record, entry: head.entry))
    }
}

extension HTTPCacheEntry {
    /// `nil` for a record of another kind.
    convenience init?(_ record: CacheRecord) {
        guard record.timeToLive == nil, record.status > 0 else { return nil }
        self.init(
            statusCode: record.status, headers: record.fields,
            requestTime: CacheTime(milliseconds: record.requestedAt),
            responseTime: CacheTime(milliseconds: record.respondedAt),
            vary: VaryValues(names: record.varyNames, digest: Array((record.varyDigest ?? "").utf8)))
    }
}

extension CacheRecord {
    /// The header fields, without the status line.
    var fields: HTTPFields {
        head.withUnsafeBytes { bytes in
            guard let end = bytes.firstIndex(of: 0x0A) else { return HTTPFields() }
            return HeaderParser.fields(UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...]))
        }
    }

    /// The status line, with its CRLF.
    var statusLine: [UInt8] {
        guard let end = head.firstIndex(of: 0x0A) else { return Array("HTTP/1.1 \(status) \r\n".utf8) }
        return Array(head[...end])
    }
}
