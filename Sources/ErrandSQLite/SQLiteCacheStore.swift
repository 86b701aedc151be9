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
/// - Another program's database, or that of a later version of this library, is left alone.
///
/// Any thread, one call at a time. No call waits for other processes' locks beyond ``busyTimeout``, and where one did so in
/// vain those after it hardly wait until one gets through. After a fork the child has the store switched off if it was in
/// use.
public final class SQLiteCacheStore: CacheStore {
    /// What it holds at most. A record counts by ``Errand/CacheRecord/byteCount``.
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
        self.init(limits: limits, busyTimeout: busyTimeout, retryInterval: retryInterval, now: now) {
            () throws(CacheStoreError) in
            try SQLiteCacheDirectory.checked(path)
        }
    }

    private init(
        limits: Limits, busyTimeout: Duration, retryInterval: Duration, now: @escaping @Sendable () -> Int64,
        place: () throws(CacheStoreError) -> String
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
                file: found.map { SQLiteCacheFile(path: $0) }, refusal: refusal, patience: busyTimeout,
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
    /// write nothing, and ``health`` is off; a removal throws ``Errand/CacheStoreError/unavailable``. May be called again.
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

    /// Runs `body` on the open file, as ``SQLiteCacheState/perform(_:at:_:)`` says; then `after` on the counts.
    private func perform<Result: Sendable>(
        _ access: SQLiteCacheState.Access,
        _ body: @Sendable (SQLiteCacheContents, Int64, Int64) throws(SQLiteFailure) -> Result,
        after: @Sendable (inout CacheStatistics, Result?) -> Void = { _, _ in }
    ) throws(CacheStoreError) -> Result? {
        let now = now()
        let oldest = now.subtractingReportingOverflow(limits.ageInMilliseconds)
        return try state.withLock { (state) throws(CacheStoreError) -> Result? in
            let result = try state.perform(access, at: now) { (contents) throws(SQLiteFailure) -> Result in
                try body(contents, now, oldest.overflow ? .min : oldest.partialValue)
            }
            after(&state.statistics, result)
            return result
        }
    }
}

// MARK: - The store

extension SQLiteCacheStore {
    /// The record of that key. What is found torn is removed, and is no record.
    ///
    /// Throws what the file failed with: once, then it finds nothing until ``retryInterval`` has gone by.
    public func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
        let found = try perform(
            .read,
            { (contents, now, oldest) throws(SQLiteFailure) in try contents.read(key, at: now, oldest: oldest) }
        ) { statistics, found in
            switch found {
            case .record: statistics.hits += 1
            case .torn:
                statistics.misses += 1
                statistics.discarded += 1
            case .none?, nil: statistics.misses += 1
            }
        }
        if case .record(let record) = found { return record }
        return nil
    }

    /// Stores the record in one transaction, and drops others where the limits want it.
    ///
    /// Throws ``Errand/CacheStoreError/recordTooLarge`` beyond the limits, and what the file failed with: once, then it
    /// writes nothing until ``retryInterval`` has gone by.
    public func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
        let bytes = record.byteCount
        guard bytes <= limits.bytesPerEntry, bytes <= limits.bytes else {
            // The old one is not what the key stands for any more.
            try remove(key)
            throw CacheStoreError.recordTooLarge.with(
                message: "the record counts for \(bytes) bytes, the limit is \(min(limits.bytesPerEntry, limits.bytes))"
            )
        }
        let encoded = try record.encoded(for: key)
        let limit = limits.bytes
        _ = try perform(
            .write,
            { (contents, now, oldest) throws(SQLiteFailure) in
                try contents.write(record, encoded: encoded, for: key, at: now, limit: limit, oldest: oldest)
            }
        ) { $0.evictions += $1 ?? 0 }
    }

    /// Removes that key's record. Returns whether there was one. Throws where it cannot be removed.
    @discardableResult
    public func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
        try remove(.removeKey, [.text(key.namespace), .text(key.digest)]) > 0
    }

    /// Removes the records with that tag. Returns how many. Throws where they cannot be removed.
    @discardableResult
    public func remove(tag: String) throws(CacheStoreError) -> Int {
        try remove(.removeTag, [.text(tag)])
    }

    /// Removes the records stored before that instant, in milliseconds since 1970. Returns how many. Throws where they
    /// cannot be removed.
    @discardableResult
    public func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
        try remove(.removeOld, [.integer(instant)])
    }

    /// Removes all records and gives their space back. Returns how many. Throws where they cannot be removed.
    @discardableResult
    public func removeAll() throws(CacheStoreError) -> Int {
        try remove(.removeAll, [])
    }

    /// Removes all records of that namespace and gives their space back. Returns how many. Throws where they cannot be
    /// removed.
    @discardableResult
    public func removeAll(namespace: String) throws(CacheStoreError) -> Int {
        try remove(.removeNamespace, [.text(namespace)])
    }

    private func remove(_ statement: SQLiteStatement, _ values: [SQLiteValue]) throws(CacheStoreError) -> Int {
        try perform(
            .removal,
            { (contents, _, _) throws(SQLiteFailure) in
                try contents.remove(statement, values)
            }) ?? 0
    }

    /// What the file holds, other processes' records included, and what this store did. Nothing held while switched off.
    public func statistics() throws(CacheStoreError) -> CacheStatistics {
        let total = try perform(
            .read,
            { (contents, _, _) throws(SQLiteFailure) -> [Int64] in
                let total = try contents.total()
                return [total.entries, total.bytes]
            })
        var statistics = state.withLock { $0.statistics }
        statistics.entries = Int(clamping: total?.first ?? 0)
        statistics.bytes = Int(clamping: total?.last ?? 0)
        return statistics
    }
}
