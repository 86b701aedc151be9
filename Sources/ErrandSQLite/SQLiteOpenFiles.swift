import Glibc
import Synchronization

/// The files that are open in this process, or were when it was forked.
///
/// SQLite keeps a table of its own of what it has locked. A child inherits it but not the locks: a file that was open at
/// the fork would be used in the child as if it were locked, and two processes would write where one may.
enum SQLiteOpenFiles {
    private struct Uses {
        var process: pid_t
        var count: Int
    }

    private static let uses = Mutex<[SQLiteCacheFile.Identity: Uses]>([:])

    /// Notes that the file is to be opened. Returns whether it may be.
    static func enter(_ file: SQLiteCacheFile.Identity) -> Bool {
        uses.withLock { uses in
            var these = uses[file] ?? Uses(process: getpid(), count: 0)
            guard these.process == getpid() else { return false }
            these.count += 1
            uses[file] = these
            return true
        }
    }

    /// Notes that it was closed.
    static func leave(_ file: SQLiteCacheFile.Identity) {
        uses.withLock { uses in
            guard var these = uses[file], these.process == getpid() else { return }
            these.count -= 1
            uses[file] = these.count > 0 ? these : nil
        }
    }
}
