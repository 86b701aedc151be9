import HTTPTypes

/// The record under a URL's key if the URL's responses have `Vary`. It lists which header fields select which response.
/// Each response has its own record.
struct HTTPVariantIndex: Sendable, Equatable {
    struct Variant: Sendable, Equatable {
        let names: [String]
        /// In hexadecimal digits.
        let digest: String

        init(_ vary: VaryValues) {
            names = vary.names
            digest = String(decoding: vary.digest, as: UTF8.self)
        }

        init?(line: Substring) {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            digest = String(parts[0])
            names = parts[1].split(separator: ",").map { String($0) }
        }

        var vary: VaryValues { VaryValues(names: names, digest: Array(digest.utf8)) }

        func key(below primary: CacheKey) -> CacheKey? {
            var parts = CacheKeyParts("variant")
            parts.add(primary.digest)
            for name in names { parts.add(name) }
            parts.add(digest)
            return parts.key(in: primary.namespace)
        }
    }

    /// The maximum number of variants of one URL. The most recent ones are kept.
    static let most = 16
    /// No cached request has this method.
    private static let mark = "VARY"

    /// The newest first.
    private(set) var variants: [Variant] = []

    init() {}

    /// `nil` for a record of another kind.
    init?(_ record: CacheRecord) {
        guard record.method == Self.mark, record.status == 0 else { return nil }
        variants = String(decoding: record.body, as: UTF8.self).split(separator: "\n").prefix(Self.most)
            .compactMap { Variant(line: $0) }
    }

    func record(url: String, tags: [String], now: Int64) -> CacheRecord {
        let lines = variants.map { $0.digest + " " + $0.names.joined(separator: ",") }
        return CacheRecord(
            url: url, method: Self.mark, status: 0, body: Array(lines.joined(separator: "\n").utf8), storedAt: now,
            tags: tags)
    }

    /// Inserts a variant at the front. Returns the variants that are dropped.
    mutating func insert(_ variant: Variant) -> [Variant] {
        variants.removeAll { $0 == variant }
        variants.insert(variant, at: 0)
        let dropped = Array(variants.dropFirst(Self.most))
        variants = Array(variants.prefix(Self.most))
        return dropped
    }

    func matching(_ headers: HTTPFields) -> [Variant] {
        variants.filter { $0.vary.matches(headers, digest: ResponseCache.digest) }
    }
}
