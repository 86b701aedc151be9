import Errand

/// The records of an open database file. Used by one thread at a time.
final class SQLiteCacheContents {
    /// Identifies the file that was opened.
    var identity: SQLiteCacheFile.Identity { connection.file }
    private let connection: SQLiteConnection
    /// Times of use by record id that are not yet written to the file.
    private var used: [Int64: Int64] = [:]
    /// The number of noted uses that triggers the next write.
    private var usesAtNextWrite = usesPerWrite
    private var agedOutAt: Int64?

    /// The number of noted uses that triggers a write, and the number above which uses that cannot be written are
    /// dropped.
    private static let usesPerWrite = 512
    private static let usesAtMost = 2048
    /// Milliseconds within which several reads of a record count as one use: otherwise each read of a popular record
    /// would cause a write to the file.
    private static let useInterval: Int64 = 1000
    /// Milliseconds between two searches for records beyond the age limit.
    private static let ageInterval: Int64 = 60_000

    /// Opens an existing file, and makes its tables if there are none. Called under the file's lock.
    init(_ file: SQLiteCacheFile, until deadline: ContinuousClock.Instant) throws(SQLiteFailure) {
        connection = try SQLiteConnection(path: file.path, waiting: file.waiting)
        try connection.harden()
        waitForLocks(until: deadline)
        // Only an empty file accepts this pragma; on a file that cannot be written it is an error.
        if try connection.integer("PRAGMA page_count") == 0 {
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        for pragma in [
            "journal_mode = WAL", "synchronous = NORMAL", "temp_store = MEMORY", "cell_size_check = ON",
            "journal_size_limit = 4194304", "cache_size = -8192",
        ] {
            try connection.execute("PRAGMA \(pragma)")
        }
        finding = try SQLiteSchema.prepare(connection)
    }

    /// The kind of the file that was found; only the kind `ours` may be used.
    private(set) var finding = SQLiteSchema.Finding.empty

    /// Sets how long later calls wait for other processes' locks; `nil`: they do not wait.
    func waitForLocks(until deadline: ContinuousClock.Instant?) {
        connection.waitForLocks(until: deadline)
    }

    /// Whether this process opened the file; false in a child after a fork.
    var isOurs: Bool { connection.isOurs }

    enum Found {
        case record(CacheRecord)
        case none
        /// An entry was found, but not a whole record.
        case torn
    }

    /// Reads the record for `key` if it was not stored before `oldest`.
    func read(_ key: CacheKey, at now: Int64, oldest: Int64) throws(SQLiteFailure) -> Found {
        let (id, usedAt, found) = try find(key, oldest: oldest)
        switch found {
        case .none: break
        case .record:
            // Not written as a subtraction: times that are far apart must not overflow.
            if usedAt > now || usedAt <= now &- Self.useInterval { used[id] = now }
            if used.count >= usesAtNextWrite { writeUses() }
        case .torn: try drop(id, of: key, oldest: oldest)
        }
        return found
    }

    /// Removes a torn entry if the file can be written; otherwise the entry stays and reads remain misses.
    private func drop(_ id: Int64, of key: CacheKey, oldest: Int64) throws(SQLiteFailure) {
        do {
            try connection.transaction { () throws(SQLiteFailure) in
                // Another process may have stored a good record since.
                if case .torn = try find(key, oldest: oldest).found { try connection.run(.removeID, [.integer(id)]) }
            }
        } catch {
            switch error.remedy {
            case .replace, .reopen, .switchOff: throw error
            case .report, .pauseWrites: break
            }
        }
    }

    private func find(
        _ key: CacheKey, oldest: Int64
    ) throws(SQLiteFailure) -> (id: Int64, usedAt: Int64, found: Found) {
        var (id, usedAt): (Int64, Int64) = (0, 0)
        var found = Found.none
        try connection.run(.find, [.text(key.namespace), .text(key.digest)]) { row in
            id = row.integer(0)
            usedAt = row.integer(2)
            guard row.integer(1) >= oldest else { return }
            found = CacheRecord(encoded: row.bytes(3), for: key).map { .record($0) } ?? .torn
        }
        return (id, usedAt, found)
    }

    /// Stores a record and removes others beyond the limits. Returns how many were removed.
    func write(
        _ record: CacheRecord, encoded: [UInt8], for key: CacheKey, at now: Int64, limit: Int, oldest: Int64
    ) throws(SQLiteFailure) -> Int {
        let uses = used
        let dropped = try connection.transaction { () throws(SQLiteFailure) -> Int in
            for (id, time) in uses { try connection.run(.touch, [.integer(id), .integer(time)]) }
            var id: Int64 = 0
            let size = Int64(record.byteCount)
            try connection.run(
                .upsert,
                [
                    .text(key.namespace), .text(key.digest), .integer(record.storedAt), .integer(now), .integer(size),
                ]
            ) { id = $0.integer(0) }
            try connection.run(.upsertContent, [.integer(id), .bytes(encoded)])
            try connection.run(.removeTags, [.integer(id)])
            for tag in record.tags { try connection.run(.addTag, [.text(tag), .integer(id)]) }
            let aged = try dropAged(at: now, oldest: oldest)
            return try aged + dropLeastRecent(limit: Int64(limit), sparing: id)
        }
        forgetUses()
        return dropped
    }

    private func dropAged(at now: Int64, oldest: Int64) throws(SQLiteFailure) -> Int {
        // If the clock was set back, the interval counts as passed.
        if let last = agedOutAt, (last..<last + Self.ageInterval).contains(now) { return 0 }
        agedOutAt = now
        try connection.run(.removeOld, [.integer(oldest)])
        return connection.changes
    }

    private func dropLeastRecent(limit: Int64, sparing id: Int64) throws(SQLiteFailure) -> Int {
        var dropped = 0
        while true {
            var excess = try total().bytes - limit
            guard excess > 0 else { return dropped }
            var victims: [Int64] = []
            try connection.run(.leastRecent, [.integer(id)]) { row in
                guard excess > 0 else { return }
                victims.append(row.integer(0))
                excess -= row.integer(1)
            }
            guard !victims.isEmpty else { return dropped }
            for victim in victims { try connection.run(.removeID, [.integer(victim)]) }
            dropped += victims.count
        }
    }

    func total() throws(SQLiteFailure) -> (entries: Int64, bytes: Int64) {
        var total: (entries: Int64, bytes: Int64) = (0, 0)
        try connection.run(.total) { total = ($0.integer(0), $0.integer(1)) }
        return total
    }

    /// Performs all removals in one transaction, or none of them. Returns how many records were removed.
    @discardableResult
    func remove(_ removals: [SQLiteRemoval]) throws(SQLiteFailure) -> Int {
        let count = try connection.transaction { () throws(SQLiteFailure) -> Int in
            var count = 0
            for removal in removals {
                try connection.run(removal.statement, removal.values)
                count += connection.changes
            }
            return count
        }
        if removals.contains(where: \.isLarge) { try? giveBack() }
        return count
    }

    /// Whether the file has an entry for that key, whole or torn.
    func has(_ key: CacheKey) throws(SQLiteFailure) -> Bool {
        var isThere = false
        try connection.run(.has, [.text(key.namespace), .text(key.digest)]) { _ in isThere = true }
        return isThere
    }

    /// Writes the noted times of use to the file. The times affect only the order of removal, so a failure is ignored.
    /// The call does not wait for locks.
    func writeUses() {
        guard !used.isEmpty else { return }
        connection.waitForLocks(until: nil)
        do {
            try connection.transaction { () throws(SQLiteFailure) in
                for (id, time) in used { try connection.run(.touch, [.integer(id), .integer(time)]) }
            }
            forgetUses()
        } catch {
            usesAtNextWrite = used.count + Self.usesPerWrite
            if used.count >= Self.usesAtMost { forgetUses() }
        }
    }

    private func forgetUses() {
        used.removeAll(keepingCapacity: true)
        usesAtNextWrite = Self.usesPerWrite
    }

    /// Moves the log's content to the database file if no other process is using the file. Does not wait for locks.
    func checkpoint() {
        connection.waitForLocks(until: nil)
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Frees space on a full disk, as far as this is possible without any free space.
    func shrink() {
        checkpoint()
        try? connection.transaction { () throws(SQLiteFailure) in
            _ = try dropLeastRecent(limit: total().bytes / 2, sparing: -1)
        }
        try? giveBack()
    }

    /// Returns unused pages to the disk.
    private func giveBack() throws(SQLiteFailure) {
        try connection.execute("PRAGMA incremental_vacuum")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
