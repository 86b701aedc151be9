import CSQLite
import Errand
import ErrandSQLite
import ErrandTesting
import Glibc

/// What is unkind to others.
extension CacheProbe {
    /// Glibc's has no name in Swift, as threads do not come along; this program has one.
    @_silgen_name("fork") private static func forked() -> pid_t

    static func fork(with store: SQLiteCacheStore, path: String) {
        var ours: SQLiteCacheStore? = store
        use(store, "before")
        fflush(nil)
        let child = forked()
        guard child == 0 else {
            var status: Int32 = 0
            guard waitpid(child, &status, 0) == child, status == 0 else { exit(7) }
            use(store, "parent")
            return tell(store)
        }
        use(store, "child")
        tell(store)
        use(SQLiteCacheStore(path: path), "another of the child's")
        use(SQLiteCacheStore(path: path + ".other"), "the child's own file")
        ours = nil
        _ = ours
        fflush(nil)
        _exit(0)
    }

    private static func use(_ store: SQLiteCacheStore, _ who: String) {
        let key = ProbeRecord.key(1)
        var met: [String] = []
        do throws(CacheStoreError) { try store.write(ProbeRecord.record(1, version: 1), for: key) } catch {
            met.append("write \(error.shortDescription)")
        }
        do throws(CacheStoreError) { met.append(try store.read(key) == nil ? "nothing" : "found") } catch {
            met.append("read \(error.shortDescription)")
        }
        do throws(CacheStoreError) { try store.remove(ProbeRecord.key(2)) } catch {
            met.append("remove \(error.shortDescription)")
        }
        print("\(who): \(met.joined(separator: ", "))")
    }

    static func lock(_ path: String) -> Never {
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK,
            sqlite3_exec(
                database, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE total SET bytes = bytes; COMMIT",
                nil, nil, nil) == SQLITE_OK
        else { exit(2) }
        print("locked")
        fflush(nil)
        while true {
            endIfAbandoned()
            // Pause: nothing is to be done but to hold the lock.
            usleep(100_000)
        }
    }

    static func damage(_ path: String, seed: UInt64) {
        var numbers = SeededGenerator(seed: seed)
        let file = open(path, O_WRONLY | O_CLOEXEC)
        let size = lseek(file, 0, SEEK_END)
        guard file >= 0, size > 0 else { exit(2) }
        for _ in 0..<200 {
            var byte = UInt8.random(in: 0...255, using: &numbers)
            guard pwrite(file, &byte, 1, Int.random(in: 0..<size, using: &numbers)) == 1 else { exit(2) }
        }
    }
}
