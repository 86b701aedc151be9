import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// What was removed stays away, whatever is on its way at that moment.
@Suite(.timeLimit(.minutes(20))) struct CacheRemovalTests {
    enum Removal: CaseIterable {
        case key, tag, age, all, unsafeMethod
    }

    private func remove(_ command: GetCached, _ how: Removal, _ bench: CachingBench) async throws {
        switch how {
        case .key: try await bench.client.removeCached(command)
        case .tag: _ = try await bench.client.cache.remove(tag: "t")
        case .age: _ = try await bench.client.cache.remove(olderThan: .seconds(30))
        case .all: _ = try await bench.client.cache.removeAll()
        case .unsafeMethod: _ = try await bench.client.run(GetCached(method: .put))
        }
    }

    private static func command(_ policy: CachePolicy) -> GetCached {
        var policy = policy
        policy.tags = ["t"]
        return GetCached(cache: policy)
    }

    /// Runs `command`, and removes what is stored for it while its transfer is on its way.
    private func removedWhileSent(
        _ command: GetCached, _ how: Removal, _ bench: CachingBench, _ answer: Response
    ) async throws -> String {
        async let value = bench.client.run(command)
        try await waitUntil("a transfer is open") { !bench.stub.open.isEmpty }
        let transfer = try #require(bench.stub.open.first)
        try await remove(command, how, bench)
        bench.stub.complete(transfer, with: .response(answer))
        return try await value
    }

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http], Removal.allCases)
    func whatWasAskedForBeforeIsNotStoredAfter(_ policy: CachePolicy, _ how: Removal) async throws {
        guard policy.box?.members.isTimed != true || how != .unsafeMethod else { return }
        // What comes now is of no age.
        guard how != .age else { return }
        let fields: HTTPFields = ["Cache-Control": "max-age=60"]
        try await CachingBench(
            answer: { description, number in
                guard description.method == .get else { return .response(status: 204) }
                return number == 2 ? .hold : .response(status: 200, headers: fields, body: "\(number)")
            }
        ).run { bench async throws in
            let command = Self.command(policy)
            // So that the cache knows of HTTP.
            _ = try await bench.client.run(GetCached(path: "other", cache: .http))
            let old = Response(statusCode: 200, headers: fields, body: Array("old".utf8))
            #expect(try await removedWhileSent(command, how, bench, old) == "old")
            #expect(await bench.finished(command).isFromCache == false)
            #expect(await bench.finished(command).isFromCache)
        }
    }

    /// A 304 says that what was stored is the same as before, and not that it is back.
    @Test(arguments: Removal.allCases) func a304BringsNothingBack(_ how: Removal) async throws {
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"t\""]
        try await CachingBench(
            answer: { description, number in
                guard description.method == .get else { return .response(status: 204) }
                return number == 2 ? .hold : .response(status: 200, headers: fields, body: "\(number)")
            }
        ).run { bench async throws in
            let command = Self.command(.http)
            #expect(try await bench.client.run(command) == "1")
            bench.clock.advance(60)
            let unchanged = Response(statusCode: 304, headers: fields, body: [])
            #expect(try await removedWhileSent(command, how, bench, unchanged) == "1")
            let next = await bench.finished(command)
            #expect(!next.isFromCache)
            #expect(next.value != "1")
        }
    }

    /// Whoever asks after `remove` finds nothing, though the store has not heard of it.
    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http])
    func aKeyIsNotFoundOnceRemovedThoughTheStoreIsBusy(_ policy: CachePolicy) async throws {
        let store = HeldStore()
        try await CachingBench(
            store: store,
            answer: { .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\($1)") }
        ).run { bench async throws in
            let command = GetCached(cache: policy)
            #expect(try await bench.client.run(command) == "1")
            let key = try #require(await bench.client.cacheKey(for: command))
            await bench.client.cache.flush()
            store.hold()
            bench.client.cache.remove(key)
            try await store.entered()
            async let value = bench.client.run(command)
            store.release()
            #expect(try await value == "2")
        }
    }

    @Test func moreRemovalsThanAreToldApartAreOfEverything() {
        let removals = CacheChanges(most: 2)
        let before = removals.moment
        removals.noteRemoval(of: ["a"])
        #expect(removals.hasRemoved({ ["a"] }, since: before))
        #expect(!removals.hasRemoved({ ["b"] }, since: before))
        #expect(!removals.hasRemoved({ ["a"] }, since: removals.moment))
        removals.noteRemoval(of: ["b", "c"])
        #expect(removals.hasRemoved({ ["d"] }, since: before))
        #expect(!removals.hasRemoved({ ["d"] }, since: removals.moment))
    }
}
