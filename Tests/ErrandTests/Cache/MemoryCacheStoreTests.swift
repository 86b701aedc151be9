import Errand
import ErrandTesting
import Testing

@testable import ErrandCaching

@Suite struct MemoryCacheStoreTests {
    private func key(_ number: Int) throws -> CacheKey {
        try #require(CacheKey(hashing: [[UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]]))
    }

    private func record(_ number: Int, bytes: Int = 100, tags: [String] = []) -> CacheRecord {
        CacheRecord(
            url: "", body: [UInt8](repeating: 1, count: bytes), storedAt: Int64(number), version: Int64(number),
            tags: tags)
    }

    @Test func whatIsWrittenIsRead() throws {
        let store = MemoryCacheStore()
        try store.write(record(1), for: key(1))
        try store.write(record(2), for: key(1))
        #expect(try store.read(key(1)) == record(2) && store.read(key(2)) == nil)
        #expect(
            store.statistics()
                == CacheStatistics(entries: 1, bytes: record(2).byteCount, hits: 1, misses: 1))
    }

    @Test func theLeastRecentlyUsedGoByBytes() throws {
        let one = record(0).byteCount
        let store = MemoryCacheStore(limits: .init(bytes: 3 * one))
        for number in 0..<3 { try store.write(record(number), for: key(number)) }
        #expect(try store.read(key(0)) != nil)
        try store.write(record(3), for: key(3))
        #expect(try store.read(key(1)) == nil && store.read(key(0)) != nil)
        // Room for a large one is made of several.
        try store.write(record(4, bytes: 100 + one), for: key(4))
        #expect(try store.read(key(2)) == nil && store.read(key(3)) == nil && store.read(key(0)) != nil)
        #expect(store.statistics().evictions == 3 && store.statistics().bytes == 3 * one)
    }

    @Test func theLeastRecentlyUsedGoByCount() throws {
        let store = MemoryCacheStore(limits: .init(entries: 2))
        for number in 0..<5 { try store.write(record(number), for: key(number)) }
        #expect(try (0..<5).filter { try store.read(key($0)) != nil } == [3, 4])
    }

    @Test func whatIsTooLargeIsRefusedAndTakesTheOldRecordAlong() throws {
        for limits in [MemoryCacheStore.Limits(bytesPerEntry: 1000), .init(bytes: 1000), .init(entries: 0)] {
            let store = MemoryCacheStore(limits: limits)
            try? store.write(record(1), for: key(1))
            #expect(throws: CacheStoreError.recordTooLarge) { try store.write(record(2, bytes: 1000), for: key(1)) }
            #expect(try store.read(key(1)) == nil)
        }
    }

    @Test func recordsAreRemovedByKeyTagAgeAndAll() throws {
        let store = MemoryCacheStore()
        for number in 0..<10 { try store.write(record(number, tags: ["\(number % 3)", "x", "x"]), for: key(number)) }
        #expect(try store.remove(key(0)) && !store.remove(key(0)))
        #expect(store.remove(tag: "0") == 3 && store.remove(tag: "0") == 0)
        #expect(store.remove(olderThan: 5) == 3)
        #expect(store.remove(tag: "x") == 3 && store.statistics().bytes == 0)
        try store.write(record(1), for: key(1))
        #expect(store.removeAll() == 1 && store.removeAll() == 0)
        try store.write(record(1), for: key(1))
        #expect(try store.read(key(1)) != nil)
    }

    /// Against a list that is searched and sorted.
    @Test(arguments: 0..<8) func aWalkAgreesWithAPlainModel(seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        let limits = MemoryCacheStore.Limits(bytes: 9000, entries: 12, bytesPerEntry: 3000)
        let store = MemoryCacheStore(limits: limits)
        // The most recently used last.
        var model: [(key: CacheKey, record: CacheRecord)] = []
        for _ in 0..<2000 {
            let place = try key(Int.random(in: 0..<24, using: &numbers))
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0:
                let tag = "\(Int.random(in: 0..<4, using: &numbers))"
                #expect(store.remove(tag: tag) == model.filter { $0.record.tags.contains(tag) }.count)
                model.removeAll { $0.record.tags.contains(tag) }
            case 1:
                #expect(store.remove(place) == model.contains { $0.key == place })
                model.removeAll { $0.key == place }
            case 2:
                let age = Int64.random(in: 0..<40, using: &numbers)
                #expect(store.remove(olderThan: age) == model.filter { $0.record.storedAt < age }.count)
                model.removeAll { $0.record.storedAt < age }
            case 3..<10:
                let found = model.firstIndex { $0.key == place }
                #expect(store.read(place) == found.map { model[$0].record })
                if let found { model.append(model.remove(at: found)) }
            default:
                let made = record(
                    Int.random(in: 0..<100, using: &numbers), bytes: Int.random(in: 0..<3000, using: &numbers),
                    tags: ["\(Int.random(in: 0..<4, using: &numbers))"])
                try? store.write(made, for: place)
                model.removeAll { $0.key == place }
                guard made.byteCount <= limits.bytesPerEntry else { continue }
                model.append((place, made))
                while model.count > limits.entries || model.reduce(0, { $0 + $1.record.byteCount }) > limits.bytes {
                    model.removeFirst()
                }
            }
            #expect(store.statistics().entries == model.count)
            #expect(store.statistics().bytes == model.reduce(0) { $0 + $1.record.byteCount })
        }
    }
}
