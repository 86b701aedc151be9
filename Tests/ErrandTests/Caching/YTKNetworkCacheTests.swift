import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel

/// What went wrong with YTKNetwork's cache, by the number that it has in the list of its troubles.
@Suite(.timeLimit(.minutes(20))) struct YTKNetworkCacheTests {
    private let minute = CachePolicy.timed(.seconds(60))

    /// 27: the key took the configured base URL for the request's own.
    @Test func theSamePathOfAnotherHostIsAnotherEntry() async throws {
        struct GetFrom: Command {
            var baseURL: String?
            var cdnURL: String?
            var usesCDN = false
            var path: String { "x" }
            var cache: CachePolicy? { .timed(.seconds(60)) }
            typealias Response = String
        }
        struct Prefix: URLFilter {
            let text: Mutex64
            final class Mutex64: Sendable { let value = Mutex("") }
            func filter(_ path: String, for command: any Command) throws -> String {
                text.value.withLock { $0 } + path
            }
        }
        let prefix = Prefix.Mutex64()
        try await CachingBench(change: { $0.settings.urlFilters = [Prefix(text: prefix)] }).run { bench async throws in
            let commands = [
                GetFrom(), GetFrom(baseURL: "http://other/"), GetFrom(cdnURL: "http://cdn/", usesCDN: true),
            ]
            for (number, command) in commands.enumerated() {
                #expect(try await bench.client.run(command) == "\(number + 1)")
            }
            prefix.value.withLock { $0 = "v2/" }
            #expect(try await bench.client.run(GetFrom()) == "4")
            prefix.value.withLock { $0 = "" }
            #expect(try await bench.client.run(GetFrom()) == "1")
        }
    }

    /// 28: the key was made of the description of arguments, by locale and by address.
    @Test func equalArgumentsAreOneKeyWhateverTheirOrder() async throws {
        struct GetWith: Command {
            var parameters: Parameters?
            var path: String { "x" }
            var cache: CachePolicy? { .timed(.seconds(60)) }
            typealias Response = String
        }
        try await CachingBench().run { bench async throws in
            #expect(try await bench.client.run(GetWith(parameters: ["a": 1, "b": 1.5, "c": true])) == "1")
            #expect(try await bench.client.run(GetWith(parameters: ["c": true, "b": 1.5, "a": 1])) == "1")
            #expect(try await bench.client.run(GetWith(parameters: ["a": 1, "b": 1.5, "c": false])) == "2")
        }
    }

    /// 29, 31: two files, one of them torn; metadata that could not be read counted as fresh.
    @Test func aRecordThatIsTornIsAMiss() async throws {
        let key = try #require(CacheKey(hashing: [[1]]))
        let record = CacheRecord(url: "http://a/", body: Array(repeating: 7, count: 64), storedAt: 1, timeToLive: 9)
        let bytes = try record.encoded(for: key)
        for index in bytes.indices {
            var torn = bytes
            torn[index] ^= 1
            #expect(CacheRecord(encoded: torn, for: key) == nil)
            #expect(CacheRecord(encoded: Array(bytes[..<index]), for: key) == nil)
        }
        #expect(CacheRecord(encoded: bytes, for: key) == record)
    }

    /// 30: the write happened later, by what the request was by then.
    @Test func whatIsWrittenIsWhatCame() async throws {
        let store = HeldStore()
        try await CachingBench(store: store).run { bench async throws in
            let request = bench.client.request(GetCached(cache: minute))
            _ = await bench.finished(request)
            store.hold()
            request.startIgnoringCache()
            try await store.entered()
            // The second run's write is under way; the third one's is to come.
            try await bench.client.ended(request)
            request.startIgnoringCache()
            try await bench.client.ended(request)
            #expect(request.value == "3")
            request.start()
            try await bench.client.ended(request)
            #expect(request.value == "3")
            #expect(request.isFromCache)
            store.release()
        }
        let bodies = try #require(store.calls.last)
        guard case .write(let key, _) = bodies else { throw ErrandError.internalFailure }
        #expect(store.records.read(key)?.body == Array("3".utf8))
    }

    /// 33: a hit read the disk on the caller's thread.
    @Test func nobodyWaitsForTheStore() async throws {
        let store = HeldStore()
        try await CachingBench(store: store).run { bench async throws in
            store.hold()
            let started = bench.client.start(GetCached(cache: minute))
            try await store.entered()
            #expect(started.state == .running)
            // Neither does anybody else of the client.
            #expect(try await bench.client.run(GetCached(path: "other")) == "1")
            store.release()
            try await bench.client.ended(started)
            #expect(started.value == "2")
        }
    }

    /// 34: users drove out each other's.
    @Test func usersDoNotDriveOutEachOthers() async throws {
        try await CachingBench().run { bench async throws in
            for round in 0..<3 {
                for user in 1...20 {
                    let command = GetCached(cache: .timed(.seconds(60), sensitiveData: "user \(user)"))
                    let request = await bench.finished(command)
                    #expect(request.value == "\(user)")
                    #expect(request.isFromCache == (round > 0))
                }
            }
        }
    }

    /// 35: a new version of the program dropped everything.
    @Test func aNewProgramKeepsWhatTheOldOneStored() async throws {
        let store = MemoryCacheStore()
        try await CachingBench(store: store, applicationVersion: "1").run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: minute))
        }
        try await CachingBench(store: store, applicationVersion: "2").run { bench async throws in
            #expect(await bench.finished(GetCached(cache: minute)).isFromCache)
        }
    }

    /// 37: files that were never removed.
    @Test func aStoreHasLimits() async throws {
        let store = MemoryCacheStore(limits: .init(bytes: 1 << 20, entries: 10))
        try await CachingBench(store: store).run { bench async throws in
            for number in 0..<30 { _ = try await bench.client.run(GetCached(path: "\(number)", cache: minute)) }
            let statistics = try await bench.client.cache.statistics()
            #expect(statistics.entries == 10)
            #expect(statistics.evictions == 20)
            #expect(await bench.finished(GetCached(path: "29", cache: minute)).isFromCache)
            #expect(await bench.finished(GetCached(path: "0", cache: minute)).isFromCache == false)
        }
    }

    /// 38: "show the cache, then refresh" told the cache twice.
    @Test func theCacheIsToldOnceAndTheNetworkOnce() async throws {
        try await CachingBench().run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: minute))
            let request = bench.client.request(GetCached(cache: minute.with(reading: .cacheThenNetwork)))
            for number in 2...3 {
                let told = Notes<String>()
                request.onCached { value, _ in told.add("cached \(value)") }
                await withCheckedContinuation { continuation in
                    request.start(completion: {
                        told.add("ended \($0.value ?? "")")
                        continuation.resume()
                    })
                }
                try await bench.client.ended(request)
                #expect(told.all == ["cached \(number - 1)", "ended \(number)"])
            }
        }
    }

    /// 40: what was cached was not validated.
    @Test func aHitIsValidated() async throws {
        struct GetValid: Command {
            var validator: (@Sendable (String, Errand.Response) async throws -> Void)?
            var cache: CachePolicy? { .timed(.seconds(60), reading: .cacheElseNetwork) }
            var path: String { "x" }
            typealias Response = String
        }
        try await CachingBench().run { bench async throws in
            _ = await bench.finished(GetValid())
            let second = await bench.finished(
                GetValid(validator: { value, _ in if value == "1" { throw ErrandError.validationFailed } }))
            #expect(second.value == "2")
            #expect(!second.isFromCache)
        }
    }
}
