import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

@Suite struct ResilientRetryTests {
    private static let retry = Resilience(retry: RetryPolicy())

    @Test func statusesAreRetriedWithBackoff() async throws {
        let fixture = ResilientFixture(Self.retry)
        var description = try ResilientFixture.description()
        description.reports = .events
        let (receiver, _) = try fixture.submit(description)
        fixture.stub.send(.head(Response(statusCode: 503)), to: try #require(fixture.stub.open.first))
        try fixture.answer(503)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        try fixture.answer(502)
        try await fixture.pass(.milliseconds(200), attempts: 3)
        fixture.stub.send(.head(Response(statusCode: 200)), to: try #require(fixture.stub.open.first))
        try fixture.answer(200)
        #expect(
            receiver.events.all == [
                "retrying 1 status503 0.1 seconds", "retrying 2 status502 0.2 seconds", "head 200", "200",
            ])
        #expect(fixture.transport.parts.counts.retries == ["status503": 1, "status502": 1])
        #expect(receiver.resends.all == ["status503", "status502"])
        #expect(fixture.transport.parts.counts.attempts == 3 && fixture.isEmpty())
    }

    @Test func theLastResultStands() async throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(maxAttempts: 2)))
        var description = try ResilientFixture.description()
        description.reports = .events
        let (receiver, _) = try fixture.submit(description)
        try fixture.answer(503)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        fixture.stub.send(.head(Response(statusCode: 504)), to: try #require(fixture.stub.open.first))
        try fixture.answer(504)
        // The head that was held back comes before the end.
        #expect(receiver.events.all.suffix(2) == ["head 504", "504"])
        #expect(fixture.isEmpty())
    }

    /// Nothing of the second attempt was sent, but the first one was: the call is not refused.
    @Test func anAddressThatIsRefusedLater() async throws {
        let fixture = ResilientFixture(Self.retry)
        let trail = AttemptTrail()
        var description = try ResilientFixture.description()
        description.trail = trail
        let (receiver, _) = try fixture.submit(description)
        try fixture.answer(503)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        let refusal = ErrandError.addressRefused.refused
        #expect(fixture.stub.complete(try #require(fixture.stub.open.first), with: .failure(refusal)))
        #expect(receiver.error == .addressRefused && receiver.error?.isRefusal == false)
        // It counts as one that was refused at once.
        #expect(receiver.resends.all == ["status503", "not status503"] && trail.attemptsSent == 1)
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.withdrawals == 0)
        let (first, _) = try fixture.submit()
        #expect(fixture.stub.complete(try #require(fixture.stub.open.first), with: .failure(refusal)))
        #expect(first.error?.isRefusal == true && first.resends.all.isEmpty && fixture.isEmpty())
    }

    @Test func aRefusedRetryLeavesTheLastResult() async throws {
        let fixture = ResilientFixture(Self.retry)
        let (receiver, _) = try fixture.submit()
        try fixture.answer(503)
        await fixture.clock.sleepers(1)
        let stopped = Notes<Int>()
        // The transport beneath refuses everything from now on.
        fixture.stub.shutdown { stopped.add(1) }
        fixture.clock.advance(by: .milliseconds(100))
        try await waitUntil("the call ended") { receiver.results.all.count == 1 }
        #expect(receiver.answers == ["503"] && receiver.resends.all == ["status503", "not status503"])
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.withdrawals == 0)
        try await waitUntil("nothing is left") { fixture.isEmpty() }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, ErrandError.connectionLost, true), (.post, .connectionLost, false),
        (.post, .connectFailed, true), (.get, .tlsUntrusted, false), (.get, .queueFull, false),
    ])
    func failures(method: HTTPRequest.Method, error: ErrandError, isRetried: Bool) async throws {
        let fixture = ResilientFixture(Self.retry)
        let (receiver, _) = try fixture.submit(ResilientFixture.description(method))
        fixture.stub.complete(try #require(fixture.stub.open.first), with: .failure(error))
        #expect(receiver.results.all.isEmpty == isRetried)
        if isRetried {
            try await fixture.pass(.milliseconds(100), attempts: 2)
            try fixture.answer(200)
            #expect(receiver.answers == ["200"])
        }
        #expect(fixture.isEmpty())
    }

    @Test func writtenBodiesAreSentOnce() throws {
        let fixture = ResilientFixture(Self.retry)
        var description = try ResilientFixture.description(.put)
        description.body = .stream(length: 2)
        let (receiver, _) = try fixture.submit(description)
        try fixture.answer(503)
        #expect(receiver.events.all == ["503"] && fixture.isEmpty())
    }

    /// A pause during the wait holds for the next attempt.
    @Test func pausedWhileWaiting() async throws {
        let fixture = ResilientFixture(Self.retry)
        let (receiver, id) = try fixture.submit()
        try fixture.answer(503)
        fixture.transport.pause(id)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        let attempt = try #require(fixture.stub.open.first)
        try await waitUntil("the attempt is paused") { fixture.stub.isPaused(attempt) }
        fixture.transport.resume(id)
        #expect(!fixture.stub.isPaused(attempt))
        try fixture.answer(200)
        #expect(receiver.answers == ["200"] && fixture.isEmpty())
    }

    @Test func cancelledInFlightAndWhileWaiting() async throws {
        let fixture = ResilientFixture(Self.retry)
        let (first, firstID) = try fixture.submit()
        fixture.transport.cancel(firstID)
        #expect(first.events.all == ["cancelled"])
        let (second, secondID) = try fixture.submit()
        try fixture.answer(503)
        fixture.transport.cancel(secondID)
        fixture.transport.cancel(secondID)
        #expect(second.answers == ["cancelled"])
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.withdrawals == 0)
        #expect(fixture.stub.submitted.count == 2 && fixture.isEmpty())
    }

    /// 2,000 requests to a dead service: 1.1 times the load and the ten tokens of the floor.
    @Test func theBudgetBoundsTheLoad() throws {
        let policy = RetryPolicy(backoff: RetryBackoff(base: .zero))
        let fixture = ResilientFixture(Resilience(retry: policy)) { _ in .failure(.connectFailed) }
        for _ in 0..<2000 {
            let (receiver, _) = try fixture.submit()
            #expect(receiver.answers == ["connectFailed"])
        }
        #expect(fixture.stub.submitted.count > 2000 && fixture.stub.submitted.count <= 2210)
        #expect(fixture.isEmpty())
        let unbounded = ResilientFixture(Resilience(retry: policy, budget: nil)) { _ in .failure(.connectFailed) }
        for _ in 0..<100 { _ = try unbounded.submit() }
        #expect(unbounded.stub.submitted.count == 300)
    }

    // MARK: Streamed responses

    private static func streamed() throws -> RequestDescription {
        var description = try ResilientFixture.description()
        description.delivery = .streamed
        return description
    }

    @Test func theHeadOfAStreamDecides() async throws {
        let fixture = ResilientFixture(Self.retry)
        let (receiver, id) = try fixture.submit(Self.streamed())
        let first = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 503)), to: first)
        // The failed response is not read.
        #expect(fixture.stub.cancelled == [first] && receiver.answers.isEmpty)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        let second = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 200)), to: second)
        fixture.stub.send(.chunk(Response(statusCode: 200, body: [1])), to: second)
        fixture.transport.grant(id, bytes: 1)
        #expect(fixture.stub.granted(to: second) == 1)
        // The caller has seen a part.
        fixture.stub.complete(second, with: .failure(.connectionLost))
        #expect(receiver.answers == ["head 200", "chunk 1", "connectionLost"] && fixture.isEmpty())
    }

    @Test func theLastStreamIsDelivered() throws {
        let fixture = ResilientFixture(Resilience(retry: RetryPolicy(maxAttempts: 1)))
        let (receiver, _) = try fixture.submit(Self.streamed())
        let attempt = try #require(fixture.stub.open.first)
        fixture.stub.send(.head(Response(statusCode: 503)), to: attempt)
        fixture.stub.send(.chunk(Response(statusCode: 503, body: [1])), to: attempt)
        try fixture.answer(503)
        #expect(receiver.events.all == ["head 503", "chunk 1", "503"] && fixture.isEmpty())
    }

    @Test func aRejectedStreamIsCancelled() throws {
        let fixture = ResilientFixture(Self.retry)
        let (receiver, id) = try fixture.submit(Self.streamed())
        fixture.stub.send(.head(Response(statusCode: 503)), to: try #require(fixture.stub.open.first))
        fixture.transport.cancel(id)
        #expect(receiver.answers == ["cancelled"] && fixture.isEmpty())
        let budget = try #require(fixture.transport.parts.budgets).budget(for: "http://a:80")
        #expect(budget.counts.withdrawals == 0)
    }
}
