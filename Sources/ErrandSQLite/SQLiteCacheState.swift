import Errand

/// What a ``SQLiteCacheStore`` guards: whether the file is open, and what to do when it fails.
struct SQLiteCacheState {
    private enum Phase {
        /// The next call opens it.
        case closed
        case open(SQLiteCacheContents)
        /// Nothing is written until then.
        case readingOnly(SQLiteCacheContents, until: Int64, CacheStoreError)
        case off(until: Int64, CacheStoreError)
        /// By its owner, for good.
        case shut
    }

    enum Access {
        case read
        /// May be left out.
        case write
        /// May not be left out unnoticed.
        case removal
    }

    private let file: SQLiteCacheFile?
    private let patience: Duration
    private let retryInterval: Int64
    private var phase = Phase.closed
    /// The last call met another's lock for as long as it may wait: those that follow hardly wait, or all of them together
    /// would wait without end.
    private var isLocked = false
    /// The last write met a full disk.
    private var isFull = false
    /// When it was last made sure that the file's name is still that of the one in use; `nil` where that is due.
    private var lookedAt: ContinuousClock.Instant?
    private var repairs = 0
    private var lastReason: CacheStoreError?
    private var owed = SQLiteOwedRemovals()
    /// What happened since it was made; what is held is in the file.
    var statistics = CacheStatistics()

    private static let shut = CacheStoreError.unavailable.with(message: "the cache was closed")
    /// More failures than that in one call, and it is switched off.
    private static let attemptsAtMost = 3
    /// How long a write waits for a lock that the call before it waited for in vain.
    private static let turn = Duration.milliseconds(20)
    private static let lookInterval = Duration.milliseconds(10)

    /// `file` may be `nil` only together with the reason, for good.
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
        case .shut: CacheHealth(.off, reason: Self.shut, repairs: repairs)
        }
    }

    /// What is found under a key, stored no longer ago than `oldest`; `nil` where reading is switched off.
    mutating func find(
        _ key: CacheKey, at now: Int64, oldest: Int64
    ) throws(CacheStoreError) -> SQLiteCacheContents.Found? {
        let found = try attempt(.read, at: now) { (contents) throws(SQLiteFailure) in
            try contents.read(key, at: now, oldest: oldest)
        }
        guard !owed.isEmpty, case .record(let record)? = found, owed.contain(record, under: key) else { return found }
        return SQLiteCacheContents.Found.none
    }

    /// Runs `body` on the open file to look at it; `nil` where reading is switched off.
    mutating func look<Result>(
        at now: Int64, _ body: (SQLiteCacheContents) throws(SQLiteFailure) -> Result
    ) throws(CacheStoreError) -> Result? {
        try attempt(.read, at: now, body)
    }

    /// Runs `body` on the open file to write what replaces what is there under that key: where it is not written, for
    /// whatever reason, the old record is not found any more either. `nil` where writing is switched off.
    mutating func replace<Result>(
        _ key: CacheKey, at now: Int64, _ body: (SQLiteCacheContents) throws(SQLiteFailure) -> Result
    ) throws(CacheStoreError) -> Result? {
        do throws(CacheStoreError) {
            let result = try attempt(.write, at: now, body)
            if result == nil { owe(.key(key)) }
            return result
        } catch {
            owe(.key(key))
            throw error
        }
    }

    /// Removes from the file, now or, where that throws, as soon as it can be done. Returns how many records are gone.
    mutating func remove(_ removal: SQLiteRemoval, at now: Int64) throws(CacheStoreError) -> Int {
        do throws(CacheStoreError) {
            return try attempt(.removal, at: now) { (contents) throws(SQLiteFailure) in
                try contents.remove([removal])
            } ?? 0
        } catch {
            owe(removal)
            throw error
        }
    }

    private mutating func owe(_ removal: SQLiteRemoval) {
        switch phase {
        case .open(let contents), .readingOnly(let contents, _, _):
            // A file that is never written would come to owe all that is asked for, though it has none of it.
            if case .key(let key) = removal, contents.isOurs, (try? contents.has(key)) == false { return }
        // Nothing is read any more.
        case .off(until: .max, _), .shut: return
        case .closed, .off: break
        }
        owed.add(removal)
    }

    /// Makes the removals that are owed. A reader does so in passing: it waits for nobody, and finds nothing of them anyway.
    private mutating func settle(
        _ contents: SQLiteCacheContents, for access: Access, at now: Int64
    ) throws(SQLiteFailure) {
        guard !owed.isEmpty else { return }
        guard access == .read else {
            try contents.remove(owed.all)
            return owed.clear()
        }
        guard case .open = phase else { return }
        contents.waitForLocks(until: nil)
        do {
            try contents.remove(owed.all)
            owed.clear()
        } catch {
            switch error.remedy {
            case .tell: break
            case .pauseWrites(let reason):
                lastReason = reason
                phase = .readingOnly(contents, until: later(than: now), reason)
            case .reopen, .replace, .switchOff: throw error
            }
        }
    }

    /// Runs `body` on the open file, which is opened, reopened or replaced where needed. `nil` where reading or writing is
    /// switched off; a removal throws then. Waits for no longer than `patience` in all.
    private mutating func attempt<Result>(
        _ access: Access, at now: Int64, _ body: (SQLiteCacheContents) throws(SQLiteFailure) -> Result
    ) throws(CacheStoreError) -> Result? {
        // A reader waits for nobody, but for one that has the file for itself; writers get their turn.
        let start = file?.waiting.now() ?? ContinuousClock.now
        let deadline = start + (isLocked ? access == .read ? .zero : min(patience, Self.turn) : patience)
        var attempt = 0
        while true {
            attempt += 1
            do {
                // What was put aside a moment ago is no worse to read than a moment ago.
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

    /// The open file, opened now if it is not; `nil` where that access is switched off.
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
            // A removal is tried all the same: it may not be left out.
            if access == .write, isAhead(until, of: now) { return nil }
            if let contents = current(contents) {
                if access == .write { phase = .open(contents) }
                return contents
            }
        case .open(let contents):
            if let contents = current(contents) { return contents }
        case .shut:
            if access == .removal { throw Self.shut }
            return nil
        case .closed: break
        }
        if case .off(.max, _) = phase { return nil }
        phase = .closed
        return try opened(at: now, until: deadline)
    }

    /// A clock that was set back ends a wait, too.
    private func isAhead(_ until: Int64, of now: Int64) -> Bool {
        until == .max || now < until && now >= until - retryInterval
    }

    /// `nil` where the name is that of another file now, or where another process opened it before a fork.
    private mutating func current(_ contents: SQLiteCacheContents) -> SQLiteCacheContents? {
        guard contents.isOurs else {
            // SQLite's table of open files is the parent's, so this process cannot open it again.
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
            let error = CacheStoreError.unavailable.with(message: "\(file.path) is of a newer version of this library")
            switchOff(error, at: now)
            throw error
        case .foreign:
            let error = CacheStoreError.pathRefused.with(message: "\(file.path) is another program's database")
            switchOff(error, at: now)
            throw error
        }
        phase = .open(contents)
        return contents
    }

    /// Returns where the call is to be tried again.
    private mutating func meet(
        _ failure: SQLiteFailure, of access: Access, attempt: Int, at now: Int64,
        until deadline: ContinuousClock.Instant
    ) throws(CacheStoreError) {
        var remedy = failure.remedy
        // Opened anew, and still not as it should be.
        if case .reopen(let error) = remedy, attempt > 1 {
            remedy = error == .corrupt ? .replace(error) : .pauseWrites(error)
        }
        // Making room did not help, and of all that is on a full disk a cache is what should go first.
        if case .pauseWrites(let error) = remedy, error == .storageFull, access == .write, isFull, attempt == 1 {
            return try replace(error, keeping: false, at: now, until: deadline)
        }
        switch remedy {
        case .tell(let error):
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
            case .closed, .off, .shut:
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

    /// Puts the file aside or removes it, unless another process has done so.
    private mutating func replace(
        _ reason: CacheStoreError, keeping: Bool, at now: Int64, until deadline: ContinuousClock.Instant
    ) throws(CacheStoreError) {
        let opened: SQLiteCacheFile.Identity? =
            switch phase {
            case .open(let contents), .readingOnly(let contents, _, _): contents.identity
            case .closed, .off, .shut: nil
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

    /// Writes what is written lazily.
    mutating func flush() {
        if case .open(let contents) = phase, contents.isOurs { contents.writeUses() }
        settleAtLast()
    }

    /// Others that use the file know nothing of what is owed, nor does the next process.
    private mutating func settleAtLast() {
        guard !owed.isEmpty else { return }
        switch phase {
        case .open(let contents) where contents.isOurs, .readingOnly(let contents, _, _) where contents.isOurs:
            contents.waitForLocks(until: nil)
            if (try? contents.remove(owed.all)) != nil { owed.clear() }
        case .closed, .open, .readingOnly, .off, .shut: break
        }
    }

    /// Writes what is written lazily, and closes the file for good.
    mutating func shut() {
        settleAtLast()
        switch phase {
        case .open(let contents) where contents.isOurs:
            contents.writeUses()
            contents.checkpoint()
        case .closed, .open, .readingOnly, .off, .shut: break
        }
        phase = .shut
    }
}
