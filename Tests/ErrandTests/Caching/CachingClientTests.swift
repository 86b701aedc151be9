import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// What a client does with its cache beside requests.
@Suite(.timeLimit(.minutes(20))) struct CachingClientTests {
    private static let answer: CachingBench.Answer = {
        .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\($1)")
    }

    private func miss<C: Command>(_ client: Client, _ command: C) async -> CacheMiss? {
        do {
            _ = try await client.cached(command)
            return nil
        } catch {
            return (error as? ErrandError)?.cacheMissReason
        }
    }

    // MARK: Load: YTKNetwork loadCacheWithError:

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http]) func whatIsStoredCanBeLoaded(
        _ policy: CachePolicy
    ) async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            let command = GetCached(cache: policy)
            #expect(await miss(bench.client, command) == .notStored)
            _ = try await bench.client.run(command)
            let stored = try await bench.client.cached(command)
            #expect(stored.value == "1")
            #expect(stored.response.isFromCache)
            #expect(stored.response.statusCode == 200)
            bench.clock.advance(60)
            #expect(await miss(bench.client, command) == .expired)
            #expect(bench.sent == 1)
        }
    }

    @Test func everyReasonHasItsName() async throws {
        try await CachingBench(
            applicationVersion: "1",
            answer: { description, _ in
                .response(
                    status: 200, headers: description.url.hasSuffix("v") ? ["Vary": "Accept"] : [:], body: "no number")
            }
        ).run { bench async throws in
            let client = bench.client
            func policy(_ version: Int64 = 1, _ change: (inout CachePolicy) -> Void = { _ in }) -> CachePolicy {
                var policy = CachePolicy.timed(.seconds(60), version: version)
                change(&policy)
                return policy
            }
            struct GetNumber: Command {
                var path = "x"
                var cache: CachePolicy?
                typealias Response = [Int]
            }
            #expect(await miss(client, GetCached()) == .notCached)
            #expect(await miss(client, GetCached(cache: .off)) == .notCached)
            #expect(await miss(client, GetCached(cache: .http, method: .post)) == .notCached)
            #expect(await miss(client, GetCached(cache: policy())) == .notStored)
            _ = try await client.run(GetCached(cache: policy()))
            #expect(await miss(client, GetCached(cache: policy())) == nil)
            #expect(await miss(client, GetCached(cache: policy(2))) == .versionMismatch)
            #expect(await miss(client, GetNumber(cache: policy())) == .unusable)
            bench.clock.advance(60)
            // In the order of the reference: the version before the age, as what is of another version never stands in.
            #expect(await miss(client, GetCached(cache: policy(2))) == .versionMismatch)
            #expect(await miss(client, GetCached(cache: policy())) == .expired)
            let varied = GetCached(path: "v", cache: policy(), headers: [.accept: "a"])
            _ = try await client.run(varied)
            #expect(await miss(client, GetCached(path: "v", cache: policy(), headers: [.accept: "b"])) == .varies)
        }
    }

    @Test func aRecordOfSomebodyElsesUnderTheKeyIsNotServed() async throws {
        let store = MemoryCacheStore()
        try await CachingBench(store: store).run { bench async throws in
            let command = GetCached(cache: .timed(.seconds(60), sensitiveData: "ada"))
            _ = try await bench.client.run(command)
            let key = try #require(try await bench.client.cacheKey(for: command))
            var record = try #require(store.read(key))
            record.sensitiveDigest = nil
            try store.write(record, for: key)
            #expect(await miss(bench.client, command) == .sensitiveDataMismatch)
            // RFC 9111's records and those by time are no records of each other's.
            record.timeToLive = nil
            try store.write(record, for: key)
            #expect(await miss(bench.client, command) == .notStored)
            try store.write(CacheRecord(url: "", status: 0, storedAt: .max, timeToLive: .max), for: key)
            #expect(await miss(bench.client, command) == .notStored)
        }
    }

    // MARK: Seed: YTKNetwork saveResponseDataToCacheFile:

    @Test func oneRequestSeedsTheCacheOfAnother() async throws {
        try await CachingBench(answer: { _, _ in .hold }).run { bench async throws in
            let policy = CachePolicy.timed(.seconds(60))
            let fields: HTTPFields = ["Content-Type": "text/plain; charset=iso-8859-1"]
            let response = Response(statusCode: 200, headers: fields, body: [0xE4])
            try await bench.client.cache(response, for: GetCached(cache: policy))
            let request = await bench.finished(GetCached(cache: policy))
            #expect(request.value == "\u{E4}")
            #expect(request.isFromCache)
            let http = Response(statusCode: 200, headers: ["Cache-Control": "max-age=9"], body: [0x61])
            try await bench.client.cache(http, for: GetCached(cache: .http))
            #expect(try await bench.client.run(GetCached(cache: .http)) == "a")
        }
    }

    @Test func whatCannotBeKeptIsNotSeeded() async throws {
        try await CachingBench().run { bench async throws in
            let plain = Response(statusCode: 200, body: [0x61])
            for command in [
                GetCached(), GetCached(cache: .timed(.zero)), GetCached(cache: .http),
                GetCached(cache: .http, method: .post),
            ] {
                await #expect(throws: ErrandError.cacheMiss) { try await bench.client.cache(plain, for: command) }
            }
            let failed = Response(statusCode: 500)
            await #expect(throws: ErrandError.statusNotAccepted) {
                try await bench.client.cache(failed, for: GetCached(cache: .timed(.seconds(9))))
            }
            #expect(try await bench.client.cache.statistics().entries == 0)
        }
    }

    // MARK: Remove

    @Test func responsesAreRemovedByCommandTagAgeAndAtOnce() async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            func get(_ path: String, _ tag: String, _ kind: CachePolicy = .timed(.seconds(1000))) -> GetCached {
                var policy = kind
                policy.tags = [tag]
                return GetCached(path: path, cache: policy)
            }
            let all = [get("a", "red"), get("b", "red", .http), get("c", "blue")]
            for command in all { _ = try await bench.client.run(command) }
            #expect(try await bench.client.cache.statistics().entries == 3)
            try await bench.client.removeCached(all[0])
            #expect(await miss(bench.client, all[0]) == .notStored)
            #expect(try await bench.client.cache.remove(tag: "red") == 1)
            #expect(await miss(bench.client, all[1]) == .notStored)
            bench.clock.advance(10)
            _ = try await bench.client.run(all[0])
            #expect(try await bench.client.cache.remove(olderThan: .seconds(5)) == 1)
            #expect(await miss(bench.client, all[2]) == .notStored)
            #expect(await miss(bench.client, all[0]) == nil)
            #expect(try await bench.client.cache.removeAll() == 1)
            #expect(bench.client.cache.health == .working)
        }
    }

    @Test func interceptorsAddWhatCounts() async throws {
        struct Signs: PreparingInterceptor {
            let user: Mutex64
            final class Mutex64: Sendable { let value = Mutex("ada") }
            func prepare(
                _ description: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                var description = description
                try description.headers.set(.authorization, to: user.value.withLock { $0 })
                return description
            }
        }
        let user = Signs.Mutex64()
        try await CachingBench(change: { $0.interceptors = [Signs(user: user)] }).run { bench async throws in
            let command = GetCached(cache: .timed(.seconds(60)))
            #expect(try await bench.client.run(command) == "1")
            #expect(try await bench.client.cached(command).value == "1")
            user.value.withLock { $0 = "bob" }
            #expect(await miss(bench.client, command) == .notStored)
            #expect(try await bench.client.run(command) == "2")
            try await bench.client.removeCached(command)
            user.value.withLock { $0 = "ada" }
            #expect(try await bench.client.run(command) == "1")
        }
    }

    // MARK: Two values

    @Test func theSequenceHasWhatIsStoredAndThenWhatIsNew() async throws {
        try await CachingBench(answer: { $1 < 4 ? .response(status: 200, body: "\($1)") : .failure(.connectFailed) })
            .run {
                bench async throws in
                let command = GetCached(cache: .timed(.seconds(60)))
                var values: [String] = []
                for try await value in bench.client.values(of: command) { values.append(value) }
                for try await value in bench.client.values(of: command) { values.append(value) }
                for try await value in bench.client.values(of: GetCached()) { values.append(value) }
                #expect(values == ["1", "1", "2", "3"])
                values = []
                await #expect(throws: ErrandError.connectFailed) {
                    for try await value in bench.client.values(of: command) { values.append(value) }
                }
                #expect(values == ["2"])
            }
    }

    @Test func whoeverReadsNoFurtherStopsTheRequest() async throws {
        try await CachingBench(answer: { $1 == 1 ? .response(status: 200, body: "1") : .hold }).run {
            bench async throws in
            let command = GetCached(cache: .timed(.seconds(60)))
            _ = try await bench.client.run(command)
            for try await value in bench.client.values(of: command) {
                #expect(value == "1")
                break
            }
            try await waitUntil("no request of the client runs") { bench.client.requests.isEmpty }
            #expect(bench.stub.cancelled.count <= 1)
        }
    }

    /// What is stored and fails the command's validator is not told.
    @Test func aStoredValueThatIsNotValidIsNotTold() async throws {
        struct GetValid: Command {
            var path = "x"
            let isValid: @Sendable (Errand.Response) -> Bool
            var cache: CachePolicy? { .timed(.seconds(60), reading: .cacheThenNetwork) }
            var validator: (@Sendable (String, Errand.Response) async throws -> Void)? {
                { [isValid] _, response in if !isValid(response) { throw ErrandError.validationFailed } }
            }
            typealias Response = String
        }
        try await CachingBench().run { bench async throws in
            let preprocessed = Notes<String>()
            _ = await bench.finished(GetValid(isValid: { _ in true }))
            let request = bench.client.request(GetValid(isValid: { !$0.isFromCache }))
            request.onCached { value, _ in preprocessed.add(value) }
            #expect(await bench.finished(request).value == "2")
            #expect(preprocessed.all.isEmpty)
        }
    }

    // MARK: Misses that wait for one another

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http]) func equalMissesMayShareOneTransfer(
        _ policy: CachePolicy
    ) async throws {
        try await CachingBench(answer: { _, _ in .hold }).run { bench async throws in
            var policy = policy
            policy.collapsesMisses = true
            let requests = (0..<5).map { _ in bench.client.start(GetCached(cache: policy)) }
            #expect(bench.stub.submitted.count == 1)
            let response = Response(statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: [0x61])
            bench.stub.complete(bench.stub.open[0], with: .response(response))
            for request in requests { try await bench.client.ended(request) }
            #expect(requests.map(\.value) == Array(repeating: "a", count: 5))
            #expect(try await bench.client.run(GetCached(cache: policy)) == "a")
        }
    }
}
