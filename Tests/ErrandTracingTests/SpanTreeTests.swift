import Errand
import ErrandTesting
import ErrandTracing
import InMemoryTracing
import Synchronization
import Testing
import Tracing

private struct RefreshToken: Command {
    var path: String { "token" }
    typealias Response = String
}

private struct GetCached: Command {
    var path: String { "cached" }
    var cache: CachePolicy { .timed(.seconds(86_400)) }
    typealias Response = String
}

/// Gets its token by a request of the same client.
private final class TokenAuthenticator: Authenticator {
    private let client = Mutex<Client?>(nil)

    func use(_ client: Client?) { self.client.withLock { $0 = client } }

    func applies(to request: RequestDescription) -> Bool { true }

    func apply(_ credential: String, to request: inout RequestDescription) throws {
        try request.headers.set(.authorization, to: credential)
    }

    func isUsable(_ credential: String) -> Bool { true }

    func refuses(_ response: Errand.Response) -> Bool { response.statusCode == 401 }

    func refresh(_ credential: String?, after response: Errand.Response?) async throws -> String {
        guard let client = client.withLock({ $0 }) else { throw ErrandError.shutDown }
        _ = try await client.run(RefreshToken())
        return "good"
    }
}

/// Which span is the parent of which.
@Suite(.timeLimit(.minutes(20))) struct SpanTreeTests {
    private let stub = StubTransport { _ in .response(status: 200, body: "text") }

    /// Runs `body` in a span. Returns the span.
    private func caller(
        _ traced: TracedClient, _ body: () async throws -> Void
    ) async throws -> InMemorySpanContext {
        let span = traced.tracer.startSpan("caller", context: .topLevel, ofKind: .server)
        defer { span.end() }
        try await ServiceContext.withValue(span.context) { try await body() }
        return span.spanContext
    }

    private func resends(_ spans: [FinishedInMemorySpan]) -> [Int64?] {
        spans.map { $0.number("http.request.resend_count") }
    }

    @Test func redirectsAreSiblings() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("/other")
                ? .response(status: 200, body: "text") : .response(status: 302, headers: [.location: "/other"])
        }
        let traced = TracedClient(stub)
        let caller = try await caller(traced) { _ = try await traced.client.run(GetUser()) }
        #expect(traced.attempts.map(\.parentSpanID) == [caller.spanID, caller.spanID])
        #expect(resends(traced.attempts) == [nil, 1])
        // Nothing else says that they are of one request.
        let links = traced.attempts.map { $0.links.map { $0.context.inMemorySpanContext?.spanID } }
        #expect(links == [[], [traced.attempts[0].spanID]])
        #expect(traced.attempts.map(\.operationName) == ["GET /users/{id}", "GET"])
        #expect(traced.requests.isEmpty)
        await traced.finish()
    }

    /// What the engine sends again itself is no attempt of its own, and is counted all the same.
    @Test func whatTheEngineSendsAgainIsCounted() async throws {
        let stub = StubTransport()
        let traced = TracedClient(stub)
        let request = traced.client.start(GetUser())
        let first = try #require(stub.open.first)
        stub.send(.resending(.connection), to: first)
        stub.complete(first, with: .response(Response(statusCode: 302, headers: [.location: "/other"])))
        try await waitUntil("the redirect is sent") { stub.submitted.count == 2 && stub.open.count == 1 }
        stub.completeAll { _ in .response(Response(statusCode: 200, body: Array("text".utf8))) }
        _ = try await request.finalValue()
        try await waitUntil("both attempts have ended") { traced.attempts.count == 2 }
        #expect(resends(traced.attempts) == [1, 2])
        #expect(request.resends == [.connection, .redirect])
        await traced.finish()
    }

    @Test func retriesHaveASpanAroundThem() async throws {
        let traced = TracedClient(StubTransport { _ in .response(status: 503) }) {
            $0.resilience = Resilience(retry: RetryPolicy(backoff: .none), budget: nil)
        }
        let caller = try await caller(traced) { _ = await traced.client.result(of: GetUser()) }
        let request = try #require(traced.requests.first)
        #expect(request.operationName == "GetUser" && request.parentSpanID == caller.spanID && request.isError)
        #expect(request.text("error.type") == "statusNotAccepted" && request.number("errand.request.attempts") == 3)
        #expect(request.text("url.template") == "/users/{id}")
        #expect(traced.attempts.map(\.parentSpanID) == Array(repeating: request.spanID, count: 3))
        #expect(traced.attempts.allSatisfy { $0.links.isEmpty })
        #expect(resends(traced.attempts) == [nil, 1, 2])
        #expect(Set(traced.tracer.finishedSpans.map(\.traceID)) == [caller.traceID])
        await traced.finish()
    }

    @Test func theLoserOfAHedgeEndsWithoutAnError() async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(100)), maxExtra: 1, budget: .init(ratio: 1, floorPerSecond: 5))
        let traced = TracedClient(stub) {
            $0.clock = clock
            $0.resilience = Resilience(retry: RetryPolicy(), budget: nil, hedge: hedge)
        }
        let request = traced.client.start(GetText())
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(100))
        try await waitUntil("the hedge was sent") { stub.open.count == 2 }
        stub.complete(stub.open[1], with: .response(Response(statusCode: 200, body: Array("text".utf8))))
        _ = try await request.finalValue()
        try await waitUntil("both attempts have ended") { traced.attempts.count == 2 }
        #expect(traced.attempts.allSatisfy { $0.status == nil && $0.attributes.get("error.type") == nil })
        #expect(Set(resends(traced.attempts)) == [nil, 1])
        #expect(Set(traced.attempts.map { $0.number("http.response.status_code") }) == [200, nil])
        let around = try #require(traced.requests.first)
        #expect(traced.attempts.allSatisfy { $0.parentSpanID == around.spanID })
        await traced.finish()
    }

    /// The refresh runs in a detached task, and belongs to the trace of the request that waits for it.
    @Test func aReplayAndItsRefresh() async throws {
        let stub = StubTransport { description in
            let isGood = description.url.hasSuffix("token") || description.headers[.authorization] == "good"
            return .response(status: isGood ? 200 : 401, body: "text")
        }
        let authenticator = TokenAuthenticator()
        let traced = TracedClient(stub) {
            $0.interceptors = [
                AuthenticationInterceptor(authenticator, credential: "bad", refreshTimeout: .seconds(3600))
            ]
        }
        authenticator.use(traced.client)
        let caller = try await caller(traced) { _ = try await traced.client.run(GetText()) }
        #expect(traced.attempts.map { $0.text("url.full")?.split(separator: "/").last } == ["text", "token", "text"])
        #expect(resends(traced.attempts) == [nil, nil, 1])
        #expect(traced.attempts.allSatisfy { $0.traceID == caller.traceID && $0.parentSpanID == caller.spanID })
        authenticator.use(nil)
        await traced.finish()
    }

    /// Children that start later, on the callback queue, too.
    @Test func aGroupIsTheParentOfItsChildren() async throws {
        let traced = TracedClient(stub)
        let caller = try await caller(traced) {
            _ = try await traced.client.run(Batch((0..<3).map { GetUser(id: $0) }, maxConcurrent: 1))
        }
        let group = try #require(traced.requests.first)
        #expect(traced.requests.count == 1 && group.parentSpanID == caller.spanID)
        #expect(group.operationName.hasPrefix("Batch<"))
        #expect(traced.attempts.count == 3 && traced.attempts.allSatisfy { $0.parentSpanID == group.spanID })
        await traced.finish()
    }

    @Test func aSharedTransferBelongsToTheRequestThatOpenedIt() async throws {
        let stub = StubTransport()
        let traced = TracedClient(stub)
        let (first, second) = (
            traced.tracer.startSpan("first", context: .topLevel), traced.tracer.startSpan("second", context: .topLevel)
        )
        let requests = [first, second].map { span in
            within(span) { traced.client.start(GetText(options: .coalesced)) }
        }
        stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: Array("text".utf8))))
        for request in requests { _ = try await request.finalValue() }
        try await waitUntil("the attempt has ended") { !traced.attempts.isEmpty }
        #expect(try traced.attempt().parentSpanID == first.spanID)
        first.end()
        second.end()
        await traced.finish()
    }

    /// Otherwise nothing in its trace says what it has waited for.
    @Test func theSpanOfARequestThatJoinsLinksToTheAttempt() async throws {
        let stub = StubTransport()
        let traced = TracedClient(stub, .init(requestSpans: .always))
        let requests = (0..<2).map { _ in traced.client.start(GetText(options: .coalesced)) }
        stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: Array("text".utf8))))
        for request in requests { _ = try await request.finalValue() }
        try await waitUntil("all spans have ended") { traced.tracer.finishedSpans.count == 3 }
        let joined = try #require(traced.requests.first { $0.number("errand.request.attempts") == 0 })
        #expect(joined.attributes.get("errand.request.shared") == .bool(true))
        let attempt = try traced.attempt()
        #expect(joined.links.count == 1)
        #expect(joined.links.first?.context.inMemorySpanContext?.spanID == attempt.spanID)
        let opener = try #require(traced.requests.first { $0.number("errand.request.attempts") == 1 })
        #expect(opener.links.isEmpty && opener.attributes.get("errand.request.shared") == nil)
        await traced.finish()
    }

    @Test func anAnswerOfTheCacheHasNoSpan() async throws {
        let traced = TracedClient(stub)
        for _ in 0..<2 { _ = try await traced.client.run(GetCached()) }
        #expect(traced.tracer.finishedSpans.count == 1)
        await traced.finish()
    }

    @Test func everyRequestMayHaveASpan() async throws {
        let traced = TracedClient(stub, .init(requestSpans: .always))
        for _ in 0..<2 { _ = try await traced.client.run(GetCached()) }
        #expect(traced.requests.map { $0.number("errand.request.attempts") } == [1, 0])
        #expect(traced.requests.map { $0.text("errand.cache.result") } == ["uri-miss", "hit"])
        await traced.finish()
    }

    /// What the engine refuses is not sent.
    @Test func refusedAttemptsAreNotCounted() async throws {
        let traced = TracedClient(StubTransport { _ in .refuse(.queueFull) }, .init(requestSpans: .always))
        _ = await traced.client.result(of: GetText())
        #expect(traced.requests.map { $0.number("errand.request.attempts") } == [0])
        await traced.finish()
    }

    @Test func noRequestMayHaveASpan() async throws {
        let traced = TracedClient(stub, .init(requestSpans: .never)) { $0.resilience = .standard }
        let caller = try await caller(traced) {
            _ = try await traced.client.run(Batch([GetUser(id: 1), GetUser(id: 2)], maxConcurrent: 1))
        }
        #expect(traced.requests.isEmpty)
        #expect(traced.attempts.map(\.parentSpanID) == [caller.spanID, caller.spanID])
        await traced.finish()
    }

    /// Without a caller each attempt is a trace of its own.
    @Test func withoutACallerThereIsNoParent() async throws {
        let traced = TracedClient(stub)
        for _ in 0..<2 { _ = try await traced.client.run(GetText()) }
        #expect(traced.attempts.allSatisfy { $0.parentSpanID == nil })
        #expect(Set(traced.attempts.map(\.traceID)).count == 2)
        await traced.finish()
    }

    /// A closure on the callback queue, and a request that it starts, belong to the caller's trace.
    @Test func closuresHaveTheContextOfTheCaller() async throws {
        let traced = TracedClient(stub)
        let traces = Notes<String?>()
        let second = Mutex<Request<GetText>?>(nil)
        let caller = try await caller(traced) {
            let first = traced.client.start(GetText(path: "first")) { _ in
                traces.add(ServiceContext.current?.inMemorySpanContext?.traceID)
                second.withLock { $0 = traced.client.start(GetText(path: "second")) }
            }
            _ = try await first.finalValue()
        }
        _ = try await second.withLock { $0 }?.finalValue()
        #expect(traces.all == [caller.traceID])
        #expect(traced.attempts.count == 2 && traced.attempts.allSatisfy { $0.parentSpanID == caller.spanID })
        await traced.finish()
    }

    /// The tracer that is in force when the object is made.
    @Test func theTracerMayBeThatOfTheTask() async throws {
        let tracer = InMemoryTracer()
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.tracing = tracing(inTaskOf: tracer)
        let client = Client(configuration: configuration, transport: stub)
        _ = try await client.run(GetText())
        #expect(tracer.finishedSpans.count == 1)
        #expect(tracer.performedContextInjections.count == 1)
        let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
        #expect(stub.submitted.last?.headers[name] == tracer.finishedSpans.first?.spanID)
        await client.shutdown()
    }

    @Test func aConfigurationHasOneObject() {
        var configuration = Client.Configuration()
        #expect(configuration.tracing == nil)
        let tracing = ClientTracing(tracer: InMemoryTracer())
        configuration.tracing = tracing
        configuration.tracing = tracing
        #expect(configuration.tracing === tracing)
        configuration.tracing = nil
        #expect(configuration.tracing == nil)
    }
}
