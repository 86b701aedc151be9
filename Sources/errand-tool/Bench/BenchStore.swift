import Errand
import ErrandSQLite
import Foundation

/// A store in a file of its own, which is removed when the process ends.
enum BenchStore {
    static func make() -> SQLiteCacheStore {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(getpid())")
        path = folder.path
        atexit { if let path = BenchStore.path { try? FileManager.default.removeItem(atPath: path) } }
        return SQLiteCacheStore(path: folder.appendingPathComponent("cache.sqlite").path)
    }

    // Written once, before the run begins, and read when the process ends.
    private nonisolated(unsafe) static var path: String?
}
