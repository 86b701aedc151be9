import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandSQLite

@Suite struct SQLiteCacheStoreTests {
    private let folder: CacheFolder

    init() throws {
        folder = try CacheFolder()
    }

    @Test func aRecordComesBackAfterTheStoreIsOpenedAgain() throws {
        let kept = CacheRecord(
            url: "http://test/a?b=\u{e9}", method: "POST", status: 203, head: Array("X: y\r\n".utf8),
            body: [0, 1, 255],
            storedAt: 999_000, requestedAt: 998_000, respondedAt: 998_500, timeToLive: 60_000, version: -7,
            applicationVersion: "1.2", sensitiveDigest: "ab", varyNames: ["accept"], varyDigest: "cd", tags: ["t", "u"])
        try folder.store().write(kept, for: key(1, namespace: "n"))
        let store = folder.store()
        #expect(try store.read(key(1, namespace: "n")) == kept)
        #expect(try store.read(key(1)) == nil && store.read(key(2, namespace: "n")) == nil)
        let statistics = try store.statistics()
        #expect(statistics == CacheStatistics(entries: 1, bytes: kept.byteCount, hits: 1, misses: 2))
        #expect(store.health == .working)
    }

    @Test func aSecondWriteReplacesTheFirst() throws {
        let store = folder.store()
        try store.write(record(1, bytes: 5000, tags: ["old"]), for: key(1))
        try store.write(record(2, bytes: 10, tags: ["new"]), for: key(1))
        #expect(try store.read(key(1)) == record(2, bytes: 10, tags: ["new"]))
        #expect(try store.statistics().entries == 1)
        #expect(try store.statistics().bytes == record(2, bytes: 10, tags: ["new"]).byteCount)
        #expect(try store.remove(tag: "old") == 0 && store.remove(tag: "new") == 1)
        #expect(try store.statistics().bytes == 0)
    }

    @Test func recordsAreRemovedByKeyTagAgeAndAll() throws {
        let store = folder.store()
        for number in 0..<10 {
            let tags = number.isMultiple(of: 2) ? ["even", "all"] : ["all"]
            try store.write(record(number, storedAt: 1_000_000 + Int64(number), tags: tags), for: key(number))
        }
        #expect(try store.remove(key(1)) && !store.remove(key(1)))
        #expect(try store.remove(tag: "even") == 5 && store.remove(tag: "none") == 0)
        #expect(try store.remove(olderThan: 1_000_007) == 2)
        #expect(try store.read(key(7)) != nil && store.read(key(5)) == nil)
        #expect(try store.removeAll() == 2 && store.statistics().bytes == 0)
        #expect(try store.read(key(7)) == nil)
    }

    @Test func aNamespaceIsRemovedAndLeavesTheOthers() throws {
        let store = folder.store()
        for number in 0..<6 {
            try store.write(record(number, tags: ["t"]), for: key(number, namespace: number < 4 ? "a" : "b"))
        }
        #expect(try store.removeAll(namespace: "a") == 4 && store.removeAll(namespace: "a") == 0)
        #expect(try store.read(key(0, namespace: "a")) == nil && store.read(key(5, namespace: "b")) != nil)
        #expect(try store.statistics().entries == 2 && store.remove(tag: "t") == 2)
    }

    @Test func aClosedStoreFindsAndWritesNothingAndItsFileHasAll() throws {
        let store = folder.store()
        for number in 0..<10 { try store.write(record(number), for: key(number)) }
        folder.pass(1000)
        for number in 0..<10 { #expect(try store.read(key(number)) != nil) }
        for _ in 0..<2 {
            store.close()
            #expect(try store.read(key(1)) == nil && store.statistics().entries == 0)
            try store.write(record(11), for: key(11))
            #expect(throws: CacheStoreError.unavailable) { try store.remove(key(1)) }
            #expect(store.health == CacheHealth(.off, reason: .unavailable))
        }
        #expect(try folder.bytes(of: "cache.sqlite-wal").isEmpty)
        let file = try SQLiteConnection(path: folder.path)
        #expect(try file.integer("SELECT count(*) FROM record WHERE used_at = 1001000") == 10)
        folder.pass(600_000)
        #expect(try store.read(key(1)) == nil && folder.store().read(key(1)) == record(1))
    }

    @Test func theLeastRecentlyUsedGoWhereTheLimitWantsIt() throws {
        let one = record(0, bytes: 1000).byteCount
        let limits = SQLiteCacheStore.Limits(bytes: 10 * one + 10)
        var store = folder.store(limits: limits)
        for number in 0..<10 {
            folder.pass(1)
            try store.write(record(number, bytes: 1000), for: key(number))
        }
        // Uses are noted in memory first, and must survive the store.
        folder.pass(1000)
        #expect(try store.read(key(0)) != nil && store.read(key(2)) != nil)
        store = folder.store(limits: limits)
        folder.pass(1)
        for number in 10..<13 { try store.write(record(number, bytes: 1000), for: key(number)) }
        let left = try (0..<13).filter { try store.read(key($0)) != nil }
        #expect(left == [0, 2, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(try store.statistics().evictions == 3 && store.statistics().bytes <= 10 * one + 10)
    }

    @Test func whatIsTooLargeIsRefusedAndTakesTheOldRecordAlong() throws {
        let store = folder.store(limits: .init(bytes: 1 << 20, bytesPerEntry: 2000))
        try store.write(record(1), for: key(1))
        #expect(throws: CacheStoreError.recordTooLarge) { try store.write(record(2, bytes: 2000), for: key(1)) }
        #expect(try store.read(key(1)) == nil && store.health == .working)
    }

    @Test func aRecordBeyondTheAgeLimitIsNotFoundAndGoes() throws {
        let store = folder.store(limits: .init(age: .seconds(10)))
        try store.write(record(1), for: key(1))
        folder.pass(10_000)
        #expect(try store.read(key(1)) != nil)
        folder.pass(1)
        #expect(try store.read(key(1)) == nil)
        folder.pass(60_000)
        try store.write(record(2, storedAt: 1_070_000), for: key(2))
        #expect(try store.statistics().entries == 1)
    }

    @Test func manyUsesAreWrittenInBatchesAndAtTheEnd() throws {
        var store: SQLiteCacheStore? = folder.store()
        for number in 0..<600 { try store?.write(record(number), for: key(number)) }
        // Within a second they count as used when they were written.
        folder.pass(999)
        for number in 0..<600 { #expect(try store?.read(key(number)) != nil) }
        folder.pass(1)
        for _ in 0..<2 {
            for number in 0..<600 { #expect(try store?.read(key(number)) != nil) }
        }
        let file = try SQLiteConnection(path: folder.path)
        let query = "SELECT count(*) FROM record WHERE used_at = 1001000"
        #expect(try file.integer(query) == 512)
        store = nil
        #expect(try file.integer(query) == 600)
    }

    @Test func twoStoresOnOneFileSeeEachOther() throws {
        let one = folder.store()
        let other = folder.store()
        try one.write(record(1), for: key(1))
        #expect(try other.read(key(1)) == record(1))
        try other.remove(key(1))
        #expect(try one.read(key(1)) == nil)
    }

    @Test func manyThreadsShareOneStore() async throws {
        let store = folder.store()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        try store.write(record(number + task), for: key(number))
                        let found = try requireValue(try store.read(key(number)))
                        #expect((number..<number + 4).contains(Int(found.version)))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.statistics().entries == 50)
    }

    @Test func aLayeredStoreFindsBelowWhatTheMemoryLost() throws {
        let memory = MemoryCacheStore(limits: .init(entries: 2))
        let store = LayeredCacheStore(memory: memory, over: folder.store())
        for number in 0..<5 { try store.write(record(number), for: key(number)) }
        #expect(memory.statistics().entries == 2)
        #expect(try store.read(key(0)) == record(0) && memory.read(key(0)) == record(0))
        #expect(try store.removeAll() == 5 && memory.statistics().entries == 0 && store.read(key(0)) == nil)
    }
}
