public import Errand
import Glibc
import Synchronization

/// A cache store in a SQLite database. The records outlive the program, and several processes may share the file.
///
/// ```swift
/// let store = SQLiteCacheStore(named: "my-service")        // $XDG_CACHE_HOME/my-service/cache.sqlite
/// ```
///
/// Each record is written in one transaction (write-ahead log, `synchronous` `NORMAL`: a power failure may lose the
/// last records, but never leaves a part of one). Its checksum is verified when the record is read. When the store
/// exceeds its limits, the least recently used records are removed. The order of use is written in batches, so a crash
/// may lose the latest changes to that order.
///
/// A failure of the file loses at most the cached records:
/// - A file that is damaged or is not a database is renamed to `.damaged`, and the store begins a new file.
/// - After a full disk or a read-only file the store stops writing; after any other failure it also stops reading. Both
///   last until ``retryInterval`` has passed, and ``health`` reports them. The call that met the failure throws it;
///   later calls find nothing and write nothing.
/// - If the disk is still full after that time, the store removes all records to free the cache's space.
/// - A record that could not be removed or replaced is hidden: this store no longer returns it. The store removes
///   hidden records before anything else as soon as the file can be written. After more than 10,000 such removals all
///   records are hidden and then removed. Only this store knows which records are hidden: until they are removed, other
///   processes that use the file still find them. The next process finds them too if this one ends before it removed
///   them.
/// - A database of another program, or of a later version of this library, is left unchanged.
///
/// Methods may be called from any thread; calls run one at a time. A call waits at most ``busyTimeout`` for locks that
/// other processes hold. After such a wait has timed out, later calls wait only briefly until one of them gets the
/// lock. If the store was in use when the process forked, it is switched off in the child.
public final class SQLiteCacheStore: CacheStore {
    /// The limits of the store. The size of a record is its ``/Errand/CacheRecord/byteCount``.
    public struct Limits: Sendable, Hashable {
        /// Bytes of all records; default 256 MiB. The file may be larger, because of its log (4 MiB) and its indices.
        public var bytes: Int
        /// Bytes of one record; default 16 MiB.
        public var bytesPerEntry: Int
        /// How long a record may be found after it was stored, whatever lifetime the cache asks for; default 30 days.
        public var age: Duration

        /// Makes limits. With a limit of 0 or less the store keeps nothing.
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

    /// The path of the database file; `nil` if no path could be determined. ``health`` then reports this.
    public let path: String?
    /// The limits of the store.
    public let limits: Limits
    /// How long a call waits for other processes and threads; default 500 ms.
    public let busyTimeout: Duration
    /// How long the store avoids an operation (writing, or the whole file) after it failed; default 60 s.
    public let retryInterval: Duration

    private let now: @Sendable () -> Int64
    private let state: Mutex<SQLiteCacheState>

    /// A store in the user's directory for caches: `$XDG_CACHE_HOME/NAME/cache.sqlite`, or `~/.cache/NAME/cache.sqlite`.
    ///
    /// The directory is made when the store is first used, accessible only to its owner (mode 0700). Creating the store
    /// never fails.
    ///
    /// - Parameters:
    ///   - name: The directory's name, usually the program's name.
    ///   - directoryFilters: Functions that are called in order; each receives the directory's path and returns another
    ///     path. YTKNetwork: `cacheDirPathFilters`.
    ///   - limits: The limits of the store.
    ///   - busyTimeout: How long a call waits for other processes and threads.
    ///   - retryInterval: How long the store avoids an operation after it failed.
    public convenience init(
        named name: String, directoryFilters: [@Sendable (String) -> String] = [], limits: Limits = Limits(),
        busyTimeout: Duration = .milliseconds(500), retryInterval: Duration = .seconds(60)
    ) {
        self.init(limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval, now: Self.wallClock) {
            () throws(CacheStoreError) in
            try SQLiteCacheDirectory.path(named: name, filters: directoryFilters) + "/cache.sqlite"
        }
    }

    /// A store in the file at `path`. The directory is made if it is missing. Creating the store never fails.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - limits: The limits of the store.
    ///   - busyTimeout: How long a call waits for other processes and threads.
    ///   - retryInterval: How long the store avoids an operation after it failed.
    public convenience init(
        path: String, limits: Limits = Limits(), busyTimeout: Duration = .milliseconds(500),
        retryInterval: Duration = .seconds(60)
    ) {
        self.init(
            path: path, limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval, now: Self.wallClock)
    }

    /// `now` returns milliseconds since 1970.
    package convenience init(
        path: String, limits: Limits = Limits(), busyTimeout: Duration = .milliseconds(500),
        retryInterval: Duration = .seconds(60), now: @escaping @Sendable () -> Int64
    ) {
        self.init(
            path: path, limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval,
            waiting: SQLiteWaiting(), now: now)
    }

    /// `waiting` provides the clock and the sleep for waits on locks.
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

    /// Writes the noted times of use and pending removals to the file. Does not wait for locks of other processes.
    package func flush() {
        state.withLock { $0.flush() }
    }

    /// Writes pending data (times of use and removals) to the file and closes it. The store also does this when it is
    /// deinitialized. After `close()`, calls find and write nothing, ``health`` is off, and a removal throws
    /// ``/Errand/CacheStoreError/unavailable``. May be called more than once.
    ///
    /// Waits for calls on other threads, but not for other processes. Writes that a cache still has queued for this
    /// store are lost: shut down the clients of that cache first.
    public func close() {
        state.withLock { $0.shutDown() }
    }

    /// The current health of the store.
    public var health: CacheHealth {
        state.withLock { $0.health }
    }

    @Sendable private static func wallClock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Records stored before this time must not be found.
    private func oldest(at now: Int64) -> Int64 {
        let oldest = now.subtractingReportingOverflow(limits.ageInMilliseconds)
        return oldest.overflow ? .min : oldest.partialValue
    }
}

// MARK: - The store

extension SQLiteCacheStore {
    /// Returns the record for `key`. A torn record is removed and reported as a miss.
    ///
    /// Throws the failure of the file once; after that the store finds nothing until ``retryInterval`` has passed.
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

    /// `nil`: every read accesses the file.
    public func readAtOnce(_ key: CacheKey) -> CacheRecord? { nil }

    /// False: calls wait for the disk, and for other processes.
    public var answersAtOnce: Bool { false }

    /// Stores the record in one transaction, and removes other records if the limits require it.
    ///
    /// Throws ``/Errand/CacheStoreError/recordTooLarge`` for a record beyond the limits. Throws the failure of the file
    /// once; after that the store writes nothing until ``retryInterval`` has passed.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let bytes = record.byteCount
        guard accepts(byteCount: bytes) else {
            // The old record is outdated, although the new one cannot be stored.
            try remove(key)
            throw CacheStoreError.recordTooLarge.with(
                message:
                    "the record has \(bytes) bytes, more than the limit of \(min(limits.bytesPerEntry, limits.bytes))"
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

    /// Whether a record of that size is within ``Limits/bytesPerEntry`` and ``Limits/bytes``.
    public func accepts(byteCount: Int) -> Bool {
        byteCount <= limits.bytesPerEntry && byteCount <= limits.bytes
    }

    /// Removes the record for `key`. Returns whether there was one. Throws if it cannot be removed.
    @discardableResult
    public func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        try remove(.key(key)) > 0
    }

    /// Removes the records with that tag. Returns how many were removed. Throws if they cannot be removed.
    @discardableResult
    public func remove(tag: String) throws(CacheStoreError) -> Int {
        try remove(.tag(tag))
    }

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns how many were removed.
    /// Throws if they cannot be removed.
    @discardableResult
    public func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
        try remove(.older(than: instant))
    }

    /// Removes all records and returns their space to the disk. Returns how many were removed. Throws if they cannot
    /// be removed.
    @discardableResult
    public func removeAll() throws(CacheStoreError) -> Int {
        try remove(.all)
    }

    /// Removes all records of that namespace and returns their space to the disk. Returns how many were removed. Throws
    /// if they cannot be removed.
    @discardableResult
    public func removeAll(namespace: String) throws(CacheStoreError) -> Int {
        try remove(.namespace(namespace))
    }

    private func remove(_ removal: SQLiteRemoval) throws(CacheStoreError) -> Int {
        let now = now()
        return try state.withLock { (state) throws(CacheStoreError) in try state.remove(removal, at: now) }
    }

    /// The number and size of the records in the file, including those of other processes, and the counters of this
    /// store. While the store is switched off, the number and size are 0.
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
