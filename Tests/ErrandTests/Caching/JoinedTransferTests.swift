import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching
@testable import ErrandModel

/// Requests that wait for another's transfer, and what is removed meanwhile.
@Suite struct JoinedTransferTests {
    enum Removal: CaseIterable {
        case unsafeRequest, tag, all
    }

    private static func collapsing(_ policy: CachePolicy) -> GetCached {
        var policy = policy
        policy.tags = ["t"]
        policy.collapsesMisses = true
        return GetCached(cache: policy)
    }

    private func remove(_ removal: Removal, _ bench: CachingBench) async throws {
        switch removal {
        case .unsafeRequest: _ = try await bench.client.run(GetCached(method: .put))
        case .tag: try await bench.client.cache.remove(tag: "t")
        case .all: try await bench.client.cache.removeAll()
        }
    }

    /// What was sent before brings what was there before: who comes later must neither be told it nor store it.
    @Test(arguments: Removal.allCases, [CachePolicy.http, .timed(.seconds(60))])
    func nobodyJoinsAcrossARemoval(_ removal: Removal, _ policy: CachePolicy) async throws {
        // Only what is stored by RFC 9111 is made void by an unsafe request.
        if removal == .unsafeRequest, policy.box?.members.isTimed == true { return }
        let fields: HTTPFields = ["Cache-Control": "max-age=60"]
        try await CachingBench(answer: { description, number in
            if description.method == .put { return .response(status: 204) }
            return number == 1 ? .hold : .response(status: 200, headers: fields, body: "new")
        }).run { bench async throws in
            let command = Self.collapsing(policy)
            let early = bench.client.request(command)
            early.start()
            try await remove(removal, bench)
            let late = try await bench.client.run(command)
            #expect(late == "new")
            let old = Response(statusCode: 200, headers: fields, body: Array("old".utf8))
            bench.stub.complete(try #require(bench.stub.open.first), with: .response(old))
            try await waitUntil("the request early has a result") { early.result != nil }
            #expect(early.value == "old")
            await bench.client.cache.flush()
            let stored = try await bench.client.run(command)
            #expect(stored == "new")
        }
    }

    /// What was removed is none of theirs: one transfer is enough, as it was before.
    @Test func othersRemovalsKeepNobodyApart() async throws {
        let fields: HTTPFields = ["Cache-Control": "max-age=60"]
        try await CachingBench(answer: { description, _ in
            description.url.hasSuffix("/y") ? .response(status: 204) : .hold
        }).run { bench async throws in
            let post = GetCached(cache: .http, method: .post, options: .coalesced)
            for command in [Self.collapsing(.http), Self.collapsing(.timed(.seconds(60))), post] {
                let early = bench.client.request(command)
                early.start()
                _ = try await bench.client.run(GetCached(path: "y", method: .put))
                try await bench.client.cache.remove(tag: "other")
                let late = bench.client.request(command)
                late.start()
                let ids = bench.stub.open
                #expect(ids.count == 1)
                let answer = Response(statusCode: 200, headers: fields, body: Array("a".utf8))
                bench.stub.complete(try #require(ids.first), with: .response(answer))
                for request in [early, late] {
                    try await waitUntil("the request has a result") { request.result != nil }
                    #expect(request.value == "a")
                }
                try await bench.client.cache.removeAll()
            }
        }
    }

    /// RFC 9111 4.2.3: the delay counts from when the request was sent, by whomever.
    @Test func theAgeCountsFromTheSending() async throws {
        let fields: HTTPFields = ["Cache-Control": "max-age=60"]
        try await CachingBench(answer: { _, number in number == 1 ? .hold : .response(status: 500) }).run {
            bench async throws in
            let command = Self.collapsing(.http)
            let early = bench.client.request(command)
            early.start()
            bench.clock.advance(30)
            let late = bench.client.request(command)
            late.start()
            let answer = Response(statusCode: 200, headers: fields, body: Array("a".utf8))
            bench.stub.complete(try #require(bench.stub.open.first), with: .response(answer))
            for request in [early, late] {
                try await waitUntil("the request has a result") { request.result != nil }
            }
            await bench.client.cache.flush()
            let hit = await bench.finished(GetCached(cache: .http))
            #expect(hit.response?.header(.age) == "30")
        }
    }
}
