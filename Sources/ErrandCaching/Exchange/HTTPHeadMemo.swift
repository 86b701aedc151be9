import HTTPTypes
import Synchronization

/// Parsed heads of stored responses, so that a frequently used head is not parsed for each request.
///
/// Entries do not become outdated: a head is a pure function of a record's bytes and times, and is used only for a
/// record with the same bytes and times. Each key maps to one slot, which holds the head that was read last. Therefore
/// the size is bounded and no eviction search is needed.
final class HTTPHeadMemo: Sendable {
    /// The head of one stored response.
    final class Head: Sendable {
        let entry: HTTPCacheEntry
        /// The status line and the fields, without `Age`.
        let lines: [UInt8]
        private let source: Source

        fileprivate init?(_ record: CacheRecord) {
            guard let entry = HTTPCacheEntry(record) else { return nil }
            self.entry = entry
            var fields = entry.headers
            fields[.age] = nil
            lines = record.statusLine + HeaderBlock(fields).bytes
            source = Source(record)
        }

        fileprivate func isOf(_ record: CacheRecord) -> Bool {
            source == Source(record)
        }
    }

    /// All input of a head.
    private struct Source: Equatable {
        let status: Int
        let requestedAt: Int64
        let respondedAt: Int64
        let timeToLive: Int64?
        let head: [UInt8]
        let varyNames: [String]
        let varyDigest: String?

        init(_ record: CacheRecord) {
            status = record.status
            requestedAt = record.requestedAt
            respondedAt = record.respondedAt
            timeToLive = record.timeToLive
            head = record.head
            varyNames = record.varyNames
            varyDigest = record.varyDigest
        }
    }

    private static let places = 512
    /// Bytes; a larger head is parsed each time.
    private static let largestHead = 4096

    /// Empty until the first use.
    private let heads = Mutex<[Head?]>([])

    /// `nil` for a record of another kind.
    func head(of record: CacheRecord, under key: CacheKey) -> Head? {
        guard record.head.count <= Self.largestHead else { return Head(record) }
        let place = Int(key.words[0] % UInt64(Self.places))
        let known = heads.withLock { $0.isEmpty ? nil : $0[place] }
        if let known, known.isOf(record) { return known }
        guard let head = Head(record) else { return nil }
        let replaced = heads.withLock { heads -> Head? in
            if heads.isEmpty { heads = Array(repeating: nil, count: Self.places) }
            let replaced = heads[place]
            heads[place] = head
            return replaced
        }
        // Released here, not under the lock.
        _ = replaced
        return head
    }
}
