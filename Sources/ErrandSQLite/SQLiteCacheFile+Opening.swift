import Errand
import Glibc

extension SQLiteCacheFile {
    /// The result of opening the file.
    enum Opening {
        /// `damage` is set if an existing file was damaged and had to be put aside.
        case contents(SQLiteCacheContents, damage: CacheStoreError?)
        case failure(SQLiteFailure)
    }

    /// Opens the file. A missing file is created; a file that is damaged or is not a database is replaced by a new one.
    /// Holds the file's lock, so that only one process opens or replaces the file at a time.
    func opened(until deadline: ContinuousClock.Instant) throws(CacheStoreError) -> Opening {
        try Self.makeDirectory(Self.parent(of: path))
        return try exclusively(until: deadline) { () throws(CacheStoreError) -> Opening in
            try make()
            do throws(SQLiteFailure) {
                return .contents(try SQLiteCacheContents(self, until: deadline), damage: nil)
            } catch {
                guard case .replace(let damage) = error.remedy else { return .failure(error) }
                try putAside(keeping: true)
                try make()
                do throws(SQLiteFailure) {
                    return .contents(try SQLiteCacheContents(self, until: deadline), damage: damage)
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    /// Renames the file to `.damaged`, replacing an earlier one, or removes it. Does nothing if another process has
    /// already done so: the path then no longer names the file that was `opened`.
    func putAside(
        ifStill opened: Identity?, keeping: Bool, until deadline: ContinuousClock.Instant
    ) throws(CacheStoreError) {
        try exclusively(until: deadline) { () throws(CacheStoreError) in
            if identity == opened { try putAside(keeping: keeping) }
        }
    }

    private func putAside(keeping: Bool) throws(CacheStoreError) {
        // The log is removed last. Without its log the database file is an older state, which still has records that
        // were removed since. Another process would open that state if this one were killed in between, or if the file
        // could not be renamed.
        guard (keeping ? rename(path, path + ".damaged") : unlink(path)) == 0 || errno == ENOENT else {
            throw Self.error(errno, "cannot move \(path) aside")
        }
        removeLog()
    }
}
