/// The contents of a ``MemoryCacheStore``: the records in the order of their use. The list's links are indices into an
/// array, so that moving a record to the front allocates nothing. An `OrderedDictionary` is not used: it takes
/// linear time to remove a record from the middle.
struct MemoryCacheContents {
    private struct Node {
        let key: CacheKey
        let record: CacheRecord
        let bytes: Int
    }

    /// Separate from the nodes, so that a change of the order copies no record.
    private struct Links {
        /// The next more recently used record.
        var newer: Int?
        /// The next less recently used record.
        var older: Int?
    }

    private var nodes: [Node?] = []
    private var links: [Links] = []
    private var free: [Int] = []
    private var places: [CacheKey: Int] = [:]
    private var tagged: [String: Set<Int>] = [:]
    private var newest: Int?
    private var oldest: Int?
    private(set) var statistics = CacheStatistics()

    mutating func read(_ key: CacheKey) -> CacheRecord? {
        guard let record = find(key) else {
            statistics.misses += 1
            return nil
        }
        return record
    }

    /// Counts hits but not misses.
    mutating func find(_ key: CacheKey) -> CacheRecord? {
        guard let place = places[key], let record = nodes[place]?.record else { return nil }
        statistics.hits += 1
        use(place)
        return record
    }

    mutating func write(_ record: CacheRecord, bytes: Int, for key: CacheKey, limits: MemoryCacheStore.Limits) {
        if let place = places[key], let old = nodes[place], old.record.tags == record.tags,
            statistics.bytes - old.bytes + bytes <= limits.bytes
        {
            nodes[place] = Node(key: key, record: record, bytes: bytes)
            statistics.bytes += bytes - old.bytes
            return use(place)
        }
        remove(key)
        while let oldest, statistics.bytes + bytes > limits.bytes || statistics.entries >= limits.entries {
            remove(at: oldest)
            statistics.evictions += 1
        }
        let node = Node(key: key, record: record, bytes: bytes)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
            links.append(Links())
        }
        places[key] = place
        for tag in record.tags { tagged[tag, default: []].insert(place) }
        statistics.entries += 1
        statistics.bytes += bytes
        linkAsNewest(place)
    }

    @discardableResult
    mutating func remove(_ key: CacheKey) -> Bool {
        guard let place = places[key] else { return false }
        remove(at: place)
        return true
    }

    mutating func remove(tag: String) -> Int {
        let places = tagged[tag] ?? []
        for place in places { remove(at: place) }
        return places.count
    }

    mutating func remove(olderThan instant: Int64) -> Int {
        let old = places.values.filter { place in nodes[place].map { $0.record.storedAt < instant } ?? false }
        for place in old { remove(at: place) }
        return old.count
    }

    mutating func removeAll(namespace: String) -> Int {
        let removed = places.filter { $0.key.namespace == namespace }
        for place in removed.values { remove(at: place) }
        return removed.count
    }

    mutating func removeAll() -> Int {
        let count = statistics.entries
        var empty = MemoryCacheContents()
        empty.statistics = statistics
        empty.statistics.entries = 0
        empty.statistics.bytes = 0
        self = empty
        return count
    }

    private mutating func remove(at place: Int) {
        guard let node = nodes[place] else { return }
        unlink(place)
        nodes[place] = nil
        free.append(place)
        places[node.key] = nil
        for tag in node.record.tags {
            tagged[tag]?.remove(place)
            if tagged[tag]?.isEmpty == true { tagged[tag] = nil }
        }
        statistics.entries -= 1
        statistics.bytes -= node.bytes
    }

    private mutating func use(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        linkAsNewest(place)
    }

    private mutating func linkAsNewest(_ place: Int) {
        links[place] = Links(newer: nil, older: newest)
        if let newest { links[newest].newer = place }
        newest = place
        if oldest == nil { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let link = links[place]
        if let newer = link.newer { links[newer].older = link.older } else { newest = link.older }
        if let older = link.older { links[older].newer = link.newer } else { oldest = link.newer }
    }
}
