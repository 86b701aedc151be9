import Errand

/// Removals and replacements that were requested while the file could not be written. The affected records are hidden
/// from reads, and are removed before anything else once the file can be written again.
struct SQLitePendingRemovals {
    /// Checked at every read.
    private(set) var isEmpty = true
    private var keys: Set<CacheKey> = []
    private var tags: Set<String> = []
    private var namespaces: Set<String> = []
    private var instant: Int64?
    private var isAll = false
    /// The number of removals that are kept individually; beyond it all records count as removed.
    private let most: Int

    init(most: Int = 10_000) { self.most = most }

    mutating func add(_ removal: SQLiteRemoval) {
        guard !isAll else { return }
        isEmpty = false
        switch removal {
        case .key(let key): keys.insert(key)
        case .tag(let tag): tags.insert(tag)
        case .older(let instant): self.instant = max(instant, self.instant ?? instant)
        case .namespace(let namespace): namespaces.insert(namespace)
        case .all: addAll()
        }
        if keys.count + tags.count + namespaces.count > most { addAll() }
    }

    private mutating func addAll() {
        self = SQLitePendingRemovals(most: most)
        isEmpty = false
        isAll = true
    }

    /// Forgets the removals after they were performed.
    mutating func clear() {
        self = SQLitePendingRemovals(most: most)
    }

    /// Whether that record, which was found in the file, has a pending removal.
    func contain(_ record: CacheRecord, under key: CacheKey) -> Bool {
        if isAll || keys.contains(key) || namespaces.contains(key.namespace) { return true }
        if let instant, record.storedAt < instant { return true }
        return !tags.isEmpty && record.tags.contains { tags.contains($0) }
    }

    var all: [SQLiteRemoval] {
        if isAll { return [.all] }
        var all = keys.map { SQLiteRemoval.key($0) } + tags.map { .tag($0) } + namespaces.map { .namespace($0) }
        if let instant { all.append(.older(than: instant)) }
        return all
    }
}
