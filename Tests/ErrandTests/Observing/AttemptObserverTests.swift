import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

private struct GetShared: Command {
    var path: String { "shared" }
    var options: CommandOptions { .coalesced }
    typealias Response = String
}

private struct CacheableGet: Command {
    var path: String { "cached" }
    var cache: CachePolicy?
    typealias Response = String
}

private struct PutSource: Command {
    var method: HTTPRequest.Method { .put }
    var path: String { "source" }
    var body: RequestBody {
        .stream(length: 4) {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield(Array("body".utf8))
                continuation.finish()
            }
        }
    }
    typealias Response = String
}

/// Each attempt on the wire is told, with its number, its end and nothing more.
@Suite(.timeLimit(.minutes(20))) struct AttemptObserverTests {
    private static let quick = Resilience(retry: RetryPolicy(backoff: RetryBackoff(base: .zero)), budget: nil)

    /// Runs `body` on a client whose attempts are noted. All of them have ended afterwards, each once.
    private func observe(
        _ stub: StubTransport, _ change: (inout Client.Configuration) -> Void = { _ in },
        _ body: (Client, NotingObserver) async throws -> Void
    ) async throws {
        let observer = NotingObserver()
        let client = Client.observed(stub, by: observer, change)
        try await NotingObserver.$name.withValue("ada") { try await body(client, observer) }
        await client.shutdown(.cancel)
        #expect(observer.openCount == 0 && observer.surplusCount == 0 && observer.clientCount == 1)
    }

    @Test func oneAttempt() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        try await observe(stub) { client, observer in
            _ = try await client.run(GetText())
            #expect(
                observer.notes.all == [
                    "run GetText by ada", "0 GET http://test/text by ada", "0 ended 200", "run succeeded",
                ])
            #expect(stub.submitted.first?.headers[NotingObserver.field] == "ada 0")
        }
    }

    /// The first attempt of a plain request has no call, although it is observed. Each attempt is told.
    @Test func aPlainRequestWithResilience() async throws {
        let stub = StubTransport()
        try await observe(stub, { $0.resilience = Self.quick }) { client, observer in
            let request = client.start(GetText())
            let first = try #require(stub.open.first)
            #expect(client.layer(ResilientTransport.self)?.count == 0)
            stub.complete(first, with: .response(Response(statusCode: 503)))
            try await waitUntil("the retry was sent") { stub.submitted.count == 2 && stub.open.count == 1 }
            #expect(client.layer(ResilientTransport.self)?.count == 1)
            stub.complete(try #require(stub.open.first), with: .response(Response(statusCode: 200)))
            try await waitUntil("the request has ended") { request.state.isFinished && request.isAtRest }
            let ends = observer.notes.all.filter { $0.contains(" ended ") }
            #expect(ends == ["0 ended 503", "1 ended 200"])
        }
    }

    /// Nobody observes: nothing is added to a description.
    @Test func withoutObserversThereIsNoScope() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        let client = Client.stubbed(stub) { $0.resilience = Self.quick }
        _ = try await client.run(GetText())
        #expect(stub.submitted.first?.attemptScope == nil)
        #expect(!client.observesAttempts)
        await client.shutdown()
    }

    /// The scope alone needs no object beside it, and stays where there are other rare members.
    @Test func theScopeIsAmongTheRareMembers() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        try await observe(stub) { client, _ in
            _ = try await client.run(GetText())
            var description = try #require(stub.submitted.first)
            let scope = try #require(description.attemptScope)
            #expect(description.hasRareMembers && !description.hasLeftOrigin)
            description.hasLeftOrigin = true
            #expect(description.attemptScope === scope && description.hasLeftOrigin)
            description.hasLeftOrigin = false
            #expect(description.attemptScope === scope && !description.hasLeftOrigin)
            description.attemptScope = nil
            #expect(!description.hasRareMembers)
        }
    }

    /// The scope of a plain request watches its attempt. An attempt of the same run beside it has a receiver of its own.
    @Test func aScopeWatchesOneAttemptAtATime() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        try await observe(stub) { client, observer in
            _ = try await client.run(GetText())
            let description = try #require(stub.submitted.first)
            let scope = try #require(description.attemptScope)
            var headers: HeaderBlock?
            let first = scope.attemptBegins(description, headers: &headers)
            var second = scope.attemptBegins(description, headers: &headers)
            #expect(scope.watchBegins(first) && !scope.watchBegins(second))
            scope.watchedAttemptEnded(.failure(.timeoutIdle))
            #expect(observer.ends.suffix(1) == ["1 ended timeoutIdle"] && observer.openCount == 1)
            #expect(scope.watchBegins(second))
            scope.watchedAttemptRefused(.queueFull)
            #expect(observer.ends.suffix(1) == ["2 refused queueFull"] && scope.attempts == 2)
            second = scope.attemptBegins(description, headers: &headers)
            second.ended(.failure(.cancelled), of: scope)
            #expect(observer.ends.suffix(1) == ["2 ended cancelled"] && observer.openCount == 0)
        }
    }

    /// A hedge and the attempt that it overtakes may end on two threads.
    @Test func attemptsOfOneScopeOnTwoThreads() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        try await observe(stub) { client, observer in
            _ = try await client.run(GetText())
            let description = try #require(stub.submitted.first)
            let scope = try #require(description.attemptScope)
            let rounds = 500
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                for _ in 0..<rounds {
                    var headers: HeaderBlock?
                    var attempts = scope.attemptBegins(description, headers: &headers)
                    if scope.watchBegins(attempts) {
                        scope.watchedAttemptEnded(.failure(.timeoutIdle))
                    } else {
                        attempts.ended(.failure(.cancelled), of: scope)
                    }
                }
            }
            #expect(scope.attempts == 1 + 2 * rounds)
            // Each has a number of its own.
            #expect(Set(observer.begins).count == 1 + 2 * rounds)
        }
    }

    /// Otherwise a number of running attempts would fall below zero.
    @Test func anEndThatIsReportedTwiceIsToldOnce() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        try await observe(stub) { client, observer in
            _ = try await client.run(GetText())
            let description = try #require(stub.submitted.first)
            let scope = try #require(description.attemptScope)
            var headers: HeaderBlock?
            var attempts = scope.attemptBegins(description, headers: &headers)
            attempts.ended(.failure(.timeoutIdle), of: scope)
            attempts.ended(.failure(.timeoutIdle), of: scope)
            attempts.refused(.queueFull, of: scope)
            attempts.headArrived(Response(statusCode: 200), of: scope)
            #expect(observer.notes.all.filter { $0.hasPrefix("1 ") }.count == 2)
        }
    }

    @Test func redirectsAreCounted() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("next")
                ? .response(status: 200, body: "text") : .response(status: 302, headers: [.location: "/next"])
        }
        try await observe(stub) { client, observer in
            _ = try await client.run(GetText())
            #expect(observer.begins == ["0 GET http://test/text by ada", "1 GET http://test/next by ada"])
            #expect(observer.ends == ["0 ended 302", "1 ended 200", "run succeeded"])
            // One field, not two.
            #expect(stub.submitted.last?.headers.fields[values: NotingObserver.field] == ["ada 1"])
        }
    }

    @Test func retriesAreCounted() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        try await observe(stub, { $0.resilience = Self.quick }) { client, observer in
            let error = await client.result(of: GetText())
            #expect(throws: ErrandError.statusNotAccepted) { try error.get() }
            #expect(observer.begins.count == 3)
            #expect(observer.ends == ["0 ended 503", "1 ended 503", "2 ended 503", "run failed"])
            #expect(stub.submitted.map { $0.headers[NotingObserver.field] } == ["ada 0", "ada 1", "ada 2"])
        }
    }

    @Test func theLoserOfAHedgeEndsToo() async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(100)), maxExtra: 1, budget: .init(ratio: 1, floorPerSecond: 5))
        try await observe(
            stub,
            {
                $0.clock = clock
                $0.resilience = Resilience(retry: RetryPolicy(), budget: nil, hedge: hedge)
            }
        ) { client, observer in
            let request = client.start(GetText())
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(100))
            try await waitUntil("the hedge was sent") { stub.open.count == 2 }
            stub.complete(stub.open[1], with: .response(Response(statusCode: 200, body: Array("text".utf8))))
            #expect(try await request.finalValue() == "text")
            try await waitUntil("both have ended") { observer.openCount == 0 }
            #expect(observer.begins == ["0 GET http://test/text by ada", "1 GET http://test/text by ada"])
            #expect(observer.ends.contains("0 ended cancelled") && observer.ends.contains("1 ended 200"))
        }
    }

    @Test func replaysOfAnInterceptorAreCounted() async throws {
        let stub = StubTransport { description in
            .response(status: description.headers[.authorization] == "t1" ? 200 : 401, body: "text")
        }
        let interceptor = AuthenticationInterceptor(TestAuthenticator(), credential: "t0")
        try await observe(stub, { $0.interceptors = [interceptor] }) { client, observer in
            _ = try await client.run(GetText())
            #expect(observer.begins == ["0 GET http://test/text by ada", "1 GET http://test/text by ada"])
            #expect(observer.ends == ["0 ended 401", "1 ended 200", "run succeeded"])
        }
    }

    /// The engine needs the body of a source again.
    @Test func bodiesThatAreNeededAgainAreCounted() async throws {
        let isFirst = Mutex(true)
        let stub = StubTransport { _ in
            let first = isFirst.withLock { value in
                defer { value = false }
                return value
            }
            return first ? .failure(.uploadNotReplayable) : .response(status: 200, body: "text")
        }
        try await observe(stub) { client, observer in
            _ = try await client.run(PutSource())
            #expect(observer.ends == ["0 ended uploadNotReplayable", "1 ended 200", "run succeeded"])
        }
    }

    /// A shared transfer is an attempt of the request that opened it.
    @Test func sharedTransfersAreOneAttempt() async throws {
        let stub = StubTransport()
        try await observe(stub) { client, observer in
            let first = client.start(GetShared())
            let second = NotingObserver.named("bob") { client.start(GetShared()) }
            #expect(observer.begins == ["0 GET http://test/shared by ada"])
            #expect(observer.notes.all.contains("bob joined ada"))
            stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: Array("text".utf8))))
            #expect(try await first.finalValue() == "text")
            #expect(try await second.finalValue() == "text")
            // A shared transfer's events are handled on the loop thread: the observer is called elsewhere.
            try await waitUntil("the attempt has ended") { observer.openCount == 0 }
            #expect(observer.notes.all.filter { $0 == "run succeeded" }.count == 2)
        }
    }

    @Test(arguments: [CachePolicy.timed(.seconds(60)), .http])
    func anAnswerOfTheCacheIsNoAttempt(_ policy: CachePolicy) async throws {
        let stub = StubTransport { _ in
            .response(status: 200, headers: [.cacheControl: "max-age=60"], body: "text")
        }
        try await observe(stub, { $0.cache = ResponseCache(now: { 784_111_777_000 }) }) { client, observer in
            _ = try await client.run(CacheableGet(cache: policy))
            _ = try await client.run(CacheableGet(cache: policy))
            #expect(observer.begins.count == 1)
            #expect(observer.notes.all.filter { $0 == "run succeeded" }.count == 2)
        }
    }

    /// The second transfer of a run, after a stored response.
    @Test func theNetworkAfterTheCacheHasTheSameScope() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "text") }
        try await observe(stub, { $0.cache = ResponseCache(now: { 784_111_777_000 }) }) { client, observer in
            var policy = CachePolicy.timed(.seconds(60))
            _ = try await client.run(CacheableGet(cache: policy))
            policy.reading = .cacheThenNetwork
            _ = try await client.run(CacheableGet(cache: policy))
            #expect(observer.begins == Array(repeating: "0 GET http://test/cached by ada", count: 2))
        }
    }

    @Test func aStopEndsTheAttempt() async throws {
        let stub = StubTransport()
        try await observe(stub) { client, observer in
            let request = client.start(GetText())
            #expect(observer.openCount == 1)
            request.stop()
            try await waitUntil("the run has ended") { observer.notes.all.contains("run cancelled") }
            #expect(observer.ends == ["0 ended cancelled", "run cancelled"])
        }
    }

    @Test func aShutdownEndsTheAttempts() async throws {
        let stub = StubTransport()
        try await observe(stub) { client, observer in
            for _ in 0..<3 { client.start(GetText()) }
            client.start(GetShared())
            await client.shutdown(.cancel)
            #expect(observer.openCount == 0)
            #expect(observer.notes.all.filter { $0 == "0 ended cancelled" }.count == 4)
            #expect(observer.notes.all.filter { $0 == "run failed" }.count == 4)
        }
    }

    /// What was not sent has no number.
    @Test func aRefusedSubmissionEndsAtOnce() async throws {
        let stub = StubTransport { _ in .refuse(.queueFull) }
        try await observe(stub) { client, observer in
            let result = await client.result(of: GetText())
            #expect(throws: ErrandError.queueFull) { try result.get() }
            #expect(observer.ends == ["0 refused queueFull", "run failed"])
        }
    }

    @Test func aStreamHasAHead() async throws {
        let stub = StubTransport()
        try await observe(stub) { client, observer in
            async let streamed = client.stream(GetStream())
            let id = try await stub.opened()
            stub.sendHead(200, to: id)
            let response = try await streamed
            #expect(observer.notes.all.contains("0 head 200") && observer.openCount == 1)
            stub.end(id)
            for try await _ in response.body {}
            try await waitUntil("the run has ended") { observer.notes.all.last == "run succeeded" }
            #expect(observer.ends == ["0 ended 200", "run succeeded"])
        }
    }
}
