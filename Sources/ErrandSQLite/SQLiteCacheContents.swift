import Errand

/// The records in an open file. Used by one thread at a time.
final class SQLiteCacheContents {
    /// Which file was opened.
    var identity: SQLiteCacheFile.Identity { connection.file }
    private let connection: SQLiteConnection
    /// When records were read last, not written yet.
    private var used: [Int64: Int64] = [:]
    /// So many uses are noted when they are to be written next.
    private var usesAtNextWrite = usesPerWrite
    private var agedOutAt: Int64?

    /// So many uses are noted before they are written, and so many before they are forgotten where they cannot be.
    private static let usesPerWrite = 512
    private static let usesAtMost = 2048
    /// Milliseconds within which a record counts as used but once: else a record that all want would cost a write in the
    /// file for every read.
    private static let useInterval: Int64 = 1000
    /// Milliseconds between two looks for records beyond the age limit.
    private static let ageInterval: Int64 = 60_000

    /// Opens the file, which exists, and makes its tables where there are none. Under the file's lock.
    init(_ file: SQLiteCacheFile, until deadline: ContinuousClock.Instant) throws(SQLiteFailure) {
        connection = try SQLiteConnection(path: file.path, waiting: file.waiting)
        try connection.harden()
        waitForLocks(until: deadline)
        // Only an empty file takes it, and one that cannot be written calls it an error.
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

    /// What the file was found to be; only ours may be used.
    private(set) var finding = SQLiteSchema.Finding.empty

    /// Has the calls that follow wait for other processes no longer than that; `nil`: not at all.
    func waitForLocks(until deadline: ContinuousClock.Instant?) {
        connection.waitForLocks(until: deadline)
    }

    /// Whether this is the process that opened it.
    var isOurs: Bool { connection.isOurs }

    enum Found {
        case record(CacheRecord)
        case none
        /// There was something, not this record whole.
        case torn
    }

    /// Looks for a record not stored before `oldest`.
    func read(_ key: CacheKey, at now: Int64, oldest: Int64) throws(SQLiteFailure) -> Found {
        let (id, usedAt, found) = try find(key, oldest: oldest)
        switch found {
        case .none: break
        case .record:
            // Not negated: times that are far apart must not overflow.
            if usedAt > now || usedAt <= now &- Self.useInterval { used[id] = now }
            if used.count >= usesAtNextWrite { writeUses() }
        case .torn: try drop(id, of: key, oldest: oldest)
        }
        return found
    }

    /// Removes what is torn, where it can be removed; where it cannot it stays a miss.
    private func drop(_ id: Int64, of key: CacheKey, oldest: Int64) throws(SQLiteFailure) {
        do {
            try connection.transaction { () throws(SQLiteFailure) in
                // Another process may have stored a good one since.
                if case .torn = try find(key, oldest: oldest).found { try connection.run(.removeID, [.integer(id)]) }
            }
        } catch {
            switch error.remedy {
            case .replace, .reopen, .switchOff: throw error
            case .tell, .pauseWrites: break
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

    /// Stores a record and drops others beyond the limits. Returns how many were dropped.
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
        // A clock set back counts as an interval gone by.
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

    /// Makes removals, all or none. Returns how many records are gone.
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

    /// Whether there is anything under that key, whole or not.
    func has(_ key: CacheKey) throws(SQLiteFailure) -> Bool {
        var isThere = false
        try connection.run(.has, [.text(key.namespace), .text(key.digest)]) { _ in isThere = true }
        return isThere
    }

    /// Notes in the file which records were used: a matter of order only, so a failure costs no more than that, and
    /// nobody waits for it.
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

    /// Has the log's content moved to the file where nobody else is at it; waits for nobody.
    func checkpoint() {
        connection.waitForLocks(until: nil)
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Makes room on a full disk, as far as that can be done without any.
    func shrink() {
        checkpoint()
        try? connection.transaction { () throws(SQLiteFailure) in
            _ = try dropLeastRecent(limit: total().bytes / 2, sparing: -1)
        }
        try? giveBack()
    }

    /// Gives pages that are not used back to the disk.
    private func giveBack() throws(SQLiteFailure) {
        try connection.execute("PRAGMA incremental_vacuum")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
