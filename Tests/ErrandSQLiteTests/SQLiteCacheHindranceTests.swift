import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandSQLite

/// What other processes and the system do to a file in use.
@Suite struct SQLiteCacheHindranceTests {
    private let folder: CacheFolder

    init() throws {
        folder = try CacheFolder()
    }

    @Test func afterAForkTheChildDoesWithoutWhatWasOpen() throws {
        let (status, text) = try folder.probe(["fork", folder.path])
        #expect(status == 0)
        #expect(
            text == """
                before: found
                child: nothing, remove unavailable
                health off unavailable
                another of the child's: write unavailable, nothing, remove unavailable
                the child's own file: found
                parent: found
                health working -

                """)
        #expect(try SQLiteConnection(path: folder.path).texts("PRAGMA integrity_check") == ["ok"])
    }

    @Test func aFileThatAnotherProcessHasForItselfIsDoneWithoutUntilItIsFree() throws {
        try folder.store().write(record(1), for: key(1))
        try folder.put([], in: "output")
        let other = try ProgramRun(CacheFolder.probe, ["lock", folder.path], output: folder.file("output"))
        defer { other.kill() }
        try blockUntil("the program has written a line") { try !folder.bytes(of: "output").isEmpty }
        #expect(try String(decoding: folder.bytes(of: "output"), as: UTF8.self) == "locked\n")
        let time = WaitedTime()
        let store = folder.store(busyTimeout: .seconds(1), waiting: time.waiting)
        for _ in 0..<100 {
            #expect(throws: CacheStoreError.locked) { try store.read(key(1)) }
            #expect(throws: CacheStoreError.locked) { try store.write(record(2), for: key(2)) }
        }
        // The first call waited for all of its second, each write after it for its turn, no reader at all.
        #expect(time.total == .seconds(1) + .milliseconds(20) * 100)
        #expect(store.health == .working)
        other.signal(SIGKILL)
        #expect(other.wait() == 128 + SIGKILL)
        // A child that another test forks has the lock's descriptor until it has called `exec`.
        try blockUntil("the store can be read") { (try? store.read(key(1))) != nil }
        #expect(try store.read(key(1)) == record(1))
        try store.write(record(2), for: key(2))
        #expect(try store.read(key(2)) == record(2) && store.health == .working)
    }

    /// Bytes changed in place under an open store, by a process that knows no locks.
    @Test(arguments: 0..<30) func aFileDamagedInUseHeals(seed: UInt64) throws {
        let names = ["cache.sqlite", "cache.sqlite-wal", "cache.sqlite"]
        let store = folder.store()
        for number in 0..<40 { try store.write(record(number, bytes: 2000, tags: ["t"]), for: key(number)) }
        if seed.isMultiple(of: 3) {
            try SQLiteConnection(path: folder.path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        #expect(try folder.probe(["damage", folder.file(names[Int(seed % 3)]), "\(seed)"]).status == 0)
        // The one in use has pages in memory; another sees the file as it is.
        for store in [store, folder.store()] {
            for number in 0..<40 {
                let found = try? store.read(key(number))
                #expect(found == nil || found == record(number, bytes: 2000, tags: ["t"]))
            }
            for number in 0..<40 { try? store.write(record(number, bytes: 2000, tags: ["t"]), for: key(number)) }
            _ = try? store.remove(tag: "t")
            folder.pass(61_000)
        }
        for store in [store, folder.store()] {
            _ = try? store.removeAll()
            folder.pass(61_000)
            try store.write(record(77), for: key(77))
            #expect(try store.read(key(77)) == record(77) && store.health.condition == .working)
        }
    }

    /// The log is checked by SQLite's own sums: what comes behind a change in it is lost, and nothing else. Only a process
    /// that was killed leaves one. Were it killed while the log is written back, the log's damage would be the file's, too.
    @Test(arguments: 0..<6) func aDamagedLogLosesNoMoreThanItsRecords(seed: UInt64) throws {
        let log = folder.file("cache.sqlite-wal")
        #expect(try folder.probe(["log", folder.path, "\(seed)"]).status == 128 + SIGKILL)
        #expect(try 256 << 10..<1 << 20 ~= folder.bytes(of: "cache.sqlite-wal").count)
        #expect(try folder.probe(["damage", log, "\(seed)"]).status == 0)
        let (status, text) = try folder.probe(["verify", folder.path])
        #expect(status == 0, "\(text)")
        let store = folder.store()
        try store.write(record(77), for: key(77))
        #expect(try store.read(key(77)) == record(77) && store.health == .working)
    }

    @Test(.enabled(if: SmallFileSystem.isAllowed)) func aFullFileSystemEndsWritingAndNotReading() throws {
        let place = try SmallFileSystem(at: folder.file("small"), bytes: 1 << 20)
        let folder = folder
        let store = SQLiteCacheStore(path: place.path + "/cache.sqlite") { folder.time.withLock { $0 } }
        var met: CacheStoreError?
        var written = 0
        while met == nil, written < 2000 {
            do throws(CacheStoreError) {
                try store.write(record(written, bytes: 5000), for: numbered(written))
                written += 1
            } catch {
                met = error
            }
        }
        #expect(met == .storageFull && written > 10)
        #expect(store.health == CacheHealth(.readingOnly, reason: .storageFull))
        // What the failing call found full it has made room in.
        #expect(try (0..<written).contains { try store.read(key($0)) == record($0, bytes: 5000) })
        try store.write(record(1, bytes: 9), for: key(1))
        #expect(try store.read(key(1)) != record(1, bytes: 9))
        // Not at once where a child that another test forks has the old file's descriptor until it has called `exec`.
        try blockUntil("no other process holds the files") {
            folder.pass(60_000)
            return (try? store.write(record(1, bytes: 9), for: key(1))) != nil
        }
        #expect(try store.read(key(1)) == record(1, bytes: 9) && store.health.condition == .working)
        store.close()
    }

    @Test(.enabled(if: SmallFileSystem.isAllowed)) func aFileSystemThatIsFullAtTheStartSwitchesTheStoreOff() throws {
        let place = try SmallFileSystem(at: folder.file("small"), bytes: 1 << 20)
        try place.fill()
        let folder = folder
        let store = SQLiteCacheStore(path: place.path + "/cache.sqlite") { folder.time.withLock { $0 } }
        #expect(throws: CacheStoreError.storageFull) { try store.write(record(1), for: key(1)) }
        #expect(try store.read(key(1)) == nil && store.health.condition != .working)
        try place.empty()
        // Not at once where a child that another test forks has a removed file's descriptor until it has called `exec`.
        try blockUntil("no other process holds the files") {
            folder.pass(60_000)
            return (try? store.write(record(1), for: key(1))) != nil
        }
        #expect(try store.read(key(1)) == record(1) && store.health.condition == .working)
        store.close()
    }

    /// For closures with typed throws.
    private func numbered(_ number: Int) throws(CacheStoreError) -> CacheKey {
        do { return try key(number) } catch { throw .unavailable }
    }
}
