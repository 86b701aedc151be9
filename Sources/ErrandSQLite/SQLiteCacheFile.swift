import Errand
import Glibc

/// The database's file among others: making it, telling whether the name is still that of the file that was opened, and
/// putting it aside. The lock is a file of its own: closing any descriptor of the database's would drop SQLite's locks on
/// it (POSIX locks belong to the process).
struct SQLiteCacheFile {
    let path: String
    var waiting = SQLiteWaiting()

    /// Which file has the name.
    struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64

        /// `nil` where there is none.
        init?(path: String) {
            var information = stat()
            guard stat(path, &information) == 0 else { return nil }
            device = UInt64(information.st_dev)
            inode = UInt64(information.st_ino)
        }
    }

    var identity: Identity? { Identity(path: path) }

    /// An empty file (mode 0600) where there is none.
    func make() throws(CacheStoreError) {
        // Never opened where it exists: see above.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            // Of a file that has the name no more, where whoever put it aside was killed in between.
            removeLog()
            return
        }
        let number = errno
        var information = stat()
        guard stat(path, &information) == 0 else { throw Self.error(number, "cannot make \(path)") }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw CacheStoreError.pathRefused.with(message: "\(path) is no file")
        }
    }

    /// What SQLite keeps beside the file. It takes a log for that of any file of the name that has pages, for its salts are
    /// in the log alone; and an index (-shm) that another process has open still tells of pages in a log that is gone.
    func removeLog() {
        unlink(path + "-wal")
        unlink(path + "-shm")
    }

    static func makeDirectory(_ path: String) throws(CacheStoreError) {
        var information = stat()
        if stat(path, &information) == 0 {
            guard information.st_mode & S_IFMT == S_IFDIR else {
                throw CacheStoreError.pathRefused.with(message: "\(path) is no directory")
            }
            return
        }
        let parent = parent(of: path)
        if parent != path { try makeDirectory(parent) }
        // Another process may have made it by now.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw error(errno, "cannot make \(path)")
        }
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    static func error(_ number: Int32, _ what: String) -> CacheStoreError {
        let text = "\(what): \(String(cString: strerror(number)))"
        return switch number {
        case ENOSPC, EDQUOT, EFBIG: .storageFull.with(message: text)
        case EROFS: .readOnly.with(message: text)
        default: .pathRefused.with(message: text)
        }
    }

    /// Runs `body` alone among all processes that open or replace the file. Waits until `deadline` at most. Where the
    /// lock's file cannot be made the directory cannot be written, and so nobody can replace anything.
    func exclusively<Result>(
        until deadline: ContinuousClock.Instant, _ body: () throws(CacheStoreError) -> Result
    ) throws(CacheStoreError) -> Result {
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return try body() }
        // Closing it unlocks it.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return try body() }
            guard waiting.now() < deadline else {
                throw CacheStoreError.locked.with(message: "\(path).lock is held by another process")
            }
            waiting.sleep(.milliseconds(2))
        }
        return try body()
    }
}
