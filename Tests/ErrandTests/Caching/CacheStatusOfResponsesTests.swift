import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// What `Response.cacheStatus` says of storing and waiting, through a client (RFC 9211).
@Suite(.timeLimit(.minutes(20))) struct CacheStatusOfResponsesTests {
    /// Takes records of so many bytes, at once or from a queue.
    private final class Narrow: CacheStore {
        let records: MemoryCacheStore
        let answersAtOnce: Bool

        init(_ bytes: Int, answersAtOnce: Bool) {
            records = MemoryCacheStore(limits: .init(bytesPerEntry: bytes))
            self.answersAtOnce = answersAtOnce
        }

        func accepts(byteCount: Int) -> Bool { records.accepts(byteCount: byteCount) }
        func read(_ key: CacheKey) -> CacheRecord? { records.read(key) }
        func readAtOnce(_ key: CacheKey) -> CacheRecord? { nil }
        func write(_ record: CacheRecord, for key: CacheKey) throws(CacheStoreError) {
            try records.write(record, for: key)
        }
        func remove(_ key: CacheKey) -> Bool { records.remove(key) }
        func remove(tag: String) -> Int { records.remove(tag: tag) }
        func remove(olderThan instant: Int64) -> Int { records.remove(olderThan: instant) }
        func removeAll() -> Int { records.removeAll() }
        func removeAll(namespace: String) -> Int { records.removeAll(namespace: namespace) }
        func statistics() -> CacheStatistics { records.statistics() }

        var health: CacheHealth { .working }
    }

    private static let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"t\""]
    private static let small = String(repeating: "s", count: 100)
    private static let large = String(repeating: "l", count: 5000)

    /// RFC 9211 2.5: only what is stored is told to be.
    @Test(arguments: [true, false], [false, true])
    func whatTheStoreDoesNotTakeIsNotToldToBeStored(answersAtOnce: Bool, isVaried: Bool) async throws {
        var fields = Self.fields
        if isVaried { fields["Vary"] = "Accept" }
        let answered = fields
        try await CachingBench(
            store: Narrow(2000, answersAtOnce: answersAtOnce),
            answer: { .response(status: 200, headers: answered, body: $1 == 2 ? Self.large : Self.small) }
        ).run { bench async throws in
            let get = GetCached(cache: .http)
            #expect(await bench.finished(get).response?.cacheStatus == "errand; fwd=uri-miss; stored")
            await bench.client.cache.flush()
            let anew = await bench.finished(GetCached(cache: .http(reading: .networkOnly)))
            #expect(anew.response?.cacheStatus == "errand; fwd=bypass")
            await bench.client.cache.flush()
            // What it was to replace is gone, too.
            #expect(await bench.finished(get).response?.isFromCache == false)
            #expect(bench.sent == 3)
        }
    }

    /// A body that would be kept grows beyond the limit by the header fields of a 304.
    @Test func norWhatA304MakesTooLarge() async throws {
        try await CachingBench(
            store: MemoryCacheStore(limits: .init(bytesPerEntry: 2000)),
            answer: { _, number in
                guard number == 2 else { return .response(status: 200, headers: Self.fields, body: Self.small) }
                var fields = Self.fields
                fields["X-Much"] = Self.large
                return .response(status: 304, headers: fields, body: "")
            }
        ).run { bench async throws in
            let get = GetCached(cache: .http)
            _ = await bench.finished(get)
            bench.clock.advance(61)
            #expect(await bench.finished(get).response?.cacheStatus == "errand; fwd=stale; fwd-status=304; ttl=60")
            #expect(await bench.finished(get).response?.isFromCache == false)
        }
    }

    @Test func aMemoryStoreOverANarrowOneTakesIt() async throws {
        let store = LayeredCacheStore(over: Narrow(2000, answersAtOnce: false))
        try await CachingBench(
            store: store, answer: { _, _ in .response(status: 200, headers: Self.fields, body: Self.large) }
        ).run { bench async throws in
            let get = GetCached(cache: .http)
            #expect(await bench.finished(get).response?.cacheStatus == "errand; fwd=uri-miss; stored")
            await bench.client.cache.flush()
            #expect(await bench.finished(get).response?.isFromCache == true)
        }
    }

    @Test func norIsWhatAStoreThatFailsIsGiven() async throws {
        let store = HeldStore()
        try await CachingBench(
            store: store, answer: { _, _ in .response(status: 200, headers: Self.fields, body: "a") }
        ).run { bench async throws in
            store.fail(.readOnly, health: CacheHealth(.readingOnly, reason: .readOnly))
            // The first that meets it cannot know.
            _ = await bench.finished(GetCached(path: "y", cache: .http))
            await bench.client.cache.flush()
            let next = await bench.finished(GetCached(cache: .http))
            #expect(next.response?.cacheStatus == "errand; fwd=uri-miss")
        }
    }

    /// RFC 9211 2.7. The one that was sent is none of them.
    @Test(arguments: [CachePolicy.http, .timed(.seconds(60))])
    func whoWaitedForAnothersMissSaysSo(_ policy: CachePolicy) async throws {
        var policy = policy
        policy.collapsesMisses = true
        let stored = policy.box?.members.isTimed == true ? "" : "; stored"
        let collapsing = policy
        try await CachingBench(answer: { _, number in
            number == 1 ? .hold : .response(status: 200, headers: Self.fields, body: "next")
        }).run { bench async throws in
            let requests = (0..<3).map { _ in bench.client.request(GetCached(cache: collapsing)) }
            for request in requests { request.start() }
            let answer = Response(statusCode: 200, headers: Self.fields, body: Array("a".utf8))
            #expect(bench.stub.submitted.count == 1)
            bench.stub.complete(try #require(bench.stub.open.first), with: .response(answer))
            for request in requests {
                try await waitUntil("the request has a result") { request.result != nil }
            }
            let told = requests.map { $0.response?.cacheStatus }
            #expect(
                told == [
                    "errand; fwd=uri-miss\(stored)", "errand; fwd=uri-miss\(stored); collapsed",
                    "errand; fwd=uri-miss\(stored); collapsed",
                ])
            bench.clock.advance(61)
            let next = await bench.finished(GetCached(cache: collapsing))
            #expect(next.response?.cacheStatus == "errand; fwd=stale\(stored)")
        }
    }
}
