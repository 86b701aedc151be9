public import Errand
import Glibc
import Synchronization

/// Records in a SQLite database: they outlive the program, and several processes may share the file.
///
/// ```swift
/// let store = SQLiteCacheStore(named: "my-service")        // $XDG_CACHE_HOME/my-service/cache.sqlite
/// ```
///
/// A record is written in one transaction (write-ahead log, `synchronous` `NORMAL`: a power failure may take the last
/// ones, never a part of one), and its checksum is verified when it is read. The least recently used records go where
/// the limit wants it; the order of use is written in batches, so a crash may lose the last of it.
///
/// No failure of the file costs more than the records:
/// - A file that is damaged or no database is renamed to `.damaged` and begun anew.
/// - A full disk or a read-only file ends writing, and whatever else fails ends reading too, until ``retryInterval`` has
///   gone by; ``health`` says so. The call that met the failure throws it; those after it find nothing and write nothing.
/// - A disk that is still full after that time gets the cache's space back: all records go.
/// - What could not be removed, or replaced, is not found by this store any more all the same, and is removed before
///   anything else as soon as the file can be written; beyond 10,000 such removals that is all there is. Only this store
///   knows of them: other processes on the file find those records until then, and so does the next one where this one
///   ended before.
/// - Another program's database, or that of a later version of this library, is left alone.
///
/// Any thread, one call at a time. No call waits for other processes' locks beyond ``busyTimeout``, and where one did so in
/// vain those after it hardly wait until one gets through. After a fork the child has the store switched off if it was in
/// use.
public final class SQLiteCacheStore: CacheStore {
    /// What it holds at most. A record counts by ``/Errand/CacheRecord/byteCount``.
    public struct Limits: Sendable, Hashable {
        /// Bytes of all records: 256 MiB. The file may be larger, by its log (4 MiB) and its indices.
        public var bytes: Int
        /// Bytes of one record: 16 MiB.
        public var bytesPerEntry: Int
        /// How long after it was stored a record may be found, whatever the cache says: 30 days.
        public var age: Duration

        /// Makes limits; 0 or less keeps nothing.
        public init(bytes: Int = 256 << 20, bytesPerEntry: Int = 16 << 20, age: Duration = .seconds(30 * 24 * 3600)) {
            self.bytes = bytes
            self.bytesPerEntry = bytesPerEntry
            self.age = age
        }

        var ageInMilliseconds: Int64 {
            let (milliseconds, overflow) = age.components.seconds.multipliedReportingOverflow(by: 1000)
            return overflow ? .max : max(0, milliseconds)
        }
    }

    /// The database's file; `nil` where there is no place for one, as ``health`` then says.
    public let path: String?
    /// What it holds at most.
    public let limits: Limits
    /// How long a call waits for other processes and threads: 500 ms.
    public let busyTimeout: Duration
    /// For how long it does without what failed: 60 s.
    public let retryInterval: Duration

    private let now: @Sendable () -> Int64
    private let state: Mutex<SQLiteCacheState>

    /// A store in the user's directory for caches: `$XDG_CACHE_HOME/NAME/cache.sqlite`, or `~/.cache/NAME/cache.sqlite`.
    ///
    /// The directory is made when the store is used first, for its owner alone (mode 0700). Nothing fails here.
    ///
    /// - Parameters:
    ///   - name: The directory's name, usually the program's.
    ///   - directoryFilters: Each gets the directory's path and gives another, in their order. YTKNetwork:
    ///     `cacheDirPathFilters`.
    ///   - limits: What it holds at most.
    ///   - busyTimeout: How long a call waits for other processes and threads.
    ///   - retryInterval: For how long it does without what failed.
    public convenience init(
        named name: String, directoryFilters: [@Sendable (String) -> String] = [], limits: Limits = Limits(),
        busyTimeout: Duration = .milliseconds(500), retryInterval: Duration = .seconds(60)
    ) {
        self.init(limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval, now: Self.wallClock) {
            () throws(CacheStoreError) in
            try SQLiteCacheDirectory.path(named: name, filters: directoryFilters) + "/cache.sqlite"
        }
    }

    /// A store in that file, whose directory is made where it is missing. Nothing fails here.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - limits: What it holds at most.
    ///   - busyTimeout: How long a call waits for other processes and threads.
    ///   - retryInterval: For how long it does without what failed.
    public convenience init(
        path: String, limits: Limits = Limits(), busyTimeout: Duration = .milliseconds(500),
        retryInterval: Duration = .seconds(60)
    ) {
        self.init(
            path: path, limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval, now: Self.wallClock)
    }

    /// `now` gives milliseconds since 1970.
    package convenience init(
        path: String, limits: Limits = Limits(), busyTimeout: Duration = .milliseconds(500),
        retryInterval: Duration = .seconds(60), now: @escaping @Sendable () -> Int64
    ) {
        self.init(
            path: path, limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval,
            waiting: SQLiteWaiting(), now: now)
    }

    /// `waiting` counts and spends the time for locks.
    convenience init(
        path: String, limits: Limits = Limits(), busyTimeout: Duration = .milliseconds(500),
        retryInterval: Duration = .seconds(60), waiting: SQLiteWaiting, now: @escaping @Sendable () -> Int64
    ) {
        self.init(limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval, waiting: waiting, now: now) {
            () throws(CacheStoreError) in
            try SQLiteCacheDirectory.checked(path)
        }
    }

    private init(
        limits: Limits, busyTimeout: Duration, retryInterval: Duration, waiting: SQLiteWaiting = SQLiteWaiting(),
        now: @escaping @Sendable () -> Int64, place: () throws(CacheStoreError) -> String
    ) {
        var found: String?
        var refusal: CacheStoreError?
        do throws(CacheStoreError) { found = try place() } catch { refusal = error }
        path = found
        self.limits = limits
        self.busyTimeout = busyTimeout
        self.retryInterval = retryInterval
        self.now = now
        let interval = max(0, min(retryInterval.components.seconds, 1 << 40)) * 1000
        state = Mutex(
            SQLiteCacheState(
                file: found.map { SQLiteCacheFile(path: $0, waiting: waiting) }, refusal: refusal,
                patience: busyTimeout,
                retryInterval: interval))
    }

    deinit {
        flush()
    }

    /// Writes to the file which records were used last; waits for nobody.
    package func flush() {
        state.withLock { $0.flush() }
    }

    /// Writes to the file what is written lazily, and closes it, as the store's end does by itself. Later calls find and
    /// write nothing, and ``health`` is off; a removal throws ``/Errand/CacheStoreError/unavailable``. May be called again.
    ///
    /// Waits for calls of other threads, not for other processes. What waits in a cache on this store comes too late then:
    /// shut down its clients first.
    public func close() {
        state.withLock { $0.shut() }
    }

    /// How it is doing.
    public var health: CacheHealth {
        state.withLock { $0.health }
    }

    @Sendable private static func wallClock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Before which nothing may be found.
    private func oldest(at now: Int64) -> Int64 {
        let oldest = now.subtractingReportingOverflow(limits.ageInMilliseconds)
        return oldest.overflow ? .min : oldest.partialValue
    }
}

// MARK: - The store

extension SQLiteCacheStore {
    /// The record of that key. What is found torn is removed, and is no record.
    ///
    /// Throws what the file failed with: once, then it finds nothing until ``retryInterval`` has gone by.
    public func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
        let now = now()
        let found = try state.withLock { (state) throws(CacheStoreError) -> SQLiteCacheContents.Found? in
            let found = try state.find(key, at: now, oldest: oldest(at: now))
            switch found {
            case .record: state.statistics.hits += 1
            case .torn:
                state.statistics.misses += 1
                state.statistics.discarded += 1
            case .none?, nil: state.statistics.misses += 1
            }
            return found
        }
        if case .record(let record) = found { return record }
        return nil
    }

    /// Stores the record in one transaction, and drops others where the limits want it.
    ///
    /// Throws ``/Errand/CacheStoreError/recordTooLarge`` beyond the limits, and what the file failed with: once, then it
    /// writes nothing until ``retryInterval`` has gone by.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let bytes = record.byteCount
        guard accepts(byteCount: bytes) else {
            // The old one is not what the key stands for any more.
            try remove(key)
            throw CacheStoreError.recordTooLarge.with(
                message: "the record counts for \(bytes) bytes, the limit is \(min(limits.bytesPerEntry, limits.bytes))"
            )
        }
        let encoded: [UInt8]
        do throws(CacheStoreError) {
            encoded = try record.encoded(for: key)
        } catch {
            try remove(key)
            throw error
        }
        let (now, limit) = (now(), limits.bytes)
        try state.withLock { (state) throws(CacheStoreError) in
            let evictions = try state.replace(key, at: now) { (contents) throws(SQLiteFailure) in
                try contents.write(record, encoded: encoded, for: key, at: now, limit: limit, oldest: oldest(at: now))
            }
            state.statistics.evictions += evictions ?? 0
        }
    }

    /// Whether that is within ``Limits/bytesPerEntry`` and ``Limits/bytes``.
    public func accepts(byteCount: Int) -> Bool {
        byteCount <= limits.bytesPerEntry && byteCount <= limits.bytes
    }

    /// Removes that key's record. Returns whether there was one. Throws where it cannot be removed.
    @discardableResult
    public func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        try remove(.key(key)) > 0
    }

    /// Removes the records with that tag. Returns how many. Throws where they cannot be removed.
    @discardableResult
    public func remove(tag: String) throws(CacheStoreError) -> Int {
        try remove(.tag(tag))
    }

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns how many. Throws where they
    /// cannot be removed.
    @discardableResult
    public func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
        try remove(.older(than: instant))
    }

    /// Removes all records and gives their space back. Returns how many. Throws where they cannot be removed.
    @discardableResult
    public func removeAll() throws(CacheStoreError) -> Int {
        try remove(.all)
    }

    /// Removes all records of that namespace and gives their space back. Returns how many. Throws where they cannot be
    /// removed.
    @discardableResult
    public func removeAll(namespace: String) throws(CacheStoreError) -> Int {
        try remove(.namespace(namespace))
    }

    private func remove(_ removal: SQLiteRemoval) throws(CacheStoreError) -> Int {
        let now = now()
        return try state.withLock { (state) throws(CacheStoreError) in try state.remove(removal, at: now) }
    }

    /// What the file holds, other processes' records included, and what this store did. Nothing held while switched off.
    public func statistics() throws(CacheStoreError) -> CacheStatistics {
        let now = now()
        let (total, counts) = try state.withLock {
            (state) throws(CacheStoreError) -> ((entries: Int64, bytes: Int64)?, CacheStatistics) in
            let total = try state.look(at: now) { (contents) throws(SQLiteFailure) in try contents.total() }
            return (total, state.statistics)
        }
        var statistics = counts
        statistics.entries = Int(clamping: total?.entries ?? 0)
        statistics.bytes = Int(clamping: total?.bytes ?? 0)
        return statistics
    }
}
