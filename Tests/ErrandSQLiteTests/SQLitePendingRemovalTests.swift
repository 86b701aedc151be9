import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandSQLite

/// What was removed or replaced is not found any more, though the file could not be written then.
@Suite(.timeLimit(.minutes(20))) struct SQLitePendingRemovalTests {
    private let folder: CacheFolder

    init() throws { folder = try CacheFolder() }

    enum Removal: CaseIterable {
        case one, tag, age, namespace, all

        func make(in store: some CacheStore) throws {
            switch self {
            case .one: try store.remove(key(1, namespace: "n"))
            case .tag: try store.remove(tag: "t")
            case .age: try store.remove(olderThan: 1_000_000)
            case .namespace: try store.removeAll(namespace: "n")
            case .all: try store.removeAll()
            }
        }

        var sparesOthers: Bool { self != .all }
    }

    private func found(_ key: CacheKey, in store: some CacheStore) throws -> Bool {
        try store.read(key) != nil
    }

    /// Record 1, which each removal means, and record 2, which only `all` does.
    private func fill(_ store: some CacheStore) throws {
        try store.write(record(1, storedAt: 999_999, tags: ["t"]), for: key(1, namespace: "n"))
        try store.write(record(2, tags: ["u"]), for: key(2))
    }

    @Test(arguments: Removal.allCases) func aRemovalThatFailedHolds(_ removal: Removal) throws {
        let store = folder.store(busyTimeout: .zero)
        try fill(store)
        let other = try SQLiteConnection(path: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: CacheStoreError.locked) { try removal.make(in: store) }
        #expect(try store.read(key(1, namespace: "n")) == nil)
        #expect(try found(key(2), in: store) == removal.sparesOthers)
        try other.execute("COMMIT")
        // Nobody else knows of it.
        #expect(try folder.store().read(key(1, namespace: "n")) != nil)
        // A read is enough to have it made.
        _ = try store.read(key(3))
        let fresh = folder.store()
        #expect(try fresh.read(key(1, namespace: "n")) == nil)
        #expect(try found(key(2), in: fresh) == removal.sparesOthers)
        // What is stored from here on is none of it.
        try fill(store)
        #expect(try store.read(key(1, namespace: "n")) != nil)
        #expect(try store.read(key(2)) != nil)
    }

    @Test func aRecordWhoseReplacementFailedIsGone() throws {
        let store = folder.store(busyTimeout: .zero)
        try fill(store)
        let other = try SQLiteConnection(path: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: CacheStoreError.locked) { try store.write(record(9), for: key(2)) }
        #expect(try store.read(key(2)) == nil)
        #expect(try store.read(key(1, namespace: "n")) != nil)
        try other.execute("COMMIT")
        #expect(try store.read(key(2)) == nil)
        #expect(try folder.store().read(key(2)) == nil)
        try store.write(record(9), for: key(2))
        #expect(try store.read(key(2)) == record(9))
    }

    /// First what is pending, then what is new: else the one would take the other.
    @Test func aWriteComesAfterWhatIsOwed() throws {
        let store = folder.store(busyTimeout: .zero)
        try fill(store)
        let other = try SQLiteConnection(path: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: CacheStoreError.locked) { try store.remove(tag: "t") }
        #expect(throws: CacheStoreError.locked) { try store.removeAll(namespace: "n") }
        try other.execute("COMMIT")
        try store.write(record(5, tags: ["t"]), for: key(1, namespace: "n"))
        #expect(try store.read(key(1, namespace: "n")) == record(5, tags: ["t"]))
        #expect(try folder.store().read(key(1, namespace: "n")) == record(5, tags: ["t"]))
    }

    /// The file is out of reach, then there again: as after a file system that was gone.
    @Test func whatWasRemovedWhileTheStoreWasOffIsGoneAfterwards() throws {
        let inner = folder.file("inner")
        let away = folder.file("away")
        let folder = folder
        let store = SQLiteCacheStore(path: inner + "/cache.sqlite") { folder.time.withLock { $0 } }
        try fill(store)
        try FileManager.default.moveItem(atPath: inner, toPath: away)
        try folder.put([], in: "inner")
        #expect(throws: CacheStoreError.pathRefused) { try store.remove(tag: "t") }
        #expect(store.health.condition == .off)
        // Left out in silence: it is replaced all the same.
        try store.write(record(9), for: key(2))
        try FileManager.default.removeItem(atPath: inner)
        try FileManager.default.moveItem(atPath: away, toPath: inner)
        #expect(try store.read(key(1, namespace: "n")) == nil)
        folder.pass(61_000)
        #expect(try store.read(key(1, namespace: "n")) == nil)
        #expect(try store.read(key(2)) == nil)
        #expect(store.health.condition == .working)
        let fresh = SQLiteCacheStore(path: inner + "/cache.sqlite") { folder.time.withLock { $0 } }
        #expect(try fresh.read(key(1, namespace: "n")) == nil)
        #expect(try fresh.read(key(2)) == nil)
    }

    @Test func whatIsOwedIsMadeWhenTheStoreIsClosed() throws {
        let store = folder.store(busyTimeout: .zero)
        try fill(store)
        let other = try SQLiteConnection(path: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: CacheStoreError.locked) { try store.remove(tag: "t") }
        try other.execute("COMMIT")
        store.close()
        #expect(try folder.store().read(key(1, namespace: "n")) == nil)
    }

    /// A file system with no room: the store reads on, but not what it was to write anew.
    @Test(.enabled(if: SmallFileSystem.isAllowed)) func aFullFileSystemServesNothingOld() throws {
        let place = try SmallFileSystem(at: folder.file("small"), bytes: 1 << 20)
        let folder = folder
        let store = SQLiteCacheStore(path: place.path + "/cache.sqlite") { folder.time.withLock { $0 } }
        for number in 0..<20 { try store.write(record(number, bytes: 100), for: key(number)) }
        try place.fill()
        #expect(throws: CacheStoreError.storageFull) { try store.write(record(100, bytes: 50_000), for: key(100)) }
        #expect(store.health.condition == .readingOnly)
        let kept = try (0..<20).filter { try store.read(key($0)) != nil }
        let replaced = try #require(kept.first)
        let spared = try #require(kept.last)
        #expect(replaced != spared)
        try store.write(record(replaced, bytes: 9), for: key(replaced))
        #expect(try store.read(key(replaced)) == nil)
        #expect(try store.read(key(spared)) != nil)
        try place.empty()
        folder.pass(61_000)
        try store.write(record(77), for: key(77))
        #expect(try store.read(key(replaced)) == nil)
        #expect(try store.read(key(spared)) != nil)
        store.close()
    }

    @Test func beyondTheBoundAllIsOwed() throws {
        var pending = SQLitePendingRemovals(most: 3)
        let (first, fourth) = (try key(1), try key(4))
        #expect(pending.isEmpty && pending.all.isEmpty)
        for number in 1...3 { pending.add(.key(try key(number))) }
        #expect(pending.contain(record(1), under: first) && !pending.contain(record(4), under: fourth))
        pending.add(.key(try key(3)))
        #expect(pending.all.count == 3)
        pending.add(.older(than: 5))
        pending.add(.older(than: 3))
        #expect(pending.all.contains(.older(than: 5)) && pending.all.count == 4)
        pending.add(.tag("t"))
        #expect(pending.all == [.all] && pending.contain(record(4), under: fourth))
        pending.clear()
        #expect(pending.isEmpty && !pending.contain(record(1), under: first))
    }

    @Test(arguments: [false, true]) func overAMemoryStoreAsWell(isMoved: Bool) throws {
        let memory = MemoryCacheStore()
        let store = LayeredCacheStore(memory: memory, over: folder.store(busyTimeout: .zero))
        try fill(store)
        if !isMoved { memory.removeAll() }
        let other = try SQLiteConnection(path: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: CacheStoreError.locked) { try store.remove(tag: "t") }
        // The upper one has what the lower one could not take; when it is gone there is none.
        #expect(throws: CacheStoreError.locked) { try store.write(record(9), for: key(2)) }
        #expect(try store.read(key(1, namespace: "n")) == nil)
        #expect(try store.read(key(2)) == record(9))
        memory.removeAll()
        #expect(try store.read(key(2)) == nil)
        try other.execute("COMMIT")
        #expect(try store.read(key(1, namespace: "n")) == nil)
        #expect(try store.read(key(2)) == nil)
    }

    private struct Get: Command {
        var path: String { "x" }
        var method = HTTPRequest.Method.get
        var cache: CachePolicy? { .http }
        typealias Response = String
    }

    /// RFC 9111 4.4, with the file in another's hands.
    @Test func anUnsafeMethodMakesVoidWhatCannotBeRemoved() async throws {
        let sent = SentCount()
        let stub = StubTransport { description in
            guard description.method == .get else { return .response(status: 204) }
            return .response(status: 200, headers: [.cacheControl: "max-age=60"], body: "\(sent.next())")
        }
        var configuration = Client.Configuration(baseURL: "http://test/")
        let folder = folder
        configuration.cache = ResponseCache(
            folder.store(busyTimeout: .zero), now: { folder.time.withLock { $0 } })
        let client = Client(configuration: configuration, transport: stub)
        #expect(try await client.run(Get()) == "1")
        await client.cache.flush()
        #expect(try await client.run(Get()) == "1")
        let other = try SQLiteConnection(path: folder.path)
        try other.execute("BEGIN IMMEDIATE")
        _ = try await client.run(Get(method: .post))
        await client.cache.flush()
        #expect(try await client.run(Get()) == "2")
        await client.cache.flush()
        try other.execute("COMMIT")
        #expect(try await client.run(Get()) != "1")
        await client.shutdown(.cancel)
    }

    private final class SentCount: Sendable {
        private let value = Mutex(0)

        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }
}
