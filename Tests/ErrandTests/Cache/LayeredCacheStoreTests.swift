import Errand
import Synchronization
import Testing

@testable import ErrandCaching

@Suite struct LayeredCacheStoreTests {
    /// In memory, with a hand in its reads and writes.
    private final class Lower: CacheStore {
        let records = MemoryCacheStore()
        let failing = Mutex<CacheStoreError?>(nil)
        let duringRead = Mutex<(@Sendable () -> Void)?>(nil)
        let afterWrite = Mutex<(@Sendable () -> Void)?>(nil)

        private func check() throws(CacheStoreError) {
            if let error = failing.withLock({ $0 }) { throw error }
        }

        func read(_ key: CacheKey) throws(CacheStoreError) -> CacheRecord? {
            try check()
            let found = records.read(key)
            duringRead.withLock { $0 }?()
            return found
        }

        func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
            try check()
            try records.write(record, for: key)
            afterWrite.withLock { $0 }?()
        }

        func remove(_ key: CacheKey) throws(CacheStoreError) -> Bool {
            try check()
            return records.remove(key)
        }

        func remove(tag: String) throws(CacheStoreError) -> Int {
            try check()
            return records.remove(tag: tag)
        }

        func remove(olderThan instant: Int64) throws(CacheStoreError) -> Int {
            try check()
            return records.remove(olderThan: instant)
        }

        func removeAll() throws(CacheStoreError) -> Int {
            try check()
            return records.removeAll()
        }

        func removeAll(namespace: String) throws(CacheStoreError) -> Int {
            try check()
            return records.removeAll(namespace: namespace)
        }

        func statistics() throws(CacheStoreError) -> CacheStatistics {
            records.statistics()
        }

        var answersAtOnce: Bool { false }
        func accepts(byteCount: Int) -> Bool { true }
        func readAtOnce(_ key: CacheKey) -> CacheRecord? { nil }

        var health: CacheHealth {
            failing.withLock { $0.map { CacheHealth(.off, reason: $0) } } ?? .working
        }
    }

    private let key: CacheKey
    private let lower = Lower()
    private let store: LayeredCacheStore
    private let record = CacheRecord(url: "u", storedAt: 5, tags: ["t"])

    init() throws {
        key = try #require(CacheKey(hashing: [[1]]))
        store = LayeredCacheStore(over: lower)
    }

    @Test func aRecordMovesUpWhenItIsRead() throws {
        try lower.write(record, for: key)
        #expect(try store.read(key) == record && store.memory.read(key) == record)
        lower.records.removeAll()
        #expect(try store.read(key) == record)
        #expect(try store.statistics().hits == 3)
    }

    @Test func whatIsRemovedBesideAWriteStaysRemoved() throws {
        for remove in [
            { _ = try $0.remove(key) }, { _ = try $0.remove(tag: "t") }, { _ = try $0.removeAll() },
        ] as [@Sendable (LayeredCacheStore) throws -> Void] {
            lower.afterWrite.withLock { $0 = { [store] in try? remove(store) } }
            try store.write(record, for: key)
            lower.afterWrite.withLock { $0 = nil }
            #expect(try store.read(key) == nil)
        }
    }

    @Test func bothAreWrittenAndRemovedFrom() throws {
        for remove in [
            { try $0.remove(key) }, { try $0.remove(tag: "t") > 0 }, { try $0.remove(olderThan: 6) > 0 },
            { try $0.removeAll() > 0 }, { try $0.removeAll(namespace: "") > 0 },
        ] as [(LayeredCacheStore) throws -> Bool] {
            try store.write(record, for: key)
            #expect(lower.records.read(key) == record && store.memory.read(key) == record)
            #expect(try remove(store))
            #expect(lower.records.read(key) == nil && store.memory.read(key) == nil)
        }
    }

    @Test func theUpperStoreGoesOnWhereTheLowerFails() throws {
        lower.failing.withLock { $0 = .storageFull }
        #expect(throws: CacheStoreError.storageFull) { try store.write(record, for: key) }
        #expect(try store.read(key) == record)
        #expect(store.health == CacheHealth(.off, reason: .storageFull))
        // What is to go is gone above at least.
        #expect(throws: CacheStoreError.storageFull) { try store.remove(key) }
        #expect(store.memory.read(key) == nil)
        #expect(throws: CacheStoreError.storageFull) { try store.read(key) }
    }

    /// The reader has the record in its hand when another task removes it: it must not put it above.
    @Test func aRemovalDuringAReadLeavesNothingAbove() throws {
        try lower.write(record, for: key)
        let (store, key) = (store, key)
        lower.duringRead.withLock { hook in hook = { _ = try? store.remove(key) } }
        #expect(try store.read(key) == record)
        #expect(store.memory.read(key) == nil)
    }

    @Test func aWriteDuringAReadIsNotOverwrittenAbove() throws {
        try lower.write(record, for: key)
        let (store, key) = (store, key)
        let newer = CacheRecord(url: "newer", storedAt: 6)
        lower.duringRead.withLock { hook in hook = { try? store.write(newer, for: key) } }
        #expect(try store.read(key) == record)
        #expect(try store.read(key) == newer)
    }
}
