import Dispatch
import Errand
import ErrandTesting
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// First attempts that have no call, because the transport watches the request's own receiver.
@Suite struct WatchedAttemptTests {
    private struct Get: Command {
        var path: String { "a" }
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    /// A client on a stub and a manual clock, whose callback queue can be held.
    private struct Fixture {
        let stub: StubTransport
        let clock = ManualClock()
        let queue = DispatchQueue(label: "errand.test.watched")
        let client: Client

        init(
            _ resilience: Resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .seconds(1)))),
            _ stub: StubTransport = StubTransport()
        ) {
            self.stub = stub
            var configuration = Client.Configuration(baseURL: "http://a/")
            configuration.resilience = resilience
            configuration.clock = clock
            configuration.callbackQueue = .dispatchQueue(queue)
            client = Client(configuration: configuration, transport: stub)
        }

        var calls: Int? { client.layer(ResilientTransport.self)?.count }

        /// Ends the open transfer; `body` runs before the request gets the end.
        func endFirst(with status: Int, after body: () async throws -> Void) async rethrows {
            let gate = DispatchSemaphore(value: 0)
            queue.async { gate.wait() }
            defer { gate.signal() }
            for id in stub.open { stub.complete(id, with: .response(Response(statusCode: status))) }
            try await body()
        }
    }

    @Test func aPlainRequestHasNoCall() async throws {
        let fixture = Fixture(.standard)
        let request = fixture.client.start(Get())
        #expect(fixture.stub.open.count == 1 && fixture.calls == 0)
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("the request has succeeded") { request.state == .succeeded }
        let parts = try #require(fixture.client.resilience)
        #expect(parts.counts.transfers == 1 && parts.counts.attempts == 1)
        let breaker = try #require(parts.breakers?.breaker(for: "http://a:80"))
        #expect(breaker.counts.allowed == 1 && breaker.tally.calls == 1 && breaker.tally.failures == 0)
        #expect(parts.budgets?.budget(for: "http://a:80").counts.deposits == 1)
        await fixture.client.shutdown()
    }

    /// The failure of a first attempt makes the call, with the permit and the budget of that attempt.
    @Test func aFailureIsRetried() async throws {
        let fixture = Fixture()
        let request = fixture.client.start(Get())
        await fixture.endFirst(with: 503) {}
        await fixture.clock.sleepers(1)
        #expect(fixture.calls == 1)
        fixture.clock.advance(by: .seconds(1))
        try await waitUntil("the retry is sent") { fixture.stub.open.count == 1 }
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("the request has succeeded") { request.state == .succeeded }
        #expect(request.resends == [.retry("status503")])
        // A call is forgotten after its end was delivered.
        try await waitUntil("no call is left") { fixture.calls == 0 }
        await fixture.client.shutdown()
    }

    /// The stop finds an attempt that has ended: its order goes to an id that nobody knows any more.
    @Test func aStopBeforeTheFailureIsSeenIsNotLost() async throws {
        let fixture = Fixture()
        let request = fixture.client.start(Get())
        await fixture.endFirst(with: 503) { request.stop() }
        try await waitUntil("the request was stopped") { request.state == .cancelled }
        #expect(fixture.stub.submitted.count == 1)
        try await waitUntil("no call is left") { fixture.calls == 0 }
        await fixture.client.shutdown()
    }

    @Test func aStopEndsTheWaitForTheRetry() async throws {
        let fixture = Fixture()
        let request = fixture.client.start(Get())
        await fixture.endFirst(with: 503) {}
        await fixture.clock.sleepers(1)
        #expect(fixture.calls == 1)
        request.stop()
        try await waitUntil("the request was stopped") { request.state == .cancelled }
        #expect(fixture.stub.submitted.count == 1)
        try await waitUntil("no call is left") { fixture.calls == 0 }
        await fixture.client.shutdown()
    }

    /// A pause holds for the attempts that follow, whether it came before or after the end of the first one.
    @Test(arguments: [true, false]) func aPauseIsNotLost(before: Bool) async throws {
        let fixture = Fixture()
        let request = fixture.client.start(Get())
        await fixture.endFirst(with: 503) { if before { request.pause() } }
        await fixture.clock.sleepers(1)
        #expect(fixture.calls == 1)
        if !before { request.pause() }
        fixture.clock.advance(by: .seconds(1))
        try await waitUntil("the retry is sent, and paused") {
            fixture.stub.open.first.map { fixture.stub.isPaused($0) } == true
        }
        request.resume()
        try await waitUntil("the retry goes on") { fixture.stub.open.allSatisfy { !fixture.stub.isPaused($0) } }
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        try await waitUntil("the request has succeeded") { request.state == .succeeded }
        await fixture.client.shutdown()
    }

    /// The end arrives before `submit` has returned its id.
    @Test func theEndMayOvertakeTheID() async throws {
        let stub = StubTransport(delivery: .immediate) { _ in .response(status: 503) }
        let fixture = Fixture(Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .zero)), budget: nil), stub)
        for _ in 0..<50 {
            #expect(try await fixture.client.run(Get()).statusCode == 503)
        }
        #expect(stub.submitted.count == 150)
        try await waitUntil("no call is left") { fixture.calls == 0 }
        await fixture.client.shutdown()
    }

    /// A transport beneath that refuses the attempt: the permit comes back without a vote.
    @Test func aRefusalGivesThePermitBack() async throws {
        let stub = StubTransport { _ in .refuse(.queueFull) }
        let fixture = Fixture(.standard, stub)
        await #expect(throws: ErrandError.queueFull) { try await fixture.client.run(Get()) }
        let breaker = try #require(fixture.client.resilience?.breakers?.breaker(for: "http://a:80"))
        #expect(breaker.counts.allowed == 1 && breaker.tally.calls == 0)
        await fixture.client.shutdown()
    }

    /// No retry follows where the client shuts down, and each request ends.
    @Test func aShutdownEndsWatchedTransfers() async throws {
        let fixture = Fixture()
        let request = fixture.client.start(Get())
        await fixture.endFirst(with: 503) { fixture.client.transport.shutdown {} }
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(fixture.stub.submitted.count == 1)
        try await waitUntil("no call is left") { fixture.calls == 0 }
        await fixture.client.shutdown()
    }
}
