import Errand

/// The state that a ``SQLiteCacheStore`` keeps under its lock: whether the file is open, and how to react when it
/// fails.
struct SQLiteCacheState {
    private enum Phase {
        /// The next call opens the file.
        case closed
        case open(SQLiteCacheContents)
        /// Nothing is written until that time.
        case readingOnly(SQLiteCacheContents, until: Int64, CacheStoreError)
        case off(until: Int64, CacheStoreError)
        /// Closed for good by the store's owner.
        case shutDown
    }

    enum Access {
        case read
        /// May be skipped.
        case write
        /// Must not be skipped silently.
        case removal
    }

    private let file: SQLiteCacheFile?
    private let patience: Duration
    private let retryInterval: Int64
    private var phase = Phase.closed
    /// The last call waited for a lock for as long as it may, and did not get it. Later calls wait only briefly;
    /// otherwise the waits of many calls would add up without limit.
    private var isLocked = false
    /// The last write met a full disk.
    private var isFull = false
    /// When the path was last checked to name the file in use; `nil` if a check is due.
    private var lookedAt: ContinuousClock.Instant?
    private var repairs = 0
    private var lastReason: CacheStoreError?
    private var pending = SQLitePendingRemovals()
    /// The counters since this value was made. The number and size of the stored records are read from the file
    /// instead.
    var statistics = CacheStatistics()

    private static let shutDown = CacheStoreError.unavailable.with(message: "the cache was closed")
    /// The number of failures in one call after which the file is switched off.
    private static let attemptsAtMost = 3
    /// How long a write waits for a lock after an earlier call waited for it in vain.
    private static let turn = Duration.milliseconds(20)
    private static let lookInterval = Duration.milliseconds(10)

    /// `file` may be `nil` only with a `refusal`; the store is then off for good.
    init(file: SQLiteCacheFile?, refusal: CacheStoreError?, patience: Duration, retryInterval: Int64) {
        self.file = file
        self.patience = patience
        self.retryInterval = retryInterval
        if let refusal { phase = .off(until: .max, refusal) }
    }

    var health: CacheHealth {
        switch phase {
        case .closed, .open: CacheHealth(.working, reason: lastReason, repairs: repairs)
        case .readingOnly(_, _, let reason): CacheHealth(.readingOnly, reason: reason, repairs: repairs)
        case .off(_, let reason): CacheHealth(.off, reason: reason, repairs: repairs)
        case .shutDown: CacheHealth(.off, reason: Self.shutDown, repairs: repairs)
        }
    }

    /// Returns the record for a key if it was stored no earlier than `oldest`; `nil` if reading is switched off.
    mutating func find(
        _ key: CacheKey, at now: Int64, oldest: Int64
    ) throws(CacheStoreError) -> SQLiteCacheContents.Found? {
        let found = try attempt(.read, at: now) { (contents) throws(SQLiteFailure) in
            try contents.read(key, at: now, oldest: oldest)
        }
        guard !pending.isEmpty, case .record(let record)? = found, pending.contain(record, under: key) else {
            return found
        }
        return SQLiteCacheContents.Found.none
    }

    /// Runs `body` on the open file for reading; `nil` if reading is switched off.
    mutating func look<Result>(
        at now: Int64, _ body: (SQLiteCacheContents) throws(SQLiteFailure) -> Result
    ) throws(CacheStoreError) -> Result? {
        try attempt(.read, at: now, body)
    }

    /// Runs `body` on the open file to replace the record for `key`. If the new record is not written, for whatever
    /// reason, the old record is no longer found either. `nil` if writing is switched off.
    mutating func replace<Result>(
        _ key: CacheKey, at now: Int64, _ body: (SQLiteCacheContents) throws(SQLiteFailure) -> Result
    ) throws(CacheStoreError) -> Result? {
        do throws(CacheStoreError) {
            let result = try attempt(.write, at: now, body)
            if result == nil { postpone(.key(key)) }
            return result
        } catch {
            postpone(.key(key))
            throw error
        }
    }

    /// Removes records from the file. If this throws, the removal is noted, and is performed as soon as the file can be
    /// written. Returns how many records were removed.
    mutating func remove(_ removal: SQLiteRemoval, at now: Int64) throws(CacheStoreError) -> Int {
        do throws(CacheStoreError) {
            return try attempt(.removal, at: now) { (contents) throws(SQLiteFailure) in
                try contents.remove([removal])
            } ?? 0
        } catch {
            postpone(removal)
            throw error
        }
    }

    private mutating func postpone(_ removal: SQLiteRemoval) {
        switch phase {
        case .open(let contents), .readingOnly(let contents, _, _):
            // Without this check, a file that can never be written would collect a pending removal for every key that is
            // replaced, even if the file has no record for the key.
            if case .key(let key) = removal, contents.isOurs, (try? contents.has(key)) == false { return }
        // Nothing is read any more, so nothing needs to be hidden.
        case .off(until: .max, _), .shutDown: return
        case .closed, .off: break
        }
        pending.add(removal)
    }

    /// Performs the pending removals. A read does not wait for locks for this, because it skips those records in any
    /// case.
    private mutating func settle(
        _ contents: SQLiteCacheContents, for access: Access, at now: Int64
    ) throws(SQLiteFailure) {
        guard !pending.isEmpty else { return }
        guard access == .read else {
            try contents.remove(pending.all)
            return pending.clear()
        }
        guard case .open = phase else { return }
        contents.waitForLocks(until: nil)
        do {
            try contents.remove(pending.all)
            pending.clear()
        } catch {
            switch error.remedy {
            case .report: break
            case .pauseWrites(let reason):
                lastReason = reason
                phase = .readingOnly(contents, until: later(than: now), reason)
            case .reopen, .replace, .switchOff: throw error
            }
        }
    }

    /// Runs `body` on the open file; the file is opened, reopened or replaced if needed. `nil` if reading or writing is
    /// switched off; a removal throws instead. Waits no longer than `patience` in total.
    private mutating func attempt<Result>(
        _ access: Access, at now: Int64, _ body: (SQLiteCacheContents) throws(SQLiteFailure) -> Result
    ) throws(CacheStoreError) -> Result? {
        // After a failed wait, a read does not wait at all and a write waits for `turn` at most. In WAL mode a read
        // waits only for a process that holds the file exclusively.
        let start = file?.waiting.now() ?? ContinuousClock.now
        let deadline = start + (isLocked ? access == .read ? .zero : min(patience, Self.turn) : patience)
        var attempt = 0
        while true {
            attempt += 1
            do {
                // Reads check the path only once per `lookInterval`: a file that was put aside a moment ago may still
                // be read.
                let isKnown = access == .read && lookedAt.map { start < $0 + Self.lookInterval } == true
                if !isKnown { lookedAt = nil }
                guard let contents = try usable(for: access, at: now, until: deadline) else { return nil }
                if !isKnown { lookedAt = start }
                if access != .read { contents.waitForLocks(until: deadline) }
                try settle(contents, for: access, at: now)
                contents.waitForLocks(until: deadline)
                let result = try body(contents)
                isLocked = false
                if access == .write { isFull = false }
                return result
            } catch let failure as SQLiteFailure {
                try meet(failure, of: access, attempt: attempt, at: now, until: deadline)
            } catch let error as CacheStoreError {
                if error == .locked { isLocked = true }
                throw error
            } catch {
                throw CacheStoreError.unavailable.with(message: "\(error)")
            }
        }
    }

    /// Returns the open file, and opens it if needed; `nil` if that access is switched off.
    private mutating func usable(
        for access: Access, at now: Int64, until deadline: ContinuousClock.Instant
    ) throws -> SQLiteCacheContents? {
        switch phase {
        case .off(let until, let reason):
            if isAhead(until, of: now) {
                if access == .removal { throw reason }
                return nil
            }
        case .readingOnly(let contents, let until, _):
            // A removal is tried in any case, because it must not be skipped.
            if access == .write, isAhead(until, of: now) { return nil }
            if let contents = current(contents) {
                if access == .write { phase = .open(contents) }
                return contents
            }
        case .open(let contents):
            if let contents = current(contents) { return contents }
        case .shutDown:
            if access == .removal { throw Self.shutDown }
            return nil
        case .closed: break
        }
        if case .off(.max, _) = phase { return nil }
        phase = .closed
        return try opened(at: now, until: deadline)
    }

    /// A clock that was set back also ends the wait.
    private func isAhead(_ until: Int64, of now: Int64) -> Bool {
        until == .max || now < until && now >= until - retryInterval
    }

    /// `nil` if the path names another file now, or if the file was opened before a fork.
    private mutating func current(_ contents: SQLiteCacheContents) -> SQLiteCacheContents? {
        guard contents.isOurs else {
            // The child inherits the parent's table of open files in SQLite, so this process cannot open the file
            // again.
            phase = .off(until: .max, .unavailable.with(message: "the process forked while the cache was open"))
            return nil
        }
        guard lookedAt != nil || contents.identity == file?.identity else { return nil }
        return contents
    }

    private mutating func opened(
        at now: Int64, until deadline: ContinuousClock.Instant
    ) throws -> SQLiteCacheContents? {
        guard let file else { return nil }
        let contents: SQLiteCacheContents
        do {
            switch try file.opened(until: deadline) {
            case .contents(let opened, let damage):
                contents = opened
                if let damage {
                    repairs += 1
                    lastReason = damage
                }
            case .failure(let failure): throw failure
            }
        } catch let error as CacheStoreError {
            if error != .locked { switchOff(error, at: now) }
            throw error
        }
        switch contents.finding {
        case .ours, .empty, .outdated: break
        case .newer:
            let error = CacheStoreError.unavailable.with(
                message: "\(file.path) was written by a newer version of this library")
            switchOff(error, at: now)
            throw error
        case .foreign:
            let error = CacheStoreError.pathRefused.with(message: "\(file.path) is the database of another program")
            switchOff(error, at: now)
            throw error
        }
        phase = .open(contents)
        return contents
    }

    /// Reacts to a failure. Returns if the call is to be retried; otherwise throws.
    private mutating func meet(
        _ failure: SQLiteFailure, of access: Access, attempt: Int, at now: Int64,
        until deadline: ContinuousClock.Instant
    ) throws(CacheStoreError) {
        var remedy = failure.remedy
        // The file was reopened, and still fails.
        if case .reopen(let error) = remedy, attempt > 1 {
            remedy = error == .corrupt ? .replace(error) : .pauseWrites(error)
        }
        // Freeing space did not help. On a full disk the cache is the first thing to give up, so all its records are
        // removed.
        if case .pauseWrites(let error) = remedy, error == .storageFull, access == .write, isFull, attempt == 1 {
            return try replace(error, keeping: false, at: now, until: deadline)
        }
        switch remedy {
        case .report(let error):
            if error == .locked { isLocked = true }
            throw error
        case .pauseWrites(let error):
            lastReason = error
            switch phase {
            case .open(let contents):
                if error == .storageFull {
                    contents.shrink()
                    isFull = true
                }
                phase = .readingOnly(contents, until: later(than: now), error)
            case .readingOnly(let contents, _, _):
                phase = .readingOnly(contents, until: later(than: now), error)
            case .closed, .off, .shutDown:
                switchOff(error, at: now)
            }
            throw error
        case .reopen(let error):
            lastReason = error
            phase = .closed
        case .replace(let error) where attempt < Self.attemptsAtMost:
            try replace(error, keeping: true, at: now, until: deadline)
        case .replace(let error), .switchOff(let error):
            switchOff(error, at: now)
            throw error
        }
    }

    /// Puts the file aside or removes it, unless another process has already done so.
    private mutating func replace(
        _ reason: CacheStoreError, keeping: Bool, at now: Int64, until deadline: ContinuousClock.Instant
    ) throws(CacheStoreError) {
        let opened: SQLiteCacheFile.Identity? =
            switch phase {
            case .open(let contents), .readingOnly(let contents, _, _): contents.identity
            case .closed, .off, .shutDown: nil
            }
        phase = .closed
        lastReason = reason
        do {
            try file?.putAside(ifStill: opened, keeping: keeping, until: deadline)
            repairs += 1
        } catch {
            if error != .locked { switchOff(error, at: now) }
            throw error
        }
    }

    private mutating func switchOff(_ error: CacheStoreError, at now: Int64) {
        lastReason = error
        phase = .off(until: later(than: now), error)
    }

    private func later(than now: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(retryInterval)
        return overflow ? .max - 1 : sum
    }

    /// Writes pending data to the file: times of use and pending removals.
    mutating func flush() {
        if case .open(let contents) = phase, contents.isOurs { contents.writeUses() }
        settleAtLast()
    }

    /// Performs the pending removals before the state is lost: other processes and the next process do not know about
    /// them.
    private mutating func settleAtLast() {
        guard !pending.isEmpty else { return }
        switch phase {
        case .open(let contents) where contents.isOurs, .readingOnly(let contents, _, _) where contents.isOurs:
            contents.waitForLocks(until: nil)
            if (try? contents.remove(pending.all)) != nil { pending.clear() }
        case .closed, .open, .readingOnly, .off, .shutDown: break
        }
    }

    /// Writes pending data to the file and closes it for good.
    mutating func shutDown() {
        settleAtLast()
        switch phase {
        case .open(let contents) where contents.isOurs:
            contents.writeUses()
            contents.checkpoint()
        case .closed, .open, .readingOnly, .off, .shutDown: break
        }
        phase = .shutDown
    }
}
