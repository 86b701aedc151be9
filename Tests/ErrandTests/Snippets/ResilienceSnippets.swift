import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

/// The code of the guide "Calls that fail"; GuideTests compares it line by line.
@Suite(.timeLimit(.minutes(20))) struct ResilienceSnippets {
    struct GetPrice: Command {
        var item: String
        var path: String { "prices/\(segment: item)" }
        typealias Response = Int
    }

    struct GetStock: Command {
        var item: String
        var path: String { "stocks/\(segment: item)" }
        typealias Response = Int
    }

    struct PlaceOrder: Command {
        var item: String
        var key: String  // made once for the order, and stored with it
        var method: HTTPRequest.Method { .post }
        var path: String { "orders" }
        var body: RequestBody { .json(["item": item]) }
        var headers: HTTPFields { [HTTPField.Name("Idempotency-Key"): key] }
        typealias Response = NoContent
    }

    struct Nonces: AttemptSigner {
        let mac: @Sendable (_ url: String, _ body: [UInt8], _ nonce: String) -> String

        func sign(_ attempt: inout SignableAttempt) throws {
            guard let body = attempt.bodyBytes else { throw ErrandError.invalidBody }  // the bytes are not in memory
            let nonce = String(UInt64.random(in: .min ... .max), radix: 16)
            try attempt.headers.set(.authorization, to: "MAC \(nonce):\(mac(attempt.url, body, nonce))")
        }
    }

    struct Export: Command {
        var path: String { "export" }
        var resilience: RequestResilience? {
            RequestResilience(
                breaker: BreakerPolicy(minimumCalls: 5, openTime: .seconds(30)),
                concurrency: ConcurrencyLimit.Settings(limit: 2, queueCapacity: 10),
                rate: .unlimited, name: "export")
        }
        typealias Response = NoContent
    }

    struct Preview: Command {
        var path: String  // the URL of a user
        var resilience: RequestResilience? { .init(addressGuard: .own(AddressGuard(proxiedNames: .refuse))) }
        typealias Response = Errand.Response
    }

    struct Search: Command {
        let replicas: CommandEndpoints
        var path: String { "search" }
        var resilience: RequestResilience? { .init(deadlineHeader: .grpcTimeout, endpoints: .own(replicas)) }
        typealias Response = NoContent
    }

    struct Busy: Error {
        var retryAfter: Duration?
    }

    final class RetryLog: EventAccessory {
        let lines = Mutex<[String]>([])

        func request(_ request: AnyRequest, did event: RequestEvent) {
            guard case .retrying(let retry) = event else { return }
            lines.withLock { $0.append("attempt \(retry.attempt): \(retry.reason), again in \(retry.wait)") }
        }

        func requestWillStart(_ request: AnyRequest) {}
        func requestWillStop(_ request: AnyRequest) {}
        func requestDidStop(_ request: AnyRequest) {}
    }

    static func standard(_ configuration: inout Client.Configuration) {
        configuration.resilience = .standard
    }

    static func guarded(_ configuration: inout Client.Configuration) throws {
        configuration.resilience?.hedge = HedgePolicy(delay: .percentile(0.95, initial: .milliseconds(300)))
        configuration.endpoints = [try ServiceEndpoints(of: "https://prices.example.com", .dns())]
        configuration.addressGuard = AddressGuard(rules: [try .allow("10.1.0.0/16", ports: 443...443)])
    }

    static func replicas(of readers: [Endpoint]) throws -> CommandEndpoints {
        let replicas = CommandEndpoints(try ServiceEndpoints(of: "https://api.example.com", .list(readers)))
        return replicas
    }

    static func signed(
        _ configuration: inout Client.Configuration, _ mac: @escaping @Sendable (String, [UInt8], String) -> String
    ) {
        configuration.attemptSigner = Nonces(mac: mac)
    }

    static func service() -> Client {
        var configuration = Client.Configuration(baseURL: "https://prices.example.com")
        configuration.timeouts = Timeouts(connect: .milliseconds(500), total: .seconds(2))
        configuration.resilience = Resilience(
            retry: RetryPolicy(
                maxAttempts: 3,
                backoff: RetryBackoff(base: .milliseconds(50), cap: .milliseconds(500)),
                attemptTimeout: .milliseconds(600)),
            budget: RetryBudget.Policy(ratio: 0.1, floorPerSecond: 1),
            breaker: BreakerPolicy(failureRate: 0.5, minimumCalls: 20, openTime: .seconds(5)),
            concurrency: ConcurrencyLimit.Settings(limit: 50, longestWait: .milliseconds(200)),
            rate: RateLimit.Settings(rate: .init(200, per: .seconds(1)), burst: 20))
        let prices = Client(configuration: configuration)
        return prices
    }

    static func price(of item: String, _ prices: Client) async throws -> Int? {
        do {
            return try await prices.run(GetPrice(item: item))
        } catch ErrandError.circuitOpen {
            return nil  // the service has failed for a while, and nothing was sent
        } catch let error as ErrandError where error == .limitExceeded {
            throw Busy(retryAfter: error.retryAfter)
        }
    }

    static func offer(
        of item: String, _ prices: Client, _ stocks: Client, timeLeft: Duration = .seconds(1)
    ) async throws -> (Int, Int) {
        try await Deadline.limit(to: .after(timeLeft)) {
            let price = try await prices.run(GetPrice(item: item))
            let stock = try await stocks.run(GetStock(item: item))
            return (price, stock)
        }
    }

    static func show(_ prices: Client) {
        if let parts = prices.resilience {
            let counts = parts.counts
            print("\(counts.attempts) attempts for \(counts.transfers) transfers, retries: \(counts.retries)")
            print("refused: \(counts.refusedByBreaker) by breakers, \(counts.refusedByLimit) by limits")
            for breaker in parts.breakers?.all ?? [] { print(breaker.name, breaker.state, breaker.counts.openings) }
        }
    }

    static func dry(_ configuration: inout Client.Configuration) -> Client {
        configuration.addressGuard?.isDryRun = true
        let client = Client(configuration: configuration)
        return client
    }

    static func showGuard(of client: Client) {
        if let counts = client.addressGuardCounts {
            print("\(counts.wouldRefuse) addresses would have been refused, by rule: \(counts.byRule)")
        }
    }

    /// A client that retries at once, over a transport that answers by `answer`.
    private func client(
        breaker: BreakerPolicy? = nil, _ log: RetryLog,
        _ answer: @escaping @Sendable (RequestDescription) -> StubTransport.Answer
    ) -> Client {
        var configuration = Client.Configuration(baseURL: "http://test/")
        // The clock stands still: the window and the open time of a breaker do not end on a slow machine.
        configuration.clock = ManualClock()
        Self.standard(&configuration)
        configuration.resilience?.retry = RetryPolicy(backoff: .none)
        configuration.resilience?.breaker = breaker
        configuration.timeouts = Timeouts(total: .seconds(300))
        configuration.accessories = [log]
        return Client(configuration: configuration, transport: StubTransport(answer))
    }

    @Test func retriesAreEventsAndCounts() async throws {
        let sent = Mutex(0)
        let log = RetryLog()
        let client = client(log) { _ in
            sent.withLock { $0 += 1 }
            return sent.withLock { $0 } < 3 ? .response(status: 503) : .response(status: 200, body: "7")
        }
        #expect(try await Self.price(of: "lamp", client) == 7)
        #expect(
            log.lines.withLock { $0 } == [
                "attempt 1: status503, again in 0.0 seconds", "attempt 2: status503, again in 0.0 seconds",
            ])
        Self.show(client)
        let offer = try await Self.offer(of: "lamp", client, client, timeLeft: .seconds(300))
        #expect(offer == (7, 7))
        await client.shutdown()
        await Self.service().shutdown()
    }

    @Test func aPostWithAKeyIsSentAgain() async throws {
        let keys = Mutex<[String]>([])
        let log = RetryLog()
        let client = client(log) { description in
            let key = description.headers.fields[HTTPField.Name("Idempotency-Key")] ?? ""
            let count = keys.withLock { keys in
                keys.append(key)
                return keys.count
            }
            return count == 1 ? .failure(.connectionLost) : .response(status: 200)
        }
        _ = try await client.run(PlaceOrder(item: "lamp", key: "8e03978e"))
        #expect(keys.withLock { $0 } == ["8e03978e", "8e03978e"])
        await client.shutdown()
    }

    @Test func eachAttemptHasANonce() async throws {
        let stub = StubTransport { sent in
            sent.url.hasPrefix("http://test/")
                ? .response(status: 307, headers: [.location: "http://other/orders"]) : .response(status: 200)
        }
        var configuration = Client.Configuration(baseURL: "http://test/")
        Self.signed(&configuration) { url, body, _ in "\(url) \(body.count)" }
        let client = Client(configuration: configuration, transport: stub)
        _ = try await client.run(PlaceOrder(item: "lamp", key: "8e03978e"))
        let signatures = stub.submitted.map { $0.headers[.authorization] }
        #expect(signatures.count == 2 && signatures.last == .some(nil))
        #expect(signatures.first??.hasSuffix(":http://test/orders 15") == true)
        await client.shutdown()
    }

    @Test func aCommandHasPartsOfItsOwn() async throws {
        let client = client(RetryLog()) { _ in .response(status: 500) }
        for _ in 0..<5 {
            await #expect(throws: ErrandError.statusNotAccepted) { _ = try await client.run(Export()) }
        }
        await #expect(throws: ErrandError.circuitOpen) { _ = try await client.run(Export()) }
        #expect(client.resilience?.allBreakers.map { $0.name } == ["export"])
        await #expect(throws: ErrandError.statusNotAccepted) { _ = try await Self.price(of: "lamp", client) }
        await client.shutdown()
    }

    /// Two commands of one client that go elsewhere than its other requests.
    @Test func commandsGoElsewhere() async throws {
        let stub = StubTransport { _ in .response(status: 204) }
        var configuration = Client.Configuration(baseURL: "https://api.example.com/")
        configuration.resilience = Resilience()
        let client = Client(configuration: configuration, transport: stub)
        let replicas = try Self.replicas(of: [try Endpoint("https://replica.example.com")])
        _ = try await client.run(Search(replicas: replicas))
        #expect(stub.submitted.map(\.url) == ["https://replica.example.com:443/search"])
        _ = try await client.run(Preview(path: "http://user.example/"))
        #expect(stub.submitted.map(\.url).last == "http://user.example/")
        #expect(replicas.set.counts.picks == 1)
        await client.shutdown()
    }

    @Test func theFurtherPartsAreSet() async throws {
        var configuration = Client.Configuration()
        Self.standard(&configuration)
        try Self.guarded(&configuration)
        #expect(configuration.resilience?.hedge?.maxExtra == 1 && configuration.endpoints.count == 1)
        #expect(configuration.addressGuard != nil)
        let client = Self.dry(&configuration)
        Self.showGuard(of: client)
        #expect(client.addressGuardCounts?.wouldRefuse == 0)
        await client.shutdown()
    }

    @Test func anOpenBreakerIsAnErrorOfItsOwn() async throws {
        let log = RetryLog()
        let client = client(breaker: BreakerPolicy(minimumCalls: 1, openTime: .seconds(300)), log) { _ in
            .response(status: 500)
        }
        await #expect(throws: ErrandError.statusNotAccepted) { _ = try await Self.price(of: "lamp", client) }
        #expect(try await Self.price(of: "lamp", client) == nil)
        Self.show(client)
        await client.shutdown()
    }
}
