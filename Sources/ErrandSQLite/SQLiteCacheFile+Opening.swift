import Errand
import Glibc

extension SQLiteCacheFile {
    /// How opening went.
    enum Opening {
        /// `damage` where the file that was there had to be put aside.
        case contents(SQLiteCacheContents, damage: CacheStoreError?)
        case failure(SQLiteFailure)
    }

    /// Opens the file, made where it is missing and made anew where it is no database or a damaged one; alone among all
    /// processes that do so.
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

    /// Renames the file to `.damaged`, in place of an earlier one, or removes it; unless another process has done so: then
    /// the name is no longer that of the file that was `opened`.
    func putAside(
        ifStill opened: Identity?, keeping: Bool, until deadline: ContinuousClock.Instant
    ) throws(CacheStoreError) {
        try exclusively(until: deadline) { () throws(CacheStoreError) in
            if identity == opened { try putAside(keeping: keeping) }
        }
    }

    private func putAside(keeping: Bool) throws(CacheStoreError) {
        // Its log last: without it the file would be an older one, with what was removed since, for whoever opens it after
        // a kill in between, or where it cannot be renamed.
        guard (keeping ? rename(path, path + ".damaged") : unlink(path)) == 0 || errno == ENOENT else {
            throw Self.error(errno, "cannot put \(path) aside")
        }
        removeLog()
    }
}
