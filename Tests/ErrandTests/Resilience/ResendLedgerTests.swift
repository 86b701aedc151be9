import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Every further send is in the ledger of the request, and takes a token of the budget.
@Suite struct ResendLedgerTests {
    private struct Get: Command {
        var path: String
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    /// Whether the transport watches the first attempts, or makes a call for each.
    enum Way: CaseIterable {
        case watched, called

        func policy(attempts: Int) -> RetryPolicy {
            RetryPolicy(
                maxAttempts: attempts, backoff: RetryBackoff(base: .zero),
                attemptTimeout: self == .called ? .seconds(60) : nil)
        }
    }

    private static let origin = "http://a:80"
    private static let redirect = StubTransport.Answer.response(status: 302, headers: [.location: "/next"])

    /// A client whose budget has `tokens`, and earns none.
    private func client(
        _ stub: StubTransport, _ way: Way, tokens: Int = 10, _ change: (inout Client.Configuration) -> Void = { _ in }
    ) -> Client {
        var configuration = Client.Configuration(baseURL: "http://a/")
        configuration.clock = ManualClock()
        configuration.resilience = Resilience(
            retry: way.policy(attempts: 3), budget: RetryBudget.Policy(ratio: 0, floorPerSecond: Double(tokens) / 10))
        change(&configuration)
        return Client(configuration: configuration, transport: stub)
    }

    private func stub(_ answers: [StubTransport.Answer]) -> StubTransport {
        let left = Mutex(answers)
        return StubTransport { _ in left.withLock { $0.isEmpty ? .hold : $0.removeFirst() } }
    }

    private func counts(_ client: Client) throws -> RetryBudget.Counts {
        try #require(client.resilience?.budgets).budget(for: Self.origin).counts
    }

    /// Returns the request at its end.
    private func ended(_ request: Request<Get>) async -> Request<Get> {
        await withCheckedContinuation { done in _ = request.start { _ in done.resume() } }
        return request
    }

    @Test(arguments: Way.allCases) func aRedirectTakesATokenAndDepositsNothing(way: Way) async throws {
        let client = client(stub([Self.redirect, .response(status: 200)]), way)
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends == [.redirect])
        let counts = try counts(client)
        #expect(counts.deposits == 1 && counts.charges == 1 && counts.withdrawals == 1 && counts.refusals == 0)
        await client.shutdown()
    }

    /// Redirects go on without tokens; the retry after them does not.
    @Test(arguments: Way.allCases) func aRedirectIsNotRefused(way: Way) async throws {
        let stub = stub([Self.redirect, Self.redirect, .response(status: 503), .response(status: 200)])
        let client = client(stub, way, tokens: 2)
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 503 && request.resends == [.redirect, .redirect])
        let counts = try counts(client)
        #expect(counts.charges == 2 && counts.withdrawals == 2 && counts.refusals == 1)
        #expect(client.resilience?.counts.notRetried[.budgetExhausted] == 1 && stub.submitted.count == 3)
        await client.shutdown()
    }

    @Test(arguments: Way.allCases) func aRefreshedCredentialIsAnAuthentication(way: Way) async throws {
        let stub = StubTransport { request in
            .response(status: request.headers[.authorization] == "t1" ? 200 : 401)
        }
        let client = client(stub, way) {
            $0.interceptors = [AuthenticationInterceptor(TestAuthenticator(), credential: "t0")]
        }
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends == [.authentication])
        let counts = try counts(client)
        #expect(counts.deposits == 1 && counts.charges == 1 && counts.withdrawals == 1)
        // The answer to a challenge takes no token.
        #expect(try #require(client.resilience?.budgets).budget(for: Self.origin).available == 10)
        await client.shutdown()
    }

    /// What an interceptor inside repeats for its own reasons is a replay, also after an authentication.
    @Test func otherReplaysAreReplays() async throws {
        struct Twice: ReplayingInterceptor {
            func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
                guard case .response(let response) = result else { return false }
                return response.statusCode == 202
            }
        }
        let client = client(stub([.response(status: 401), .response(status: 202), .response(status: 200)]), .watched) {
            $0.interceptors = [AuthenticationInterceptor(TestAuthenticator(), credential: "t0"), Twice()]
        }
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends == [.authentication, .replay])
        #expect(try counts(client).charges == 2)
        await client.shutdown()
    }

    /// A hop that was not sent costs nothing: refused at once, or after it was accepted.
    @Test(arguments: Way.allCases, [true, false]) func aRefusedHopIsNotCharged(way: Way, atOnce: Bool) async throws {
        let refusal = ErrandError.addressRefused.refused
        let client = client(
            stub([Self.redirect, atOnce ? .refuse(.queueFull) : .failure(refusal)]), way
        ) { $0.resilience?.retry = way.policy(attempts: 1) }
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.error != nil)
        let counts = try counts(client)
        #expect(counts.deposits == 1 && counts.charges == 0 && counts.withdrawals == 0)
        await client.shutdown()
    }

    /// Where the request observes events, its first attempt is never watched.
    @Test(arguments: Way.allCases, [true, false])
    func whatTheEngineSendsAgainIsCharged(way: Way, isObserved: Bool) async throws {
        for fails in [true, false] {
            let stub = StubTransport()
            let recorder = EventRecorder()
            let client = client(stub, way) {
                $0.resilience?.retry = way.policy(attempts: fails ? 1 : 3)
                if isObserved { $0.accessories = [recorder] }
            }
            let request = client.start(Get(path: "first"))
            let id = try #require(stub.open.first)
            #expect(stub.send(.resending(.connection), to: id))
            #expect(stub.send(.resending(.authentication), to: id))
            stub.complete(id, with: fails ? .failure(.connectionLost) : .response(Response(statusCode: 200)))
            try await waitUntil("the request has ended") { request.state.isFinished }
            #expect(request.resends == [.connection, .authentication])
            let counts = try counts(client)
            #expect(counts.deposits == 1 && counts.charges == 2 && counts.withdrawals == 2)
            // The answer to a challenge takes no token.
            #expect(try #require(client.resilience?.budgets).budget(for: Self.origin).available == 9)
            await client.shutdown()
            guard isObserved else { continue }
            #expect(recorder.names.filter { $0.hasPrefix("resent") } == ["resent connection", "resent authentication"])
        }
    }

    /// The ledger of a request without resilience, and of one that is started once more.
    @Test func theLedgerNeedsNoBudget() async throws {
        let stub = StubTransport()
        let client = Client(configuration: Client.Configuration(baseURL: "http://a/"), transport: stub)
        let request = client.start(Get(path: "first"))
        stub.send(.resending(.connection), to: try #require(stub.open.first))
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("the request has ended") { request.state.isFinished && request.isAtRest }
        #expect(request.resends == [.connection])
        #expect(request.start())
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("the second run has ended") { request.state.isFinished && request.isAtRest }
        #expect(request.resends.isEmpty)
        await client.shutdown()
    }

    /// Requests that share a transfer see what became of it; the budget pays once.
    @Test func aSharedTransferIsChargedOnce() async throws {
        struct Shared: Command {
            var path: String { "shared" }
            var options: CommandOptions { .coalesced }
            typealias Response = Errand.Response
        }
        let stub = StubTransport()
        let client = client(stub, .watched)
        let requests = (0..<3).map { _ in client.start(Shared()) }
        let id = try #require(stub.open.first)
        #expect(stub.open.count == 1)
        stub.send(.resending(.connection), to: id)
        stub.complete(id, with: .response(Response(statusCode: 200)))
        try await waitUntil("all have ended") { requests.allSatisfy(\.state.isFinished) }
        #expect(requests.allSatisfy { $0.resends == [.connection] })
        let counts = try counts(client)
        #expect(counts.deposits == 1 && counts.charges == 1)
        await client.shutdown()
    }
}
