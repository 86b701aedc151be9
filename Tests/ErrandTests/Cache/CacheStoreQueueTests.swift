import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandCaching

@Suite struct CacheStoreQueueTests {
    private let store = HeldStore()
    private let told = Notes<CacheHealth>()

    private func queue(bytesAtMost: Int = 16 << 20, keysAtMost: Int = 1000) -> CacheStoreQueue {
        let told = told
        return CacheStoreQueue(store, bytesAtMost: bytesAtMost, keysAtMost: keysAtMost) { told.add($0) }
    }

    private func key(_ number: Int, namespace: String = "") throws -> CacheKey {
        let number = UInt8(truncatingIfNeeded: number)
        return try #require(CacheKey(namespace: namespace, hashing: [[number]]))
    }

    private func record(_ version: Int64, bytes: Int = 10, tags: [String] = []) -> CacheRecord {
        CacheRecord(url: "u", body: [UInt8](repeating: 1, count: bytes), storedAt: 5, version: version, tags: tags)
    }

    /// What a read gives where it is told inline; `.none` where it is not.
    private func inline(_ queue: CacheStoreQueue, _ key: CacheKey) -> Int64?? {
        let found = Mutex<Int64??>(nil)
        queue.read(key) { record in found.withLock { $0 = .some(record?.version) } }
        return found.withLock { $0 }
    }

    private func read(_ queue: CacheStoreQueue, _ key: CacheKey) async -> Int64? {
        await withCheckedContinuation { continuation in
            queue.read(key) { continuation.resume(returning: $0?.version) }
        }
    }

    /// Has the queue's thread block in the removal of a key that nobody else uses.
    private func block(_ queue: CacheStoreQueue) async throws {
        store.hold()
        try queue.remove(key(255))
        try await store.entered()
    }

    /// Reads and updates in the order in which they came, and nothing read past an update.
    @Test func whatComesAfterAnUpdateFindsIt() async throws {
        let queue = queue()
        let one = try key(1)
        try store.records.write(record(1), for: one)
        try await block(queue)
        let found = Mutex<[Int64?]>([])
        for added in [10, 20] as [Int64] {
            queue.update(one) { present in record((present?.version ?? 0) + added) }
            queue.read(one) { record in found.withLock { $0.append(record?.version) } }
        }
        #expect(inline(queue, one) == .none)
        queue.barrier { _ in }
        queue.update(one) { _ in nil }
        store.release()
        await queue.flush()
        #expect(found.withLock { $0 } == [11, 31])
        #expect(store.records.read(one)?.version == 31)
    }

    /// Reads go before changes: an update that is made later than a change that came after it does not undo that change.
    @Test(arguments: [true, false]) func anUpdateUndoesNoLaterChange(isRemoval: Bool) async throws {
        let queue = queue()
        let one = try key(1)
        try store.records.write(record(1), for: one)
        try await block(queue)
        queue.update(one) { _ in record(7) }
        if isRemoval { queue.remove(one) } else { queue.write(record(9), for: one) }
        store.release()
        await queue.flush()
        #expect(store.records.read(one)?.version == (isRemoval ? nil : 9))
        // One that comes later still finds and changes that.
        queue.update(one) { present in record((present?.version ?? 0) + 20) }
        await queue.flush()
        #expect(store.records.read(one)?.version == (isRemoval ? 20 : 29))
    }

    /// A barrier that came after an update removes what the update wrote.
    @Test func anUpdateComesBeforeALaterBarrier() async throws {
        let queue = queue()
        let one = try key(1)
        try await block(queue)
        queue.update(one) { _ in record(7, tags: ["t"]) }
        queue.barrier { (store) throws(CacheStoreError) in try store.remove(tag: "t") }
        store.release()
        await queue.flush()
        #expect(store.records.read(one) == nil)
    }

    @Test func whatWaitsIsWhatALaterReadFindsAtOnce() async throws {
        let queue = queue()
        let (one, two) = (try key(1), try key(2))
        try store.records.write(record(1), for: two)
        try await block(queue)
        queue.write(record(7), for: one)
        queue.remove(two)
        #expect(inline(queue, one) == 7)
        #expect(inline(queue, two) == .some(nil))
        queue.write(record(8), for: two)
        queue.remove(one)
        #expect(inline(queue, one) == .some(nil) && inline(queue, two) == 8)
        store.release()
        await queue.flush()
        #expect(store.records.read(one) == nil && store.records.read(two) == record(8))
        #expect(await read(queue, two) == 8)
    }

    /// The write that is being done is still what a read finds, and a newer one is not lost with it.
    @Test func aWriteThatIsBeingDoneIsFound() async throws {
        let queue = queue()
        let one = try key(1)
        store.hold()
        queue.write(record(1), for: one)
        try await store.entered()
        #expect(inline(queue, one) == 1)
        queue.write(record(2), for: one)
        #expect(inline(queue, one) == 2)
        store.release()
        await queue.flush()
        #expect(store.calls == [.write(one, 1), .write(one, 2)] && store.records.read(one) == record(2))
    }

    @Test func ofSeveralWritesTheLastIsMadeInItsPlace() async throws {
        let queue = queue()
        let (one, two, three) = (try key(1), try key(2), try key(3))
        try await block(queue)
        queue.write(record(1), for: one)
        queue.remove(two)
        queue.write(record(1), for: three)
        for version in 2..<500 { queue.write(record(Int64(version)), for: one) }
        store.release()
        await queue.flush()
        #expect(store.calls.dropFirst() == [.remove(two), .write(three, 1), .write(one, 499)])
    }

    @Test func readsGoBeforeChangesThatDoNotTouchThem() async throws {
        let queue = queue()
        let (one, two) = (try key(1), try key(2))
        try await block(queue)
        queue.write(record(1), for: one)
        queue.read(two) { _ in }
        store.release()
        await queue.flush()
        #expect(store.calls.dropFirst() == [.read(two), .write(one, 1)])
    }

    @Test func aReadThatWaitsFindsWhatCameMeanwhile() async throws {
        let queue = queue()
        let one = try key(1)
        try await block(queue)
        let found = Notes<Int64?>()
        queue.read(one) { found.add($0?.version) }
        queue.write(record(3), for: one)
        store.release()
        await queue.flush()
        #expect(found.all == [3] && store.calls.dropFirst() == [.write(one, 3)])
    }

    @Test func beyondTheBoundTheRecordIsDroppedAndTheOldOneGoes() async throws {
        let size = record(1).byteCount
        let queue = queue(bytesAtMost: 2 * size)
        let keys = try (0..<4).map { try key($0) }
        try store.records.write(record(0), for: keys[2])
        try await block(queue)
        for number in 0..<3 { queue.write(record(Int64(number)), for: keys[number]) }
        #expect(inline(queue, keys[2]) == .some(nil))
        // One in the place of another takes no room of its own.
        queue.write(record(9), for: keys[1])
        #expect(inline(queue, keys[1]) == 9)
        // What a removal sets free is there again.
        queue.remove(keys[0])
        queue.write(record(5), for: keys[3])
        #expect(inline(queue, keys[3]) == 5)
        store.release()
        await queue.flush()
        #expect(store.records.read(keys[2]) == nil && store.records.read(keys[1])?.version == 9)
        // All room is free again.
        try await block(queue)
        for number in 0..<2 { queue.write(record(20), for: keys[number]) }
        #expect(inline(queue, keys[0]) == 20 && inline(queue, keys[1]) == 20)
        store.release()
        await queue.flush()
    }

    @Test func beyondTheBoundOfKeysAllGoes() async throws {
        let queue = queue(keysAtMost: 3)
        let keys = try (0..<8).map { try key($0, namespace: "n") }
        let other = try key(9, namespace: "other")
        for key in keys + [other] { try store.records.write(record(0), for: key) }
        try await block(queue)
        for number in 0..<8 { queue.remove(keys[number]) }
        queue.write(record(8), for: keys[7])
        // Nobody knows what will be left of those that came before.
        #expect(inline(queue, keys[0]) == nil && inline(queue, keys[7]) == 8)
        store.release()
        await queue.flush()
        #expect(store.calls.filter { $0 == .clear("n") }.count == 1)
        #expect(
            store.records.read(keys[7])?.version == 8 && keys.dropLast().allSatisfy { store.records.read($0) == nil })
        #expect(store.records.read(other) != nil)
    }

    @Test func whatAsksForTheStoreComesAfterAllBeforeAndBeforeAllAfter() async throws {
        let queue = queue()
        let (one, two) = (try key(1), try key(2))
        try await block(queue)
        queue.write(record(1, tags: ["t"]), for: one)
        async let removed = queue.perform { (store) throws(CacheStoreError) in try store.remove(tag: "t") }
        // It waits once a read behind it cannot tell any more.
        try await waitUntil("the removal is queued") { inline(queue, one) != 1 }
        queue.write(record(2, tags: ["t"]), for: two)
        #expect(inline(queue, two) == 2)
        store.release()
        #expect(try await removed == 1)
        await queue.flush()
        #expect(await read(queue, one) == nil && store.records.read(two) == record(2, tags: ["t"]))
    }

    @Test func whatTheStoreHasAtHandIsReadInlineUnlessSomethingIsToComeFirst() async throws {
        let queue = queue()
        let one = try key(1)
        try store.upper.write(record(4), for: one)
        #expect(inline(queue, one) == 4 && store.calls.isEmpty)
        try await block(queue)
        #expect(inline(queue, one) == 4)
        async let cleared: Void = queue.perform { [store] _ in _ = store.upper.removeAll() }
        try await waitUntil("the removal is queued") { inline(queue, one) != 4 }
        store.release()
        try await cleared
        #expect(await read(queue, one) == nil)
    }

    @Test func anErrorReachesTheLogAndNobodyElse() async throws {
        let queue = queue()
        let one = try key(1)
        try store.records.write(record(1), for: one)
        store.fail(.locked)
        #expect(await read(queue, one) == nil)
        #expect(await read(queue, one) == nil)
        let off = CacheHealth(.off, reason: .ioFailed)
        store.fail(.ioFailed, health: off)
        queue.write(record(2), for: one)
        await #expect(throws: CacheStoreError.ioFailed) {
            try await queue.perform { (store) throws(CacheStoreError) in try store.remove(tag: "t") }
        }
        store.fail(nil)
        #expect(await read(queue, one) == 1)
        store.fail(.recordTooLarge)
        queue.write(record(3), for: one)
        await queue.flush()
        #expect(told.all == [CacheHealth(.working, reason: .locked), off, .working])
    }

    @Test func aWriteThatFailsLeavesNothingOlderBehind() async throws {
        let queue = queue()
        let one = try key(1)
        try store.records.write(record(1), for: one)
        store.fail(.locked)
        store.hold()
        queue.write(record(2), for: one)
        try await store.entered()
        store.release()
        // As the third try finds it.
        try await waitUntil("the store was called three times") { store.calls.count >= 3 }
        store.fail(nil)
        await queue.flush()
        #expect(store.calls.first == .write(one, 2) && store.calls.dropFirst().allSatisfy { $0 == .remove(one) })
        #expect(store.calls.count <= 5)
    }

    @Test func aRemovalIsTriedSoOftenAndNoMore() async throws {
        let queue = queue()
        store.fail(.locked)
        try queue.remove(key(1))
        await queue.flush()
        #expect(try store.calls == [HeldStore.Call](repeating: .remove(key(1)), count: 4))
    }

    @Test func whatWaitsIsDoneEvenWhereNobodyHoldsTheQueue() async throws {
        var queue: CacheStoreQueue? = queue()
        let one = try key(1)
        try await block(#require(queue))
        queue?.write(record(1), for: one)
        weak let gone = queue
        queue = nil
        store.release()
        try await waitUntil("the queue is gone") { gone == nil }
        #expect(store.records.read(one) == record(1))
    }

    @Test func aStoreInMemoryIsCalledWhereTheCallerIs() async throws {
        let memory = MemoryCacheStore(limits: .init(bytesPerEntry: 2000))
        for store in [memory, LayeredCacheStore(over: memory)] as [any CacheStore] {
            let queue = CacheStoreQueue(store) { [told] in told.add($0) }
            let one = try key(1)
            #expect(inline(queue, one) == .some(nil))
            queue.write(record(1), for: one)
            #expect(inline(queue, one) == 1 && memory.read(one) == record(1))
            queue.write(record(2, bytes: 2000), for: one)
            // Too large below is none too large for above.
            #expect(inline(queue, one) == (store is MemoryCacheStore ? .some(nil) : 2))
            queue.write(record(3), for: one)
            #expect(try await queue.perform { (store) throws(CacheStoreError) in try store.remove(one) })
            queue.write(record(4), for: one)
            queue.remove(one)
            #expect(inline(queue, one) == .some(nil))
        }
        #expect(told.all.isEmpty)
    }

    /// Each task has a key of its own: what it wrote or removed last is what it finds, whatever the others do.
    @Test func aStormOfCallersReadsItsOwnWrites() async throws {
        let queue = queue(bytesAtMost: 1 << 20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                let mine = try key(task, namespace: "\(task % 2)")
                group.addTask { [self] in
                    var numbers = SeededGenerator(seed: UInt64(task))
                    var expected: Int64?
                    for version in 1...400 {
                        switch numbers.next() % 16 {
                        case 0..<6:
                            queue.write(record(Int64(version)), for: mine)
                            expected = Int64(version)
                        case 6, 7:
                            queue.remove(mine)
                            expected = nil
                        case 8:
                            try await queue.perform { (store) throws(CacheStoreError) in
                                _ = try store.remove(mine)
                            }
                            expected = nil
                        case 9: await queue.flush()
                        default: #expect(await read(queue, mine) == expected)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        await queue.flush()
        #expect(told.all.isEmpty)
    }
}
