import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

@Suite struct ResilientTransportTests {
    // MARK: Deadlines

    @Test func attemptsGetTheTimeThatIsLeft() async throws {
        let policy = RetryPolicy(attemptTimeout: .milliseconds(600))
        let fixture = ResilientFixture(Resilience(retry: policy))
        let (receiver, _) = try fixture.submit(ResilientFixture.description(total: .seconds(1)))
        #expect(fixture.stub.submitted[0].settings.timeouts.total == .milliseconds(600))
        fixture.clock.advance(by: .milliseconds(600))
        fixture.stub.complete(try #require(fixture.stub.open.first), with: .failure(.timeoutTotal))
        try await fixture.pass(.milliseconds(100), attempts: 2)
        #expect(fixture.stub.submitted[1].settings.timeouts.total == .milliseconds(300))
        // The next wait would not end before the deadline.
        fixture.clock.advance(by: .milliseconds(200))
        try fixture.answer(503)
        #expect(receiver.answers == ["503"] && fixture.isEmpty())
    }

    @Test func theDeadlineOfTheTaskCounts() throws {
        let fixture = ResilientFixture(Resilience())
        let (past, soon) = (Deadline.after(.zero), Deadline.after(.seconds(100)))
        #expect(throws: ErrandError.deadlineExceeded) {
            try Deadline.limit(to: past) { try fixture.submit() }
        }
        _ = try Deadline.limit(to: soon) { try fixture.submit() }
        let total = try #require(fixture.stub.submitted.first?.settings.timeouts.total?.duration)
        #expect(total > .seconds(10) && total <= .seconds(100))
        _ = try fixture.submit()
        #expect(fixture.stub.submitted[1].settings.timeouts.total == nil)
    }

    // MARK: Breakers

    @Test func aBreakerOpensAndCloses() async throws {
        let breaker = BreakerPolicy(
            window: .count(4), minimumCalls: 2, openTime: .seconds(5), jitter: 0, halfOpenPermits: 1)
        let fixture = ResilientFixture(Resilience(breaker: breaker))
        for _ in 0..<2 {
            _ = try fixture.submit()
            try fixture.answer(500)
        }
        let error = #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        #expect(error?.isRefusal == true && error?.retryAfter == .seconds(5))
        let text = "the circuit breaker of http://a:80 is open; the next request may pass after 5.0 seconds"
        #expect(error?.message == text)
        #expect(fixture.stub.submitted.count == 2)
        // Another origin has a breaker of its own.
        let other = try fixture.submit(ResilientFixture.description(url: "http://b/"))
        fixture.transport.cancel(other.1)
        fixture.clock.advance(by: .seconds(5))
        let probe = try fixture.submit()
        #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        // A cancelled probe gives its place to the next one.
        fixture.transport.cancel(probe.1)
        _ = try fixture.submit()
        try fixture.answer(200)
        _ = try fixture.submit()
        try fixture.answer(200)
        #expect(fixture.transport.parts.breakers?.breaker(for: "http://a:80").state == .closed)
        #expect(fixture.transport.parts.counts.refusedByBreaker == 2 && fixture.isEmpty())
    }

    /// A retry that the breaker refuses leaves the last result.
    @Test func aBreakerEndsRetries() async throws {
        let breaker = BreakerPolicy(window: .count(4), minimumCalls: 1, openTime: .seconds(60), jitter: 0)
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(), breaker: breaker))
        let (receiver, _) = try fixture.submit()
        try fixture.answer(503)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the call ended") { !receiver.results.all.isEmpty }
        #expect(receiver.answers == ["503"])
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.withdrawals == 0)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    @Test func theHeadOfAStreamVotes() throws {
        let breaker = BreakerPolicy(window: .count(4), minimumCalls: 1, jitter: 0)
        let fixture = ResilientFixture(Resilience(breaker: breaker))
        var description = try ResilientFixture.description()
        description.delivery = .streamed
        let (receiver, id) = try fixture.submit(description)
        fixture.stub.send(.head(Response(statusCode: 500)), to: try #require(fixture.stub.open.first))
        #expect(receiver.events.all == ["head 500"])
        #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        fixture.transport.cancel(id)
        #expect(fixture.isEmpty())
    }

    // MARK: Limits

    @Test func requestsWaitForTheLimit() async throws {
        let limit = ConcurrencyLimit.Settings(limit: 1, queueCapacity: 2)
        let fixture = ResilientFixture(Resilience(concurrency: limit))
        let (first, _) = try fixture.submit()
        let (second, secondID) = try fixture.submit()
        fixture.transport.pause(secondID)
        let (third, thirdID) = try fixture.submit()
        let concurrency = try #require(fixture.transport.parts.concurrency)
        try await waitUntil("two requests wait") { concurrency.waiting(of: "http://a:80") == 2 }
        let (fourth, _) = try fixture.submit()
        try await waitUntil("the fourth is refused") { !fourth.results.all.isEmpty }
        #expect(fourth.error == .limitExceeded && fourth.error?.isRefusal == true)
        #expect(fixture.stub.submitted.count == 1)
        // Cancelled while it waits, whichever of both is first in the queue.
        fixture.transport.cancel(thirdID)
        #expect(third.events.all == ["cancelled"])
        try fixture.answer(200)
        try await waitUntil("the second is sent, paused") {
            fixture.stub.open.first.map { fixture.stub.isPaused($0) } ?? false
        }
        try fixture.answer(200)
        #expect(first.events.all == ["200"] && second.events.all == ["200"])
        try await waitUntil("nothing is left") { fixture.isEmpty() }
        #expect(fixture.transport.parts.counts.refusedByLimit == 1)
    }

    @Test func requestsWaitForTheRate() async throws {
        let rate = RateLimit.Settings(rate: .init(1, per: .seconds(1)))
        let fixture = ResilientFixture(Resilience(rate: rate))
        let (first, _) = try fixture.submit()
        try fixture.answer(200)
        let (second, _) = try fixture.submit()
        let error = #expect(throws: ErrandError.limitExceeded) {
            try fixture.submit(ResilientFixture.description(total: .seconds(1)))
        }
        #expect(error?.retryAfter == .seconds(2) && error?.isRefusal == true)
        #expect(fixture.stub.submitted.count == 1)
        try await fixture.pass(.seconds(1), attempts: 2)
        try fixture.answer(200)
        #expect(first.events.all == ["200"] && second.events.all == ["200"])
        #expect(fixture.isEmpty())
    }

    @Test func theServerPausesItsOrigin() async throws {
        let fixture = ResilientFixture(Resilience(rate: .init(rate: nil)))
        _ = try fixture.submit()
        try fixture.answer(429, [.retryAfter: "7"])
        let (waiting, id) = try fixture.submit()
        _ = try fixture.submit(ResilientFixture.description(url: "http://b/"))
        #expect(fixture.stub.submitted.count == 2)
        await fixture.clock.sleepers(1)
        fixture.transport.cancel(id)
        #expect(waiting.events.all == ["cancelled"])
    }

    /// The time in the queue counts towards the deadline.
    @Test func theDeadlinePassesInTheQueue() async throws {
        let fixture = ResilientFixture(Resilience(concurrency: .init(limit: 1)))
        let (_, id) = try fixture.submit()
        let (waiting, _) = try fixture.submit(ResilientFixture.description(total: .seconds(3)))
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .seconds(3))
        try await waitUntil("the call ended") { !waiting.results.all.isEmpty }
        #expect(waiting.error == .deadlineExceeded && waiting.error?.isRefusal == true)
        fixture.transport.cancel(id)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    // MARK: The rest of a transport

    @Test func aRefusedSubmissionThrows() throws {
        let settings = Resilience(retry: RetryPolicy(), breaker: BreakerPolicy(), concurrency: .init(limit: 1))
        let fixture = ResilientFixture(settings) { _ in .refuse(.queueFull) }
        for _ in 0..<3 { #expect(throws: ErrandError.queueFull) { try fixture.submit() } }
        #expect(fixture.isEmpty() && fixture.transport.parts.counts.attempts == 0)
    }

    /// The only probe of a half-open breaker is refused by the transport beneath: the next call may probe.
    @Test func aProbeThatIsNotSentIsReturned() throws {
        let (fixture, breaker, isFull) = try Self.openBreaker()
        isFull.withLock { $0 = true }
        #expect(throws: ErrandError.queueFull) { try fixture.submit() }
        isFull.withLock { $0 = false }
        #expect(breaker.state == .halfOpen)
        _ = try fixture.submit()
        #expect(throws: ErrandError.circuitOpen) { try fixture.submit() }
        try fixture.answer(200)
        #expect(breaker.state == .closed && fixture.isEmpty())
    }

    /// Logs and metrics hear of every state of a client's breakers.
    @Test func transitionsAreTold() async throws {
        let told = Notes<String>()
        let settings = Resilience(
            breaker: BreakerPolicy(
                window: .count(2), minimumCalls: 1, openTime: .seconds(1), jitter: 0, halfOpenPermits: 1))
        let clock = ManualClock()
        let parts = ResilienceParts(settings, clock: clock) { breaker, transition in
            told.add("\(breaker.name) \(transition.from) \(transition.to) \(transition.cause)")
        }
        let fixture = ResilientFixture(settings, parts: parts)
        _ = try fixture.submit()
        try fixture.answer(500)
        clock.advance(by: .seconds(1))
        _ = try fixture.submit()
        try fixture.answer(200)
        #expect(
            told.all == [
                "http://a:80 closed open failureRate", "http://a:80 open halfOpen openTimePassed",
                "http://a:80 halfOpen closed probesSucceeded",
            ])
    }

    /// A probe votes by its head, whatever becomes of the body.
    @Test func aStreamedProbeVotesByItsHead() throws {
        let (fixture, breaker, _) = try Self.openBreaker()
        var description = try ResilientFixture.description()
        try description.stream()
        _ = try fixture.submit(description)
        let id = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 200)), to: id)
        #expect(breaker.state == .closed)
        fixture.stub.complete(id, with: .failure(.partialBody))
        #expect(breaker.state == .closed && fixture.isEmpty())
    }

    /// A breaker whose open time has passed, with one probe, and a transport beneath that may be full.
    private static func openBreaker() throws -> (ResilientFixture, CircuitBreaker, SharedFlag) {
        let isFull = SharedFlag()
        let fixture = ResilientFixture(
            Resilience(
                breaker: BreakerPolicy(
                    window: .count(2), minimumCalls: 1, openTime: .seconds(1), jitter: 0, halfOpenPermits: 1))
        ) { _ in isFull.withLock { $0 } ? .refuse(.queueFull) : .hold }
        let breaker = try #require(fixture.transport.parts.breakers?.breaker(for: "http://a:80"))
        _ = try fixture.submit()
        try fixture.answer(500)
        #expect(breaker.state == .open)
        fixture.clock.advance(by: .seconds(1))
        return (fixture, breaker, isFull)
    }

    /// What is written before the attempt is sent reaches it in order.
    @Test func writesBeforeTheAttempt() async throws {
        let fixture = ResilientFixture(Resilience(concurrency: .init(limit: 1)))
        _ = try fixture.submit()
        var description = try ResilientFixture.description(.put)
        description.body = .stream(length: nil)
        let (_, id) = try fixture.submit(description)
        [UInt8]([1, 2]).withUnsafeBytes { fixture.transport.write($0, to: id) }
        [UInt8]([3]).withUnsafeBytes { fixture.transport.write($0, to: id) }
        fixture.transport.finishUpload(id)
        try fixture.answer(200)
        try await waitUntil("the upload is sent") {
            fixture.stub.open.first.map { fixture.stub.upload(of: $0).ending == .finished } ?? false
        }
        let attempt = try #require(fixture.stub.open.first)
        #expect(fixture.stub.upload(of: attempt).bytes == [1, 2, 3])
        try fixture.answer(200)
        #expect(fixture.isEmpty())
    }

    @Test func writesAfterTheSubmission() throws {
        let fixture = ResilientFixture(Resilience())
        var description = try ResilientFixture.description(.put)
        description.body = .stream(length: nil)
        let (receiver, id) = try fixture.submit(description)
        [UInt8]([1]).withUnsafeBytes { fixture.transport.write($0, to: id) }
        #expect(fixture.stub.upload(of: try #require(fixture.stub.open.first)).bytes == [1])
        fixture.transport.failUpload(id)
        #expect(receiver.events.all == ["uploadFailed"] && fixture.isEmpty())
    }

    /// A shutdown ends what is in flight, what waits for a limit and what waits for a retry.
    @Test func shutdown() async throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(), concurrency: .init(limit: 1)))
        let (retrying, _) = try fixture.submit()
        try fixture.answer(503)
        let (sent, _) = try fixture.submit()
        let (waiting, _) = try fixture.submit()
        let concurrency = try #require(fixture.transport.parts.concurrency)
        try await waitUntil("a request waits") { concurrency.waiting(of: "http://a:80") == 1 }
        for _ in 0..<2 { await withCheckedContinuation { done in fixture.transport.shutdown { done.resume() } } }
        for receiver in [retrying, sent, waiting] { #expect(receiver.answers == ["cancelled"]) }
        #expect(throws: ErrandError.shutDown) { try fixture.submit() }
        try await waitUntil("nothing is left") { fixture.isEmpty() }
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.withdrawals == 0)
    }

    // MARK: In a client

    @Test func aClientRetries() async throws {
        let clock = ManualClock()
        let answers = Notes<String>()
        let stub = StubTransport { _ in
            answers.add("")
            return .response(status: answers.all.count < 3 ? 503 : 200, body: "ok")
        }
        let recorder = EventRecorder()
        let client = Client.stubbed(stub) { configuration in
            configuration.clock = clock
            configuration.accessories = [recorder]
            configuration.resilience = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .zero)))
            #expect(configuration.resilience?.breaker == nil)
        }
        #expect(try await client.run(GetText()) == "ok")
        #expect(client.resilience?.counts.retries == ["status503": 2])
        #expect(recorder.names.filter { $0.hasPrefix("retrying") } == ["retrying status503", "retrying status503"])
        await client.shutdown(.cancel)
        #expect(Client.stubbed(stub).resilience == nil)
    }

    @Test func anOpenBreakerIsTheRequestsError() async throws {
        let stub = StubTransport { _ in .response(status: 500) }
        let clock = ManualClock()
        let client = Client.stubbed(stub) {
            $0.clock = clock
            $0.resilience = Resilience(breaker: BreakerPolicy(window: .count(4), minimumCalls: 1))
        }
        await #expect(throws: ErrandError.statusNotAccepted) { try await client.run(GetText()) }
        await #expect(throws: ErrandError.circuitOpen) { try await client.run(GetText()) }
        await client.shutdown(.cancel)
    }
}

/// A flag that a stub's answers read.
private final class SharedFlag: Sendable {
    private let value = Mutex(false)

    func withLock<R>(_ body: (inout Bool) -> R) -> R { value.withLock { body(&$0) } }
}
