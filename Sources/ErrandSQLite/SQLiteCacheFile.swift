import Errand
import Glibc

/// The database's file in the file system: creates it, checks whether its path still names the file that was opened,
/// and puts it aside. The lock is a separate file: closing any descriptor of the database's file would drop SQLite's
/// locks on it, because POSIX locks belong to the process.
struct SQLiteCacheFile {
    let path: String
    var waiting = SQLiteWaiting()

    /// Identifies the file that has this path.
    struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64

        /// `nil` if there is no such file.
        init?(path: String) {
            var information = stat()
            guard stat(path, &information) == 0 else { return nil }
            device = UInt64(information.st_dev)
            inode = UInt64(information.st_ino)
        }
    }

    var identity: Identity? { Identity(path: path) }

    /// Creates an empty file (mode 0600) if there is none.
    func make() throws(CacheStoreError) {
        // An existing file is never opened here: closing the descriptor would drop SQLite's locks (see above).
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            // Removes the log of an earlier file of this name. Such a log is left over if the process that put that
            // file aside was killed in between.
            removeLog()
            return
        }
        let number = errno
        var information = stat()
        guard stat(path, &information) == 0 else { throw Self.error(number, "cannot create \(path)") }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw CacheStoreError.pathRefused.with(message: "\(path) is not a file")
        }
    }

    /// Removes the log (-wal) and its index (-shm). SQLite applies a leftover log to any file of that name that has
    /// pages, because the log's salts are stored only in the log. An index that another process has open still lists
    /// pages of a log that is gone.
    func removeLog() {
        unlink(path + "-wal")
        unlink(path + "-shm")
    }

    static func makeDirectory(_ path: String) throws(CacheStoreError) {
        guard let failure = Directories.make(path, mode: 0o700) else { return }
        throw error(failure.error.number, "cannot create \(failure.path)")
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    static func error(_ number: Int32, _ problem: String) -> CacheStoreError {
        let failure = SystemError(number)
        let text = "\(problem): \(failure.text)"
        let kind: CacheStoreError = failure.isOutOfSpace ? .storageFull : number == EROFS ? .readOnly : .pathRefused
        return kind.with(message: text)
    }

    /// Runs `body` under the lock file, so that only one process opens or replaces the database file at a time. Waits
    /// until `deadline` at most. If the lock file cannot be created, `body` runs without the lock: the directory is not
    /// writable then, so no process can replace the database file.
    func exclusively<Result>(
        until deadline: ContinuousClock.Instant, _ body: () throws(CacheStoreError) -> Result
    ) throws(CacheStoreError) -> Result {
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return try body() }
        // A child process that another thread forks has this descriptor, and with it the lock, until the child calls
        // exec. Unlocking ends the lock for both, closing only for this process.
        defer {
            _ = flock(descriptor, LOCK_UN)
            close(descriptor)
        }
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
