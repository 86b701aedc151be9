import Glibc
import Synchronization

/// The files that are open in this process, or were open when it was forked.
///
/// SQLite keeps its own table of the locks that it holds. A child inherits the table but not the locks: the child would
/// use a file that was open at the fork as if it held the locks, and two processes could write at once.
enum SQLiteOpenFiles {
    private struct Uses {
        var process: pid_t
        var count: Int
    }

    private static let uses = Mutex<[SQLiteCacheFile.Identity: Uses]>([:])

    /// Registers that the file is about to be opened. Returns whether it may be opened.
    static func enter(_ file: SQLiteCacheFile.Identity) -> Bool {
        uses.withLock { uses in
            var these = uses[file] ?? Uses(process: getpid(), count: 0)
            guard these.process == getpid() else { return false }
            these.count += 1
            uses[file] = these
            return true
        }
    }

    /// Registers that the file was closed.
    static func leave(_ file: SQLiteCacheFile.Identity) {
        uses.withLock { uses in
            guard var these = uses[file], these.process == getpid() else { return }
            these.count -= 1
            uses[file] = these.count > 0 ? these : nil
        }
    }
}
