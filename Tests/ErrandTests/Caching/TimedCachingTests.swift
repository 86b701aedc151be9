import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// A number that has to fit.
private struct GetNumber: Command {
    var path = "x"
    var fits: @Sendable (Int) -> Bool
    var cache: CachePolicy?
    typealias Response = Int

    func decode(_ response: Errand.Response) throws -> Int {
        let value = Int(try response.text()) ?? -1
        guard fits(value) else { throw ErrandError.responseDecodingFailed }
        return value
    }
}

/// ``CachePolicy/timed(_:version:sensitiveData:requiresApplicationVersion:reading:)`` in requests.
@Suite(.timeLimit(.minutes(20))) struct TimedCachingTests {
    private let minute = CachePolicy.timed(.seconds(60))

    @Test func withoutAPolicyNothingIsStored() async throws {
        try await CachingBench().run { bench async throws in
            #expect(try await bench.client.run(GetCached()) == "1")
            #expect(try await bench.client.run(GetCached(cache: .off)) == "2")
            #expect(try await bench.client.run(GetCached(cache: minute)) == "3")
            let off = await bench.finished(GetCached())
            #expect(off.response?.cacheStatus == nil)
            #expect(!off.isFromCache)
        }
    }

    @Test func aResponseIsUsedForItsTimeAndNotAMillisecondLonger() async throws {
        try await CachingBench().run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: minute)) == "1")
            bench.clock.advance(59.999)
            let hit = await bench.finished(GetCached(cache: minute))
            #expect(hit.value == "1")
            #expect(hit.isFromCache)
            #expect(hit.response?.isFromCache == true)
            #expect(hit.response?.cacheStatus == "errand; hit; ttl=0")
            bench.clock.advance(0.001)
            let miss = await bench.finished(GetCached(cache: minute))
            #expect(miss.value == "2")
            #expect(!miss.isFromCache)
            #expect(miss.response?.cacheStatus == "errand; fwd=stale")
            #expect(bench.sent == 2)
        }
    }

    @Test func theStatusAndTheFieldsAreStoredToo() async throws {
        let fields: HTTPFields = ["Content-Type": "text/plain; charset=iso-8859-1", "X-A": "b"]
        try await CachingBench(answer: { _, _ in .response(status: 203, headers: fields, body: "body") }).run {
            bench async throws in
            let first = await bench.finished(GetCached(cache: minute))
            let second = await bench.finished(GetCached(cache: minute))
            #expect(second.isFromCache)
            #expect(second.response?.statusCode == 203)
            #expect(second.response?.rawHead == first.response?.rawHead)
            #expect(second.response?.headers == fields)
            #expect(second.response?.body.bytes == Array("body".utf8))
        }
    }

    @Test(arguments: [1, 3]) func anotherVersionIsNotUsedLowerOrHigher(_ version: Int64) async throws {
        try await CachingBench().run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: .timed(.seconds(60), version: 2)))
            let other = await bench.finished(GetCached(cache: .timed(.seconds(60), version: version)))
            #expect(other.value == "2")
            #expect(other.response?.cacheStatus == "errand; fwd=miss")
            // One place: the last one is there now.
            #expect(try await bench.client.run(GetCached(cache: .timed(.seconds(60), version: 2))) == "3")
        }
    }

    @Test func twoUsersAlternateAndBothFindTheirs() async throws {
        try await CachingBench().run { bench async throws in
            let ada = GetCached(cache: .timed(.seconds(60), sensitiveData: "ada"))
            let bob = GetCached(cache: .timed(.seconds(60), sensitiveData: "bob"))
            #expect(try await bench.client.run(ada) == "1")
            #expect(try await bench.client.run(bob) == "2")
            #expect(try await bench.client.run(ada) == "1")
            #expect(try await bench.client.run(bob) == "2")
            #expect(try await bench.client.run(GetCached(cache: minute)) == "3")
        }
    }

    @Test func sensitiveDataIsNowhereInTheStore() async throws {
        let store = HeldStore()
        try await CachingBench(store: store).run { bench async throws in
            let policy = CachePolicy.timed(.seconds(60), sensitiveData: "hunter2")
            _ = try await bench.client.run(GetCached(cache: policy))
            await bench.client.cache.flush()
            guard case .write(let key, _)? = store.calls.last else { throw ErrandError.internalFailure }
            let record = try #require(store.records.read(key))
            #expect(record.sensitiveDigest?.count == 64)
            #expect(!String(describing: record).contains("hunter2"))
            #expect(!String(describing: policy).contains("hunter2"))
        }
    }

    @Test func theApplicationsVersionCountsWhereItIsAskedFor() async throws {
        let store = MemoryCacheStore()
        let strict = CachePolicy.timed(.seconds(60), requiresApplicationVersion: true)
        try await CachingBench(store: store, applicationVersion: "1.0").run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: minute))
        }
        try await CachingBench(store: store, applicationVersion: "1.1", answer: { _, _ in .hold }).run {
            bench async throws in
            #expect(try await bench.client.run(GetCached(cache: minute)) == "1")
            let only = await bench.finished(GetCached(cache: strict.with(reading: .cacheOnly)))
            #expect(only.error?.cacheMissReason == .applicationVersionMismatch)
        }
    }

    @Test func aTimeOfZeroStoresNothing() async throws {
        try await CachingBench().run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: .timed(.zero)))
            #expect(try await bench.client.cache.statistics().entries == 0)
            _ = try await bench.client.run(GetCached(cache: minute))
            let zero = await bench.finished(GetCached(cache: .timed(.zero, reading: .cacheOnly)))
            #expect(zero.error?.cacheMissReason == .expired)
        }
    }

    @Test func aClockThatWasSetBackNeitherThrowsAwayNorKeepsForever() async throws {
        try await CachingBench().run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: minute))
            bench.clock.advance(-59)
            #expect(try await bench.client.run(GetCached(cache: minute)) == "1")
            bench.clock.advance(-1)
            #expect(try await bench.client.run(GetCached(cache: minute)) == "2")
        }
    }

    @Test func theLongestTimeDoesNotOverflow() async throws {
        try await CachingBench().run { bench async throws in
            let forever = CachePolicy.timed(.seconds(Int64.max), version: .min)
            _ = try await bench.client.run(GetCached(cache: forever))
            bench.clock.advance(1e9)
            #expect(try await bench.client.run(GetCached(cache: forever)) == "1")
        }
    }

    @Test func methodURLBodyAndNamespaceAreInTheKey() async throws {
        try await CachingBench().run { bench async throws in
            var named = minute
            named.namespace = "n"
            let commands = [
                GetCached(cache: minute), GetCached(path: "y", cache: minute), GetCached(path: "x?a=1", cache: minute),
                GetCached(cache: minute, method: .post), GetCached(cache: minute, method: .head),
                GetCached(cache: minute, method: .post, body: .bytes([1])),
                GetCached(cache: minute, method: .post, body: .bytes([2])),
                GetCached(cache: minute, method: .post, body: .bytes([2], contentType: "a/b")),
                GetCached(cache: minute, headers: ["Host": "other"]), GetCached(cache: named),
                GetCached(cache: minute, headers: [.authorization: "Bearer a"]),
                GetCached(cache: minute, headers: [.authorization: "Bearer b"]),
                GetCached(cache: minute, headers: [.cookie: "a=1"]),
                GetCached(cache: minute, authorization: .digest(username: "a", password: "b")),
                GetCached(cache: minute, authorization: .digest(username: "ab", password: "")),
            ]
            var first: [String] = []
            for command in commands { first.append(try await bench.client.run(command)) }
            #expect(Set(first).count == commands.count)
            for (command, value) in zip(commands, first) { #expect(try await bench.client.run(command) == value) }
            #expect(bench.sent == commands.count)
        }
    }

    @Test func volatileArgumentsCanBeLeftOutOfTheKey() async throws {
        try await CachingBench().run { bench async throws in
            var policy = minute
            policy.ignoredQueryItems = ["ts", "sig[a]"]
            #expect(try await bench.client.run(GetCached(path: "x?ts=1&a=2", cache: policy)) == "1")
            let same = ["x?a=2", "x?a=2&ts=7", "x?a=2&sig%5Ba%5D=1&ts", "x?ts=9&a=2#f"]
            for path in same { #expect(try await bench.client.run(GetCached(path: path, cache: policy)) == "1") }
            #expect(try await bench.client.run(GetCached(path: "x?a=3&ts=1", cache: policy)) == "2")
            #expect(bench.stub.submitted.last?.url == "http://test/x?a=3&ts=1")
            policy.keyURL = { String($0.prefix(13)) }
            #expect(try await bench.client.run(GetCached(path: "x?a=5", cache: policy)) == "3")
            #expect(try await bench.client.run(GetCached(path: "x?a=6", cache: policy)) == "3")
        }
    }

    @Test func credentialsMayBeLeftOutOfTheKey() async throws {
        try await CachingBench().run { bench async throws in
            var policy = minute
            policy.ignoresCredentials = true
            let paths = ["Bearer a", "Bearer b"]
            for value in paths {
                let command = GetCached(cache: policy, headers: [.authorization: value])
                #expect(try await bench.client.run(command) == "1")
            }
        }
    }

    @Test func varyCountsAndAStarDoesNot() async throws {
        let vary: HTTPFields = ["Vary": "Accept-Language, *"]
        try await CachingBench(answer: { .response(status: 200, headers: vary, body: "\($1)") }).run {
            bench async throws in
            let german = GetCached(cache: minute, headers: [.acceptLanguage: "de"])
            let french = GetCached(cache: minute, headers: [.acceptLanguage: "fr"])
            #expect(try await bench.client.run(german) == "1")
            #expect(try await bench.client.run(german) == "1")
            let other = await bench.finished(french)
            #expect(other.value == "2")
            #expect(other.response?.cacheStatus == "errand; fwd=vary-miss")
        }
    }

    @Test func onlySuccessesAreStored() async throws {
        let answers: CachingBench.Answer = { description, number in
            description.url.hasSuffix("missing")
                ? .response(status: 404, body: "no") : .response(status: 200, body: "{\"number\": \(number)}")
        }
        struct Strict: Command {
            struct Body: Decodable { var number: Int }
            var path = "strict"
            var minimum = 0
            var shape: JSONShape?
            var acceptedContentTypes = ContentTypes.inherited
            var cache: CachePolicy? { .timed(.seconds(60)) }
            var validator: (@Sendable (Int, Errand.Response) async throws -> Void)? {
                { [minimum] value, _ in if value < minimum { throw ErrandError.validationFailed } }
            }
            func decode(_ response: Errand.Response) throws -> Int { try response.decode(Body.self).number }
        }
        try await CachingBench(answer: answers).run { bench async throws in
            let missing = GetCached(path: "missing", cache: minute)
            await #expect(throws: ErrandError.statusNotAccepted) { try await bench.client.run(missing) }
            await #expect(throws: ErrandError.validationFailed) { try await bench.client.run(Strict(minimum: 100)) }
            await #expect(throws: ErrandError.shapeMismatch) {
                try await bench.client.run(Strict(shape: .object(["other": .string])))
            }
            await #expect(throws: ErrandError.contentTypeNotAccepted) {
                try await bench.client.run(Strict(acceptedContentTypes: .json))
            }
            #expect(try await bench.client.cache.statistics().entries == 0)
            #expect(try await bench.client.run(Strict()) == 5)
            #expect(try await bench.client.run(Strict()) == 5)
        }
    }

    /// What the command cannot use any more is asked for again, once, and replaced.
    @Test func whatIsStoredAndCannotBeUsedIsFetched() async throws {
        try await CachingBench(answer: { .response(status: 200, body: $1 == 1 ? "1" : "no number") }).run {
            bench async throws in
            // Not within `#expect`, whose closures swiftc 6.3 gives the same symbols as those beside it.
            let stored = GetNumber(fits: { $0 == 1 }, cache: minute)
            #expect(try await bench.client.run(stored) == 1)
            let changed = await bench.finished(GetNumber(fits: { $0 == -1 }, cache: minute))
            #expect(changed.value == -1)
            #expect(!changed.isFromCache)
            #expect(changed.attempts.count == 1)
            #expect(bench.sent == 2)
            // The network has no better: it fails, and what is stored stays.
            let never = await bench.finished(GetNumber(fits: { _ in false }, cache: minute))
            #expect(never.error == .responseDecodingFailed)
            #expect(bench.sent == 3)
            let only = await bench.finished(
                GetNumber(fits: { _ in false }, cache: minute.with(reading: .cacheOnly)))
            #expect(only.error == .responseDecodingFailed)
            #expect(bench.sent == 3)
        }
    }

    @Test func aRedirectsLastResponseIsKeptForTheURLThatLedThere() async throws {
        let answers: CachingBench.Answer = { description, number in
            description.url.hasSuffix("x")
                ? .response(status: 302, headers: ["Location": "/target"]) : .response(status: 200, body: "\(number)")
        }
        try await CachingBench(answer: answers).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: minute)) == "2")
            let hit = await bench.finished(GetCached(cache: minute))
            #expect(hit.value == "2")
            #expect(hit.isFromCache)
            #expect(hit.url == "http://test/x")
            // The hop has no entry of its own.
            #expect(try await bench.client.run(GetCached(path: "target", cache: minute)) == "3")
        }
    }

    @Test func bodiesOfFilesSourcesAndStreamsAreNotCached() async throws {
        try await CachingBench().run { bench async throws in
            let source = RequestBody.stream(length: 3) { AsyncStream<[UInt8]> { $0.finish() } }
            let command = GetCached(cache: minute, method: .post, body: source)
            #expect(try await bench.client.run(command) == "1")
            #expect(try await bench.client.run(command) == "2")
            let only = GetCached(cache: minute.with(reading: .cacheOnly), method: .post, body: source)
            let request = await bench.finished(only)
            #expect(request.error?.cacheMissReason == .notCached)
            #expect(try await bench.client.cache.statistics().entries == 0)
        }
    }
}
