import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

/// What the transfers of a run pay to the retry budgets of their services: the first one to each service deposits, and a
/// further one is charged.
@Suite(.timeLimit(.minutes(20))) struct SendPaymentTests {
    private struct Get: Command {
        var path: String
        var resilience: RequestResilience?
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    /// Asks up to three times, until there is a response.
    private struct Again: Interceptor {
        func intercept(
            _ request: RequestDescription, in context: InterceptionContext, next: Next
        ) async throws -> Response {
            for _ in 0..<2 {
                if let response = try? await next(request) { return response }
            }
            return try await next(request)
        }
    }

    /// A client whose budgets earn a token with each deposit, and have none before.
    private func client(
        _ stub: StubTransport, _ way: ResendLedgerTests.Way, attempts: Int = 3,
        _ change: (inout Client.Configuration) -> Void = { _ in }
    ) -> Client {
        var configuration = Client.Configuration(baseURL: "http://a/")
        configuration.clock = ManualClock()
        configuration.resilience = Resilience(
            retry: way.policy(attempts: attempts), budget: RetryBudget.Policy(ratio: 1, floorPerSecond: 0))
        change(&configuration)
        return Client(configuration: configuration, transport: stub)
    }

    private func stub(_ answers: [StubTransport.Answer]) -> StubTransport {
        let left = Mutex(answers)
        return StubTransport { _ in left.withLock { $0.isEmpty ? .hold : $0.removeFirst() } }
    }

    private func redirect(_ target: String) -> StubTransport.Answer {
        .response(status: 302, headers: [.location: target])
    }

    private func counts(_ client: Client, _ key: String = "http://a:80") throws -> RetryBudget.Counts {
        try #require(client.resilience?.budgets).budget(for: key).counts
    }

    /// Returns the request at its end.
    private func ended(_ request: Request<Get>) async -> Request<Get> {
        await withCheckedContinuation { done in _ = request.start { _ in done.resume() } }
        return request
    }

    // MARK: Redirects

    /// The service that a redirect leads to sees the request once: its retries are paid for.
    @Test(arguments: ResendLedgerTests.Way.allCases)
    func theTargetOfARedirectIsPaidFor(way: ResendLedgerTests.Way) async throws {
        let stub = stub([redirect("http://b/next"), .response(status: 503), .response(status: 200)])
        let client = client(stub, way)
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends == [.redirect, .retry("status503")])
        let first = try counts(client)
        #expect(first.deposits == 1 && first.charges == 0 && first.withdrawals == 0)
        let second = try counts(client, "http://b:80")
        #expect(second.deposits == 1 && second.charges == 0 && second.withdrawals == 1 && second.refusals == 0)
        await client.shutdown()
    }

    @Test(arguments: ResendLedgerTests.Way.allCases)
    func aRedirectThatLeadsBackIsCharged(way: ResendLedgerTests.Way) async throws {
        let stub = stub([redirect("http://b/next"), redirect("http://a/last"), .response(status: 200)])
        let client = client(stub, way)
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends == [.redirect, .redirect])
        let first = try counts(client)
        #expect(first.deposits == 1 && first.charges == 1)
        let second = try counts(client, "http://b:80")
        #expect(second.deposits == 1 && second.charges == 0)
        await client.shutdown()
    }

    /// One name is one service, whatever the origin.
    @Test func originsUnderOneName() async throws {
        let client = client(stub([redirect("http://b/next"), .response(status: 200)]), .watched)
        let request = await ended(client.request(Get(path: "first", resilience: .init(name: "both"))))
        #expect(request.response?.statusCode == 200)
        let counts = try counts(client, "both")
        #expect(counts.deposits == 1 && counts.charges == 1)
        await client.shutdown()
    }

    /// A redirect that the cache serves costs nothing, so what it leads to is sent first.
    @Test func aStoredRedirect() async throws {
        try await CachingBench(
            answer: { description, number in
                description.url.hasSuffix("/x")
                    ? .response(status: 301, headers: ["Cache-Control": "max-age=60", "Location": "/y"])
                    : .response(status: 200, headers: ["Cache-Control": "no-store"], body: "\(number)")
            }, change: { $0.resilience = Resilience() }
        ).run { bench async throws in
            let first = await bench.finished(GetCached(cache: .http))
            #expect(first.value == "2" && first.resends == [.redirect])
            let second = await bench.finished(GetCached(cache: .http))
            #expect(second.value == "3" && second.resends.isEmpty && bench.sent == 3)
            let counts = try counts(bench.client, "http://test:80")
            #expect(counts.deposits == 2 && counts.charges == 1)
        }
    }

    // MARK: Replays

    /// After refusals nothing was sent yet.
    @Test(arguments: ResendLedgerTests.Way.allCases, [true, false])
    func aReplayAfterARefusalIsTheFirstSend(way: ResendLedgerTests.Way, atOnce: Bool) async throws {
        let refusal =
            atOnce ? StubTransport.Answer.refuse(.queueFull) : .failure(ErrandError.addressRefused.refused)
        let stub = stub([refusal, refusal, .response(status: 200)])
        let client = client(stub, way) { $0.interceptors = [Again()] }
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends.isEmpty)
        let counts = try counts(client)
        #expect(counts.deposits == 1 && counts.charges == 0 && counts.withdrawals == 0)
        await client.shutdown()
    }

    @Test(arguments: ResendLedgerTests.Way.allCases)
    func aReplayAfterASendIsCharged(way: ResendLedgerTests.Way) async throws {
        let stub = stub([.failure(.connectionLost), .refuse(.queueFull), .response(status: 200)])
        let client = client(stub, way, attempts: 1) { $0.interceptors = [Again()] }
        let request = await ended(client.request(Get(path: "first")))
        #expect(request.response?.statusCode == 200 && request.resends == [.replay, .replay])
        let counts = try counts(client)
        #expect(counts.deposits == 1 && counts.charges == 1 && counts.withdrawals == 1)
        await client.shutdown()
    }

    /// A first attempt that was accepted and not sent has its deposit back.
    @Test(arguments: ResendLedgerTests.Way.allCases)
    func aDepositOfNothingGoesBack(way: ResendLedgerTests.Way) async throws {
        let client = client(stub([.failure(ErrandError.addressRefused.refused)]), way)
        #expect(await ended(client.request(Get(path: "first"))).error == .addressRefused)
        let counts = try counts(client)
        #expect(counts.deposits == 0 && counts.withdrawals == 0)
        await client.shutdown()
    }

    // MARK: The cache

    /// The second question after a 304 that fits nothing (RFC 9111 4.3.4).
    @Test func theSecondQuestionOfTheCache() async throws {
        try await CachingBench(
            answer: { description, number in
                description.headers[.ifNoneMatch] == nil
                    ? .response(
                        status: 200, headers: ["Cache-Control": "no-cache", "ETag": "\"\(number)\""],
                        body: "\(number)")
                    : .response(status: 304, headers: ["ETag": "\"other\""])
            }, change: { $0.resilience = Resilience() }
        ).run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: .http))
            let again = await bench.finished(GetCached(cache: .http))
            #expect(again.value == "3" && again.resends == [.revalidation])
            let counts = try counts(bench.client, "http://test:80")
            #expect(counts.deposits == 2 && counts.charges == 1)
        }
    }

    @Test func aSecondQuestionThatIsRefused() async throws {
        try await CachingBench(
            answer: { description, number in
                switch number {
                case 1: .response(status: 200, headers: ["Cache-Control": "no-cache", "ETag": "\"1\""], body: "1")
                case 2: .response(status: 304, headers: ["ETag": "\"other\""])
                default: .refuse(.queueFull)
                }
            }, change: { $0.resilience = Resilience() }
        ).run { bench async throws in
            _ = try await bench.client.run(GetCached(cache: .http))
            let again = await bench.finished(GetCached(cache: .http))
            #expect(again.error == .queueFull && again.error?.isRefusal == false && again.resends.isEmpty)
            let counts = try counts(bench.client, "http://test:80")
            #expect(counts.deposits == 2 && counts.charges == 0)
        }
    }

    // MARK: Hedges

    /// Sends a hedge whose answer ends the transfer. The other attempt reports `early` before the end, and `late` after
    /// the end, like a cancelled transfer of the engine.
    private func lose(
        _ fixture: ResilientFixture, early: [TransferEvent.Kind] = [], late: TransferEvent.Kind
    ) async throws -> CallReceiver {
        let callbacks = CallbackQueue.inline()
        let (receiver, _) = try fixture.submit(callbacks: callbacks)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the hedge was sent") { fixture.transport.parts.counts.hedges == 1 }
        let stub = fixture.stub
        let open = stub.open
        try #require(open.count == 2)
        for event in early { stub.send(event, to: open[0]) }
        // The queue runs both events after this block: first the end, which cancels the other attempt.
        callbacks.async {
            stub.complete(open[1], with: .response(Response(statusCode: 200)))
            stub.send(late, to: open[0])
        }
        #expect(receiver.events.all.last == "200" && stub.cancelled == [open[0]])
        return receiver
    }

    private func hedgingFixture() -> ResilientFixture {
        let own = RetryBudget.Policy(ratio: 1, floorPerSecond: 5)
        return ResilientFixture(
            Resilience(
                budget: RetryBudget.Policy(), hedge: HedgePolicy(delay: .fixed(.milliseconds(100)), budget: own)))
    }

    /// The list of a request is closed when the loser reports its resends. The budget pays for them.
    @Test(arguments: [Resend.connection, .authentication]) func theResendOfALoser(reason: Resend) async throws {
        let fixture = hedgingFixture()
        let receiver = try await lose(fixture, late: .resending(reason))
        #expect(receiver.resends.all == ["hedge"])
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        let counts = budget.counts
        #expect(counts.deposits == 1 && counts.charges == 1 && counts.withdrawals == 2)
        // The answer to a challenge takes no token.
        #expect(budget.available == (reason == .connection ? 8 : 9))
        #expect(fixture.isEmpty())
    }

    /// The send to the origin after a 421 was refused when the attempt had lost: its token goes back.
    @Test func theResendOfALoserThatWasNotSent() async throws {
        let fixture = hedgingFixture()
        let receiver = try await lose(
            fixture, early: [.resending(.alternative)], late: .notResent(.alternative))
        #expect(receiver.resends.all == ["hedge", "alternative"])
        let counts = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80").counts
        #expect(counts.deposits == 1 && counts.charges == 0 && counts.withdrawals == 1)
        #expect(fixture.isEmpty())
    }

    /// The hedges' own budget gets its share of the first sends alone.
    @Test func aFurtherSendPaysForNoHedge() throws {
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(100)))
        let fixture = ResilientFixture(Resilience(budget: RetryBudget.Policy(), hedge: hedge))
        for payment in [SendPayment.deposit, .charge, .count] {
            var description = try ResilientFixture.description()
            description.payment = payment
            _ = try fixture.submit(description)
            try fixture.answer(200)
        }
        #expect(fixture.transport.parts.hedgeTracker(for: "http://a:80", hedge).budget.counts.deposits == 1)
        let counts = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80").counts
        #expect(counts.deposits == 1 && counts.charges == 2 && counts.withdrawals == 2)
        #expect(fixture.isEmpty())
    }
}
