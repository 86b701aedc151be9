import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Requests without time, and transfers whose time the caller's task has cut short. Deadlines are on the real clock, so
/// they have passed or are far away.
@Suite struct DeadlineErrorTests {
    private static var far: Deadline { .after(.seconds(3_600)) }

    @Test func noTimeIsAnErrorOfItsOwn() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "ok") }
        let client = Client.stubbed(stub) { $0.resilience = .standard }
        await Deadline.limit(to: .after(.zero)) {
            let error = await #expect(throws: ErrandError.deadlineExceeded) { try await client.run(GetText()) }
            #expect(error?.isRefusal == true && error?.isTransient == false && error?.isTimeout == true)
        }
        #expect(stub.submitted.isEmpty && client.resilience?.counts.attempts == 0)
        await client.shutdown()
    }

    /// Which clients obey the deadline of a task.
    @Test func aClientMayObeyDeadlinesAlone() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "ok") }
        let obeying = Client.stubbed(stub) { $0.obeysDeadlines = true }
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.obeysDeadlines = true
        #expect(configuration.obeysDeadlines && configuration.layers.count == 1)
        configuration.obeysDeadlines = false
        #expect(!configuration.obeysDeadlines && configuration.layers.isEmpty)
        let plain = Client(configuration: configuration, transport: stub)
        await Deadline.limit(to: .after(.zero)) {
            await #expect(throws: ErrandError.deadlineExceeded) { try await obeying.run(GetText()) }
            let value = try? await plain.run(GetText())
            #expect(value == "ok")
        }
        #expect(stub.submitted.map { $0.settings.timeouts.total == nil } == [true])
        await Deadline.limit(to: Self.far) { _ = try? await obeying.run(GetText()) }
        #expect(stub.submitted.last?.settings.isCutShort == true && obeying.resilience == nil)
        for client in [obeying, plain] { await client.shutdown() }
    }

    /// The error says nothing about a server, whether or not something was sent before.
    @Test func noTimeDoesNotVote() {
        let error = ErrandError.deadlineExceeded
        for error in [error, error.refused, error.with(response: Response(statusCode: 503))] {
            #expect(BreakerOutcome(error: error) == .ignored)
            // A time has passed, but not that of an attempt.
            #expect(error.isTimeout && LatencySample(.failure(error), .stop(.permanentFailure)) == .failure)
        }
        #expect(error.shortDescription == "deadlineExceeded")
    }

    /// Twenty calls within a deadline do not open the breaker; twenty calls with a total time of their own do.
    @Test(arguments: [true, false]) func theTimeOfTheTaskDoesNotVote(isCutShort: Bool) async throws {
        let stub = StubTransport { _ in .failure(.timeoutTotal) }
        let own = Timeouts(total: isCutShort ? .seconds(100_000) : .seconds(1))
        let client = Client.stubbed(stub) {
            $0.clock = ManualClock()
            $0.timeouts = own
            $0.resilience = Resilience(breaker: BreakerPolicy(minimumCalls: 20))
        }
        await Deadline.limit(to: Self.far) {
            for _ in 0..<20 {
                await #expect(throws: ErrandError.timeoutTotal) { try await client.run(GetText()) }
            }
        }
        let breaker = try #require(client.resilience?.breakers).breaker(for: "http://test:80")
        let expected: BreakerState = isCutShort ? .closed : .open
        #expect(stub.submitted.count == 20 && breaker.state == expected && breaker.tally.calls == 0)
        await client.shutdown()
    }

    @Test func endpointsAndLimitsDoNotLearnOfIt() throws {
        let policy = EndpointPolicy(.roundRobin, outliers: .init(consecutiveFailures: 1), panicThreshold: 0)
        let list = try [Endpoint("http://one"), Endpoint("http://two")]
        let service = try ServiceEndpoints(of: "http://a/", .list(list), policy: policy)
        let fixture = ResilientFixture(Resilience(concurrency: .init(limit: 5)), endpoints: [service])
        let set = try #require(fixture.endpoints?.groups["http://a:80"]?.set)
        let limit = try #require(fixture.transport.parts.concurrency)
        for _ in 0..<4 {
            _ = try Deadline.limit(to: Self.far) { try fixture.submit() }
            fixture.stub.completeAll { _ in .failure(.timeoutTotal) }
        }
        #expect(set.statuses.allSatisfy { $0.health == .healthy } && limit.counts.dropped == 4)
        // The request's own time is overload, and a failure of the endpoint.
        _ = try fixture.submit(ResilientFixture.description(total: .seconds(1)))
        fixture.stub.completeAll { _ in .failure(.timeoutTotal) }
        #expect(set.statuses.contains { $0.health == .ejected } && limit.counts.dropped == 4 && fixture.isEmpty())
    }

    /// The time of an attempt is the client's own choice, also where a task has a deadline.
    @Test func theTimeOfAnAttemptVotes() throws {
        let fixture = ResilientFixture(
            Resilience(
                retry: RetryPolicy(maxAttempts: 1, attemptTimeout: .seconds(1)),
                breaker: BreakerPolicy(window: .count(4), minimumCalls: 1)))
        _ = try Deadline.limit(to: Self.far) { try fixture.submit() }
        fixture.stub.completeAll { _ in .failure(.timeoutTotal) }
        let breaker = try #require(fixture.transport.parts.breakers).breaker(for: "http://a:80")
        #expect(breaker.state == .open && fixture.stub.submitted.allSatisfy { !$0.settings.isCutShort })
    }

    /// A response that began votes by its status.
    @Test(arguments: [(500, BreakerState.open), (200, .closed)])
    func aHeadVotes(status: Int, state: BreakerState) throws {
        let fixture = ResilientFixture(Resilience(breaker: BreakerPolicy(window: .count(4), minimumCalls: 1)))
        _ = try Deadline.limit(to: Self.far) { try fixture.submit() }
        let error = ErrandError.timeoutTotal.with(response: Response(statusCode: status))
        fixture.stub.completeAll { _ in .failure(error) }
        #expect(fixture.transport.parts.breakers?.breaker(for: "http://a:80").state == state)
    }

    @Test func hedgesKnowWhoseTimeItIs() async throws {
        let hedge = HedgePolicy(delay: .fixed(.milliseconds(100)), budget: .init(ratio: 1, floorPerSecond: 5))
        let fixture = ResilientFixture(Resilience(hedge: hedge))
        _ = try Deadline.limit(to: Self.far) { try fixture.submit() }
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the hedge was sent") { fixture.stub.open.count == 2 }
        try await waitUntil("its id is known") { fixture.transport.parts.counts.hedges == 1 }
        #expect(fixture.stub.submitted.map { $0.settings.isCutShort } == [true, true])
        fixture.stub.completeAll { _ in .response(Response(statusCode: 200)) }
        #expect(fixture.isEmpty())
    }

    /// An alternative service is not left out because the caller had no time.
    @Test(arguments: [true, false]) func alternativesAreKept(isCutShort: Bool) throws {
        let clock = ManualClock()
        let cache = AltServiceCache(clock: clock)
        cache.learn(["h2=\"alt.test:444\""], from: "https://a:443", overFaultlessTLS: true)
        let stub = StubTransport(delivery: .immediate) { _ in .failure(.timeoutTotal) }
        let transport = AltServiceTransport(
            stub, cache, stopwatch: Stopwatch(clock), connection: ConnectionOptions(httpVersion: .http2OverTLS))
        var description = try ResilientFixture.description(url: "https://a/")
        description.settings = try description.settings.with(total: .seconds(1), isCutShort: isCutShort)
        let receiver = CallReceiver(callbacks: .inline())
        _ = try transport.submit(description, for: receiver)
        #expect(receiver.error == .timeoutTotal)
        #expect(cache.services(of: "https://a:443").count == (isCutShort ? 1 : 0))
    }

    private func within(_ isLimited: Bool, _ body: () -> Void) {
        if isLimited { Deadline.limit(to: Self.far) { body() } } else { body() }
    }

    /// An inline queue runs the callbacks of a group in the task of a stranger.
    @Test(arguments: [true, false]) func aGroupKeepsTheDeadlineOfItsCaller(strangerHasOne: Bool) async throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let client = Client.stubbed(stub) {
            $0.callbackQueue = .inline()
            $0.obeysDeadlines = true
        }
        let batch = client.request(Batch([GetText(), GetText()], maxConcurrent: 1))
        within(!strangerHasOne) { batch.start() }
        let first = try #require(stub.open.first)
        let text = Response(statusCode: 200, body: Array("text".utf8))
        within(strangerHasOne) { stub.complete(first, with: .response(text)) }
        #expect(stub.submitted.map(\.settings.isCutShort) == [!strangerHasOne, !strangerHasOne])
        await client.shutdown(.cancel)
    }

    /// The same for the hop of a redirect, in the pipeline.
    @Test func aHopHasNoDeadlineOfAStranger() async throws {
        let stub = StubTransport(delivery: .immediate) { _ in .hold }
        let client = Client.stubbed(stub) {
            $0.callbackQueue = .inline()
            // Without a limit no call would be made.
            $0.resilience = Resilience(concurrency: ConcurrencyLimit.Settings(limit: 2, queueCapacity: 10))
        }
        let request = client.request(GetText())
        request.start()
        let first = try #require(stub.open.first)
        let redirect = Response(statusCode: 302, headers: [.location: "/next"])
        within(true) { stub.complete(first, with: .response(redirect)) }
        #expect(stub.submitted.map { $0.settings.timeouts.total == nil } == [true, true])
        await client.shutdown(.cancel)
    }
}
