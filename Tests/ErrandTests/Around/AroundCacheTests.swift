import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

/// Interceptors around the cache, groups and downloads, which are inside them.
@Suite(.timeLimit(.minutes(20))) struct AroundCacheTests {
    private static let minute = CachePolicy.timed(.seconds(60))

    /// A hit is what `next` returns.
    @Test func aHitIsInside() async throws {
        let notes = Notes<String>()
        try await CachingBench(change: { $0.interceptors = [Around.noting("a", notes)] }).run { bench async throws in
            for _ in 0..<2 { #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "1") }
            #expect(notes.all == ["a in", "a out", "a in", "a out"])
            #expect(bench.sent == 1)
        }
    }

    /// A second transfer does not read the cache.
    @Test func aReplayAsksTheNetwork() async throws {
        let again = Around { request, _, next in
            let first = try await next(request)
            return first.isFromCache ? try await next(request) : first
        }
        try await CachingBench(change: { $0.interceptors = [again] }).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "1")
            #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "2")
        }
    }

    /// With `cacheThenNetwork` the interceptors run around both responses.
    @Test func bothResponsesPass() async throws {
        let marking = Around { request, _, next in
            let response = try await next(request)
            return response.replacing(body: response.body.bytes + Array("!".utf8))
        }
        try await CachingBench(change: { $0.interceptors = [marking] }).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "1!")
            var values: [String] = []
            for try await value in bench.client.values(of: GetCached(cache: Self.minute)) { values.append(value) }
            #expect(values == ["1!", "2!"])
        }
    }

    /// The server's response is not stored either where an interceptor answers in its place: the next run would find a
    /// response that no run has ended with.
    @Test(arguments: [200, 503]) func anAnswerIsNotStored(status: Int) async throws {
        let own = Around { request, _, next in
            _ = try await next(request)
            return Response(statusCode: 200, body: Array("own".utf8))
        }
        try await CachingBench(answer: { _, _ in .response(status: status, body: "\(status)") }).run {
            bench async throws in
            let command = GetAround(interceptors: [own], cache: Self.minute)
            #expect(try await bench.client.run(command) == "own")
            await #expect(throws: ErrandError.cacheMiss) {
                try await bench.client.cached(GetAround(cache: Self.minute))
            }
            #expect(try await bench.client.run(command) == "own")
            #expect(bench.sent == 2)
        }
    }

    /// The response of a transfer is stored only if it is the response of the run.
    @Test func anEarlierResponseIsNoReasonToStoreTheLast() async throws {
        let first = Around { request, _, next in
            let response = try await next(request)
            _ = try await next(request)
            return response
        }
        try await CachingBench().run { bench async throws in
            #expect(try await bench.client.run(GetAround(interceptors: [first], cache: Self.minute)) == "1")
            #expect(try await bench.client.run(GetAround(cache: Self.minute)) == "3")
            #expect(try await bench.client.run(GetAround(cache: Self.minute)) == "3")
        }
    }

    /// The interceptors run around a lookup as well.
    @Test func interceptorsRunAroundLookups() async throws {
        let notes = Notes<String>()
        let own = Around { request, context, next in
            if case .failure = await next.result(of: request) {
                return Response(statusCode: 200, body: Array("own".utf8))
            }
            return Response(statusCode: 200, body: Array("found".utf8))
        }
        try await CachingBench(
            answer: { _, _ in .failure(.connectFailed) },
            change: { $0.interceptors = [Around.noting("a", notes), own] }
        ).run { bench async throws in
            let command = GetCached(cache: Self.minute)
            #expect(try await bench.client.run(command) == "own")
            #expect(try await bench.client.cached(command).value == "own")
            #expect(try await bench.client.cacheKey(for: command) != nil)
            try await bench.client.cache(Response(statusCode: 200, body: Array("seed".utf8)), for: command)
            #expect(try await bench.client.cached(command).value == "found")
            #expect(notes.all.count == 10)
        }
    }

    /// An interceptor that answers every request leaves no key.
    @Test func whatIsAnsweredHasNoKey() async throws {
        let own = Around { _, _, _ in Response(statusCode: 200) }
        try await CachingBench(change: { $0.interceptors = [own] }).run { bench async throws in
            let command = GetCached(cache: Self.minute)
            #expect(try await bench.client.cacheKey(for: command) == nil)
            await #expect(throws: ErrandError.interceptionFailed) { try await bench.client.removeCached(command) }
            await #expect(throws: ErrandError.cacheMiss) {
                try await bench.client.cache(Response(statusCode: 200), for: command)
            }
        }
    }

    /// What the interceptors return is validated, and what was given is stored.
    @Test func aSeedIsStoredAsItWasGiven() async throws {
        let own = Around { request, _, next in
            _ = try await next(request)
            return Response(statusCode: 200, body: Array("own".utf8))
        }
        try await CachingBench().run { bench async throws in
            let command = GetAround(interceptors: [own], cache: Self.minute)
            try await bench.client.cache(Response(statusCode: 200, body: Array("seed".utf8)), for: command)
            #expect(try await bench.client.cached(GetAround(cache: Self.minute)).value == "seed")
            #expect(bench.sent == 0)
        }
    }

    /// A key needs no response, so no fallback answers in place of one: that might send something.
    @Test func aKeyNeedsNoFallback() async throws {
        let fallback = Fallback(.command(GetAround(path: "other")), when: { _ in true })
        try await CachingBench(change: { $0.interceptors = [fallback] }).run { bench async throws in
            #expect(try await bench.client.cacheKey(for: GetCached(cache: Self.minute)) != nil)
            try await bench.client.removeCached(GetCached(cache: Self.minute))
            #expect(bench.sent == 0)
            #expect(fallback.counts == Fallback.Counts())
        }
    }

    /// A stored redirect leads to nothing that is stored, and nothing is sent for it.
    @Test func aStoredRedirectIsNotFollowedByTheNetwork() async throws {
        try await CachingBench(answer: { description, _ in
            description.url.hasSuffix("/x")
                ? .response(status: 302, headers: ["Location": "/y"]) : .response(status: 200, body: "y")
        }).run { bench async throws in
            let seed = Response(statusCode: 302, headers: ["Location": "/y"], body: Array("moved".utf8))
            let taking = GetCached(cache: Self.minute, acceptedStatusCodes: .of([200, 302]))
            try await bench.client.cache(seed, for: taking)
            let only = GetCached(cache: Self.minute.with(reading: .cacheOnly))
            guard case .failure(let error) = await bench.client.result(of: only) else {
                Issue.record("it succeeded")
                return
            }
            #expect(error == .cacheMiss)
            #expect(bench.sent == 0)
        }
    }

    /// The children of a group are intercepted, and the group is not.
    @Test func childrenAreIntercepted() async throws {
        let notes = Notes<String>()
        let client = Client.stubbed(statuses(200)) { $0.interceptors = [Around.noting("a", notes)] }
        let (first, second) = try await client.run(GetAround(path: "1"), GetAround(path: "2"))
        #expect([first, second] == ["200", "200"])
        #expect(notes.all.count == 4)
        await client.shutdown()
    }
}
