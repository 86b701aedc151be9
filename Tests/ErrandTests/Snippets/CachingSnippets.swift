import Errand
import ErrandTesting
import Synchronization
import Testing

/// The code of the guide "Caching"; GuideTests compares it line by line.
@Suite struct CachingSnippets {
    struct GetPrices: Command {
        var path: String { "prices" }
        var cache: CachePolicy? { .timed(.seconds(60), version: 2) }
        struct Response: Decodable, Sendable { var cents: Int }
    }

    struct GetFeed: Command {
        var user: String
        var path: String { "feed?ts=\(ContinuousClock.now)" }
        var cache: CachePolicy? {
            var policy = CachePolicy.timed(.seconds(600), sensitiveData: user)
            policy.ignoredQueryItems = ["ts"]
            policy.tags = ["feeds"]
            return policy
        }
        typealias Response = String
    }

    static func start(_ client: Client) -> Request<GetPrices> {
        let request = client.start(
            GetPrices(),
            success: { request in
                print(request.value?.cents ?? 0, request.isFromCache, request.response?.cacheStatus ?? "")
            })
        return request
    }

    static func sequence(_ client: Client) async throws {
        for try await prices in client.values(of: GetPrices()) {
            print(prices.cents)
        }
    }

    static func twice(_ client: Client) -> Request<GetPrices> {
        var overrides = RequestOverrides()
        overrides.cache = GetPrices().cache?.with(reading: .cacheThenNetwork)
        let request = client.request(GetPrices(), overrides: overrides)
        request.onCached { prices, _ in print("yesterday", prices.cents) }
        request.start(success: { print("today", $0.value?.cents ?? 0) })
        return request
    }

    static func configured() -> Client.Configuration {
        var configuration = Client.Configuration(baseURL: "https://api.example.org/")
        configuration.cache = ResponseCache(LayeredCacheStore(over: MemoryCacheStore()), applicationVersion: "1.4")
        configuration.settings.cache = .http
        return configuration
    }

    static func beside(_ client: Client, _ response: Response) async throws -> Int {
        try await client.cache(response, for: GetPrices())
        let stored = try await client.cached(GetPrices())
        try await client.removeCached(GetPrices())
        try await client.cache.remove(tag: "feeds")
        await client.cache.flush()
        print(stored.value.cents, try await client.cache.statistics().bytes)
        return stored.value.cents
    }

    @Test func theGuideRuns() async throws {
        let stub = StubTransport { description in
            description.url.contains("feed")
                ? .response(status: 200, body: "feed") : .response(status: 200, body: "{\"cents\": 7}")
        }
        var configuration = Self.configured()
        // The clock stands still: a stored response stays fresh on a slow machine.
        configuration.cache = ResponseCache(
            LayeredCacheStore(over: MemoryCacheStore()), applicationVersion: "1.4", now: { 784_111_777_000 })
        let client = Client(configuration: configuration, transport: stub)
        for user in ["ada", "ada", "bob"] { #expect(try await client.run(GetFeed(user: user)) == "feed") }
        #expect(stub.submitted.count == 2)
        let requests = [Self.start(client), Self.start(client), Self.twice(client)]
        for request in requests {
            try await waitUntil("the request has ended") { request.state.isFinished }
            #expect(request.value?.cents == 7)
        }
        try await Self.sequence(client)
        let response = Response(statusCode: 200, body: Array("{\"cents\": 8}".utf8))
        #expect(try await Self.beside(client, response) == 8)
        #expect(client.settings.cache.isOff == false)
        await client.shutdown(.cancel)
    }
}
