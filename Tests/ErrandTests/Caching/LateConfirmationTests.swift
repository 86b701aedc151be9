import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// A 304 that took long says that what was stored when it was asked for still held, and nothing of what came since.
@Suite(.timeLimit(.minutes(20))) struct LateConfirmationTests {
    private static func fields(_ tag: String, vary: String? = nil) -> HTTPFields {
        var fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"\(tag)\""]
        fields["Vary"] = vary
        return fields
    }

    /// Old is stored, becomes stale and is asked about; new comes, and only then the 304 for old. Returns who asked.
    private func confirmLate(_ bench: CachingBench, vary: String? = nil) async throws -> Request<GetCached> {
        let get = GetCached(cache: .http)
        #expect(try await bench.client.run(get) == "old")
        bench.clock.advance(61)
        async let late = bench.finished(get)
        try await waitUntil("a transfer is open") { !bench.stub.open.isEmpty }
        let transfer = try #require(bench.stub.open.first)
        #expect(try await bench.client.run(GetCached(cache: .http(reading: .networkOnly))) == "new")
        bench.stub.complete(
            transfer, with: .response(Response(statusCode: 304, headers: Self.fields("old", vary: vary))))
        let confirmed = await late
        #expect(confirmed.value == "old")
        return confirmed
    }

    /// Stored without `Vary` or with it, and replaced by one without or with it.
    @Test(arguments: [nil, "Accept"], [nil, "Accept"])
    func itIsNotStoredOverANewerResponse(_ old: String?, _ new: String?) async throws {
        try await CachingBench(answer: { _, number in
            switch number {
            case 1: .response(status: 200, headers: Self.fields("old", vary: old), body: "old")
            case 2: .hold
            default: .response(status: 200, headers: Self.fields("new", vary: new), body: "new")
            }
        }).run { bench async throws in
            let confirmed = try await confirmLate(bench, vary: old)
            // It is not what is stored.
            #expect(confirmed.response?.cacheStatus == "errand; fwd=stale; fwd-status=304; ttl=60")
            let next = await bench.finished(GetCached(cache: .http))
            #expect(next.value == "new" && next.isFromCache)
        }
    }

    /// What is newer and must not be kept has taken the place of what was stored, all the same.
    @Test func itBringsNothingBackThatANewerResponseRemoved() async throws {
        try await CachingBench(answer: { _, number in
            switch number {
            case 1: .response(status: 200, headers: Self.fields("old"), body: "old")
            case 2: .hold
            default: .response(status: 200, headers: ["Cache-Control": "no-store"], body: "new")
            }
        }).run { bench async throws in
            _ = try await confirmLate(bench)
            let next = await bench.finished(GetCached(cache: .http))
            #expect(next.value == "new" && !next.isFromCache)
        }
    }

    /// A file that is only read loses nothing to it: what was stored is as good as before, and is asked about again.
    @Test func whereNothingCanBeWrittenTheOldOneStays() async throws {
        let store = HeldStore()
        try await CachingBench(
            store: store,
            answer: { description, _ in
                if description.url.hasSuffix("y") || description.headers[.ifNoneMatch] == nil {
                    return .response(status: 200, headers: Self.fields("t"), body: "body")
                }
                return .response(status: 304, headers: Self.fields("t"), body: "")
            }
        ).run { bench async throws in
            let get = GetCached(cache: .http)
            #expect(try await bench.client.run(get) == "body")
            await bench.client.cache.flush()
            store.fail(.readOnly, health: CacheHealth(.readingOnly, reason: .readOnly))
            // The first write that fails tells it.
            _ = try await bench.client.run(GetCached(path: "y", cache: .http))
            await bench.client.cache.flush()
            for _ in 0..<2 {
                bench.clock.advance(61)
                let confirmed = await bench.finished(get)
                #expect(confirmed.value == "body")
                #expect(confirmed.response?.cacheStatus == "errand; fwd=stale; fwd-status=304; ttl=60")
                await bench.client.cache.flush()
            }
        }
    }

    @Test func whatIsNotedHasABound() throws {
        let changes = CacheChanges(most: 2)
        let keys = try (1...4).map { try #require(CacheKey(hashing: [[$0]])) }
        let start = changes.moment
        changes.noteArrival(under: keys[0])
        #expect(changes.hasStored(under: [keys[0]], since: start) && !changes.hasStored(under: [keys[1]], since: start))
        #expect(!changes.hasRemoved({ [keys[0].removalName] }, since: start))
        changes.noteArrival(under: keys[1])
        let later = changes.moment
        #expect(!changes.hasStored(under: keys, since: later))
        changes.noteArrival(under: keys[2])
        // Those before are not told apart any more.
        #expect(changes.hasStored(under: [keys[3]], since: later))
        #expect(!changes.hasStored(under: keys, since: changes.moment))
    }
}
