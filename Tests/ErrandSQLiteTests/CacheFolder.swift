import Errand
import ErrandTesting
import Foundation
import Synchronization

@testable import ErrandSQLite

/// A folder that goes with the object, and a store's time that stands still until it is set.
final class CacheFolder: Sendable {
    let url: URL
    let time = Mutex<Int64>(1_000_000)

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("errand-cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { file("cache.sqlite") }

    func file(_ name: String) -> String { url.appendingPathComponent(name).path }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

    func pass(_ milliseconds: Int64) {
        time.withLock { $0 += milliseconds }
    }

    /// - Parameter busyTimeout: The wait for the lock. A child that another test forks has the descriptor of the lock file
    ///   until the child calls `exec`. On a busy machine that takes seconds, so the default is 20 s.
    func store(
        limits: SQLiteCacheStore.Limits = .init(), busyTimeout: Duration = .seconds(20),
        waiting: SQLiteWaiting = SQLiteWaiting()
    ) -> SQLiteCacheStore {
        SQLiteCacheStore(path: path, limits: limits, busyTimeout: busyTimeout, waiting: waiting) { [self] in
            time.withLock { $0 }
        }
    }

    /// Any bytes in the place of a file.
    func put(_ bytes: [UInt8], in name: String = "cache.sqlite") throws {
        try Data(bytes).write(to: url.appendingPathComponent(name))
    }

    func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appendingPathComponent(name)))
    }

    /// What the probe printed, and what it ended with.
    func probe(_ arguments: [String]) throws -> (status: Int32?, text: String) {
        let name = "output-\(UUID().uuidString)"
        try put([], in: name)
        let run = try ProgramRun(Self.probe, arguments, output: file(name))
        let status = run.wait(seconds: 120)
        if status == nil { run.kill() }
        return (status, String(decoding: try bytes(of: name), as: UTF8.self))
    }

    /// Beside the tests, where the package's build puts it.
    static let probe: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("errand-cache-probe").path
    }()
}

/// Time that goes by only where a store waits for a lock.
final class WaitedTime: Sendable {
    private let start = ContinuousClock.now
    private let gone = Mutex(Duration.zero)

    var total: Duration { gone.withLock { $0 } }

    var waiting: SQLiteWaiting {
        SQLiteWaiting(
            now: { [self] in start + total }, sleep: { [self] time in gone.withLock { $0 += time } })
    }
}

/// A key and a record by number.
func key(_ number: Int, namespace: String = "") throws -> CacheKey {
    let text = String(number, radix: 16)
    return try requireValue(
        CacheKey(namespace: namespace, digest: String(repeating: "0", count: 64 - text.count) + text))
}

func record(_ number: Int, bytes: Int = 100, storedAt: Int64 = 1_000_000, tags: [String] = []) -> CacheRecord {
    CacheRecord(
        url: "http://test/\(number)", body: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes),
        storedAt: storedAt, version: Int64(number), tags: tags)
}

struct NoValue: Error {}

func requireValue<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw NoValue() }
    return value
}
