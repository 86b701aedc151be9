import CSQLite
import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandSQLite

@Suite struct SQLiteCacheFailureTests {
    private let folder: CacheFolder

    init() throws {
        folder = try CacheFolder()
    }

    @Test func aFileOfGarbageIsPutAsideAndBegunAnew() throws {
        var numbers = SeededGenerator(seed: 1)
        let garbage = (0..<9000).map { _ in UInt8.random(in: 1...255, using: &numbers) }
        try folder.put(garbage)
        let store = folder.store()
        try store.write(record(1), for: key(1))
        #expect(try store.read(key(1)) == record(1))
        #expect(store.health == CacheHealth(.working, reason: .corrupt, repairs: 1))
        #expect(try folder.bytes(of: "cache.sqlite.damaged") == garbage)
    }

    /// A file without its log is an older one: what was removed since would be found again.
    @Test func aFileThatCannotBePutAsideKeepsItsLog() throws {
        let store = folder.store()
        for number in 1...2 { try store.write(record(number), for: key(number)) }
        try store.remove(key(1))
        // Nothing can be given that name.
        try FileManager.default.createDirectory(
            atPath: folder.file("cache.sqlite.damaged"), withIntermediateDirectories: false)
        let file = SQLiteCacheFile(path: folder.path)
        #expect(throws: CacheStoreError.self) {
            try file.putAside(ifStill: file.identity, keeping: true, until: .now)
        }
        #expect(folder.has("cache.sqlite-wal") && folder.has("cache.sqlite-shm"))
        let next = folder.store()
        #expect(try next.read(key(1)) == nil && next.read(key(2)) == record(2))
        withExtendedLifetime(store) {}
    }

    /// Stands for a child process that another thread has forked: a duplicated descriptor has the same lock.
    @Test func theLockEndsAlthoughAForkedChildHasItsDescriptor() throws {
        let file = SQLiteCacheFile(path: folder.path)
        var inherited: Int32 = -1
        try file.exclusively(until: .now + .seconds(300)) {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
                if target == folder.path + ".lock", let descriptor = Int32(name) {
                    inherited = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                }
            }
        }
        try #require(inherited >= 0)
        defer { close(inherited) }
        let other = open(folder.path + ".lock", O_RDWR | O_CLOEXEC)
        try #require(other >= 0)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }

    /// Killed between the file and its log: a new file with pages would take the log for its own.
    @Test func aLogWithoutItsFileIsNobodys() throws {
        var log: [UInt8] = []
        do {
            let store = folder.store()
            for number in 1...2 { try store.write(record(number), for: key(number)) }
            log = try folder.bytes(of: "cache.sqlite-wal")
            // Its end empties the log.
            withExtendedLifetime(store) {}
        }
        #expect(!log.isEmpty)
        try FileManager.default.removeItem(atPath: folder.path)
        for name in ["cache.sqlite-wal", "cache.sqlite-shm"] { try folder.put(log, in: name) }
        try SQLiteCacheFile(path: folder.path).make()
        #expect(!folder.has("cache.sqlite-wal") && !folder.has("cache.sqlite-shm"))
        let store = folder.store()
        #expect(try store.read(key(1)) == nil)
        try store.write(record(3), for: key(3))
        #expect(try store.read(key(3)) == record(3) && store.health == .working)
        // Where there is a file its log is left alone.
        try SQLiteCacheFile(path: folder.path).make()
        #expect(folder.has("cache.sqlite-wal"))
        #expect(try folder.store().read(key(3)) == record(3))
    }

    @Test func anEmptyFileIsNoDamage() throws {
        try folder.put([])
        let store = folder.store()
        try store.write(record(1), for: key(1))
        #expect(try store.read(key(1)) != nil && store.health == .working)
    }

    /// Whatever bytes are changed or cut off: no trap, no wrong record, and it works again in the end.
    @Test(arguments: 0..<40) func aDamagedFileHeals(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        do {
            let store = folder.store()
            for number in 0..<30 { try store.write(record(number, bytes: 2000, tags: ["t"]), for: key(number)) }
            _ = try store.removeAll()
            for number in 0..<30 { try store.write(record(number, bytes: 2000, tags: ["t"]), for: key(number)) }
            let file = try SQLiteConnection(path: folder.path)
            try file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        var bytes = try folder.bytes(of: "cache.sqlite")
        switch seed % 4 {
        case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &numbers))
        case 1: for _ in 0..<200 { bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= 0x55 }
        case 2: for place in 0..<100 { bytes[place] = UInt8.random(in: 0...255, using: &numbers) }
        default:
            let start = Int.random(in: 0..<bytes.count / 4096, using: &numbers) * 4096
            for place in start..<start + 4096 { bytes[place] = UInt8.random(in: 0...255, using: &numbers) }
        }
        try folder.put(bytes)
        let store = folder.store()
        for number in 0..<30 {
            let found = try? store.read(key(number))
            #expect(found == nil || found == record(number, bytes: 2000, tags: ["t"]))
        }
        for number in 0..<30 { try? store.write(record(number, bytes: 3000), for: key(number)) }
        _ = try? store.remove(tag: "t")
        folder.pass(61_000)
        _ = try store.removeAll()
        try store.write(record(77), for: key(77))
        #expect(try store.read(key(77)) == record(77) && store.health.condition == .working)
    }

    @Test func aTornRecordIsAMissAndGoes() throws {
        let store = folder.store()
        for number in 1...3 { try store.write(record(number), for: key(number)) }
        let file = try SQLiteConnection(path: folder.path)
        try file.execute("UPDATE content SET data = substr(data, 1, 60) WHERE id = 1")
        // Whole, but of another key.
        try file.execute("UPDATE content SET data = (SELECT data FROM content WHERE id = 3) WHERE id = 2")
        #expect(try store.read(key(1)) == nil && store.read(key(2)) == nil && store.read(key(3)) != nil)
        #expect(try store.statistics().entries == 1 && store.statistics().discarded == 2)
        #expect(try file.integer("SELECT count(*) FROM content") == 1)
    }

    @Test func tablesThatAreMissingAreMadeAnew() throws {
        let store = folder.store()
        try store.write(record(1), for: key(1))
        try SQLiteConnection(path: folder.path).execute("DROP TABLE content")
        #expect(try store.read(key(1)) == nil)
        try store.write(record(2), for: key(2))
        #expect(try store.read(key(2)) == record(2) && store.health.repairs == 1)
    }

    @Test func anEarlierSchemaIsRebuilt() throws {
        _ = try folder.store().statistics()
        let file = try SQLiteConnection(path: folder.path)
        try file.execute("DROP TABLE content; CREATE TABLE more (x); PRAGMA user_version = 0")
        let store = folder.store()
        try store.write(record(1), for: key(1))
        #expect(try store.read(key(1)) == record(1) && store.health == .working)
        #expect(try file.integer("SELECT count(*) FROM sqlite_master WHERE name = 'more'") == 0)
    }

    @Test func aLaterSchemaIsLeftAlone() throws {
        try folder.store().write(record(1), for: key(1))
        try SQLiteConnection(path: folder.path).execute("PRAGMA user_version = 2")
        let store = folder.store()
        #expect(throws: CacheStoreError.unavailable) { try store.read(key(1)) }
        #expect(store.health == CacheHealth(.off, reason: .unavailable))
        #expect(try store.read(key(1)) == nil)
        try store.write(record(2), for: key(2))
        #expect(throws: CacheStoreError.unavailable) { try store.removeAll() }
        #expect(try SQLiteConnection(path: folder.path).integer("SELECT entries FROM total") == 1)
    }

    @Test func anotherProgramsDatabaseIsLeftAlone() throws {
        try folder.put([])
        try SQLiteConnection(path: folder.path).execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        let store = folder.store()
        #expect(throws: CacheStoreError.pathRefused) { try store.write(record(1), for: key(1)) }
        #expect(store.health.condition == .off)
        #expect(try SQLiteConnection(path: folder.path).integer("SELECT x FROM theirs") == 1)
    }

    @Test func aDirectoryInTheFilesPlaceSwitchesTheStoreOffForAWhile() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        let store = folder.store()
        #expect(throws: CacheStoreError.pathRefused) { try store.write(record(1), for: key(1)) }
        #expect(try store.read(key(1)) == nil && store.health == CacheHealth(.off, reason: .pathRefused))
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(try store.read(key(1)) == nil && store.health.condition == .off)
        folder.pass(60_000)
        try store.write(record(1), for: key(1))
        #expect(try store.read(key(1)) != nil && store.health.condition == .working)
    }

    @Test func aFileInTheDirectorysPlaceIsNotRemoved() throws {
        try folder.put([1], in: "plain")
        let store = SQLiteCacheStore(path: folder.file("plain/cache.sqlite"))
        #expect(throws: CacheStoreError.pathRefused) { try store.read(key(1)) }
        #expect(try folder.bytes(of: "plain") == [1])
    }

    @Test func aFolderRemovedMeanwhileIsMadeAgain() throws {
        let inner = folder.file("inner")
        let store = SQLiteCacheStore(path: inner + "/cache.sqlite") { 1_000_000 }
        try store.write(record(1), for: key(1))
        try FileManager.default.removeItem(atPath: inner)
        try store.write(record(2), for: key(2))
        #expect(try store.read(key(1)) == nil && store.read(key(2)) != nil && store.health.condition == .working)
    }

    @Test func aLockedFileCostsNoMoreThanTheBusyTimeout() throws {
        let time = WaitedTime()
        let store = folder.store(busyTimeout: .milliseconds(50), waiting: time.waiting)
        try store.write(record(1), for: key(1))
        let file = try SQLiteConnection(path: folder.path)
        try file.execute("BEGIN EXCLUSIVE")
        #expect(throws: CacheStoreError.locked) { try store.write(record(2), for: key(2)) }
        #expect(time.total == .milliseconds(50))
        // Readers do not wait for writers.
        #expect(try store.read(key(1)) != nil && store.health == .working)
        #expect(time.total == .milliseconds(50))
        try file.execute("COMMIT")
        try store.write(record(2), for: key(2))
    }

    @Test func aFullDiskEndsWritingAndNotReading() throws {
        let (status, text) = try folder.probe(["full", folder.path])
        #expect(status == 0)
        #expect(text == "write after some storageFull\nfound some\nhealth readingOnly storageFull\n")
        // Where there is room again all is well.
        let store = folder.store()
        try store.write(record(1), for: key(1))
        #expect(try store.read(key(1)) == record(1) && store.health == .working)
    }

    /// The first record cannot be replaced, nor the second, of which the store does not try it any more, nor the third
    /// removed: none of them is found again.
    private static let readOnly = """
        found some
        write readOnly, then nothing
        write done, then nothing
        remove readOnly, then nothing
        another is found
        health readingOnly readOnly

        """

    @Test func aReadOnlyFileIsRead() throws {
        #expect(try folder.probe(["some", folder.path]).status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            chmod(folder.file(name), 0o444)
        }
        chmod(folder.url.path, 0o555)
        defer { chmod(folder.url.path, 0o755) }
        let (status, text) = try folder.probe(["nobody", folder.path])
        #expect(status == 0 && text == Self.readOnly, "\(text)")
    }

    @Test func aFileThatMayNotBeReadSwitchesTheStoreOff() throws {
        try folder.store().write(record(1), for: key(1))
        chmod(folder.path, 0)
        let (status, text) = try folder.probe(["nobody", folder.path])
        #expect(status == 0 && text.hasSuffix("health off pathRefused\n"), "\(text)")
    }
}
