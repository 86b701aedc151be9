import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel

/// Every way of reading, of both kinds of policy, with every state of what is stored and of the network.
@Suite(.timeLimit(.minutes(20))) struct CacheReadingTests {
    enum Stored: String, CaseIterable {
        case nothing, fresh, expired
    }

    enum Network: String, CaseIterable {
        case works, fails, serverError
    }

    struct Outcome: Equatable, CustomStringConvertible {
        /// `stored`, `new`, or the error's name.
        var end: String
        var isFromCache = false
        var sent: Int
        var told: [String] = []

        var description: String { "\(end) cache=\(isFromCache) sent=\(sent) told=\(told)" }
    }

    private static let readings: [CacheReading] = [
        .cacheElseNetwork, .networkOnly, .cacheOnly, .cacheThenNetwork, .networkElseCache,
    ]

    private func outcome(
        _ policy: CachePolicy, _ reading: CacheReading, _ stored: Stored, _ network: Network
    ) async throws -> Outcome {
        let isSeeded = Mutex(stored == .nothing)
        let works: HTTPFields = ["Cache-Control": "max-age=60"]
        var outcome = Outcome(end: "", sent: 0)
        try await CachingBench(answer: { _, _ in
            let isFirst = isSeeded.withLock { seeded in
                defer { seeded = true }
                return !seeded
            }
            if isFirst { return .response(status: 200, headers: works, body: "stored") }
            return switch network {
            case .works: .response(status: 200, headers: works, body: "new")
            case .fails: .failure(.connectFailed)
            case .serverError: .response(status: 503)
            }
        }).run { bench async throws in
            var policy = policy
            if stored != .nothing { _ = try await bench.client.run(GetCached(cache: policy)) }
            if stored == .expired { bench.clock.advance(61) }
            let before = bench.sent
            policy.reading = reading
            let request = bench.client.request(GetCached(cache: policy))
            let told = Notes<String>()
            request.onCached { value, response in told.add(response.isFromCache ? value : "not stored") }
            _ = await bench.finished(request)
            outcome = Outcome(
                end: request.value ?? request.error?.shortDescription ?? "", isFromCache: request.isFromCache,
                sent: bench.sent - before, told: told.all)
        }
        return outcome
    }

    private func expected(_ reading: CacheReading, _ stored: Stored, _ network: Network) -> Outcome {
        var fetched = Outcome(end: "new", sent: 1)
        if network == .fails { fetched.end = "connectFailed" }
        if network == .serverError { fetched.end = "statusNotAccepted" }
        let hit = Outcome(end: "stored", isFromCache: true, sent: 0)
        switch (reading, stored) {
        case (.cacheOnly, .fresh), (.cacheElseNetwork, .fresh):
            return hit
        case (.cacheOnly, _):
            return Outcome(end: "cacheMiss", sent: 0)
        case (.cacheThenNetwork, .fresh):
            fetched.told = ["stored"]
            return fetched
        case (.networkElseCache, .fresh):
            return network == .works ? fetched : Outcome(end: "stored", isFromCache: true, sent: 1)
        case (.cacheElseNetwork, _), (.networkOnly, _), (.cacheThenNetwork, _), (.networkElseCache, _):
            return fetched
        }
    }

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http]) func everyReadingInEveryState(
        _ policy: CachePolicy
    ) async throws {
        for reading in Self.readings {
            for stored in Stored.allCases {
                for network in Network.allCases {
                    let outcome = try await outcome(policy, reading, stored, network)
                    let expected = expected(reading, stored, network)
                    #expect(outcome == expected, "\(reading), \(stored), \(network)")
                }
            }
        }
    }

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http], [Network.fails, .serverError])
    func whatHasExpiredStandsInForSoLongAsAllowed(_ policy: CachePolicy, _ network: Network) async throws {
        try await CachingBench(answer: { _, number in
            number == 1
                ? .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "stored")
                : network == .fails ? .failure(.timeoutIdle) : .response(status: 500)
        }).run { bench async throws in
            var policy = policy
            policy.staleIfError = .seconds(10)
            _ = try await bench.client.run(GetCached(cache: policy))
            bench.clock.advance(70)
            let standIn = await bench.finished(GetCached(cache: policy))
            #expect(standIn.value == "stored")
            #expect(standIn.isFromCache)
            let code = network == .fails ? "" : "; fwd-status=500"
            #expect(standIn.response?.cacheStatus == "errand; fwd=stale\(code); ttl=-10; detail=stand-in")
            bench.clock.advance(2)
            let none = await bench.finished(GetCached(cache: policy))
            #expect(none.error == (network == .fails ? .timeoutIdle : .statusNotAccepted))
        }
    }

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http]) func aStopIsNoReasonForAStandIn(
        _ policy: CachePolicy
    ) async throws {
        try await CachingBench(answer: { _, number in
            number == 1 ? .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "stored") : .hold
        }).run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: policy))
            let request = bench.client.request(GetCached(cache: policy.with(reading: .networkElseCache)))
            async let end = bench.finished(request)
            try await waitUntil("a transfer is open") { !bench.stub.open.isEmpty }
            request.stop()
            #expect(await end.error == .cancelled)
            #expect(!request.isFromCache)
        }
    }

    /// YTKNetwork `startWithoutCache`: nothing is read, all is written.
    @Test func oneStartMayIgnoreTheCache() async throws {
        try await CachingBench().run { bench async throws in
            let policy = CachePolicy.timed(.seconds(60))
            let request = await bench.finished(GetCached(cache: policy))
            request.startIgnoringCache()
            try await bench.client.ended(request)
            #expect(request.value == "2")
            request.start()
            try await bench.client.ended(request)
            #expect(request.value == "2")
            #expect(request.isFromCache)
        }
    }

    @Test func theClientsPolicyIsForCommandsThatBringNone() async throws {
        try await CachingBench(change: { $0.settings.cache = .timed(.seconds(60)) }).run { bench async throws in
            #expect(try await bench.client.run(GetCached()) == "1")
            #expect(try await bench.client.run(GetCached()) == "1")
            #expect(try await bench.client.run(GetCached(cache: .off)) == "2")
            var overrides = RequestOverrides()
            overrides.cache = .timed(.seconds(60), version: 2)
            #expect(try await bench.client.run(GetCached(cache: .off), overrides: overrides) == "3")
            bench.client.reconfigure { $0.cache = .off }
            #expect(try await bench.client.run(GetCached()) == "4")
            bench.client.reconfigure { $0.cache = .timed(.seconds(60), version: 2) }
            #expect(try await bench.client.run(GetCached()) == "3")
        }
    }
}

extension Client {
    /// Returns when it is over.
    func ended(_ request: AnyRequest) async throws {
        try await waitUntil("the request is at rest") { request.isAtRest }
    }
}
