import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// What one command changes of a client's resilience, and what clients share.
@Suite(.timeLimit(.minutes(20))) struct RequestResilienceTests {
    private struct Get: Command {
        var path: String
        var resilience: RequestResilience?
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    /// Of the same type without a default: the compiler takes both.
    private struct Named: Command {
        var path: String { "named" }
        var resilience: RequestResilience { RequestResilience(retry: .never, name: "named") }
        typealias Response = Errand.Response
        var acceptedStatusCodes: StatusCodes { .any }
    }

    private static let quick = RetryPolicy(backoff: RetryBackoff(base: .zero))

    private func client(_ stub: StubTransport, _ resilience: Resilience?, parts: ResilienceParts? = nil) -> Client {
        var configuration = Client.Configuration(baseURL: "http://a/")
        // The clock stands still: an open breaker stays open on a slow machine.
        configuration.clock = ManualClock()
        configuration.resilience = resilience
        configuration.resilienceParts = parts
        return Client(configuration: configuration, transport: stub)
    }

    /// Streams and WebSockets are requests of another command, which wraps that of the caller.
    @Test func theCommandOfAStreamIsAsked() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let client = client(stub, Resilience(retry: Self.quick, budget: nil))
        for isOff in [true, false] {
            let command = Get(path: "a", resilience: isOff ? .off : nil)
            _ = try? await client.stream(command)
            #expect(stub.submitted.last?.isExempt == isOff)
            _ = try? await client.webSocket(command)
            #expect(stub.submitted.last?.isExempt == isOff)
        }
    }

    @Test func aCommandReplacesParts() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let client = client(stub, Resilience(retry: Self.quick, budget: nil))
        #expect(try await client.run(Get(path: "a")).statusCode == 503)
        #expect(stub.submitted.count == 3)
        #expect(try await client.run(Get(path: "a", resilience: .init(retry: .never))).statusCode == 503)
        #expect(stub.submitted.count == 4)
        let more = RetryPolicy(maxAttempts: 5, backoff: RetryBackoff(base: .zero))
        #expect(try await client.run(Get(path: "a", resilience: .init(retry: more))).statusCode == 503)
        #expect(stub.submitted.count == 9)
        #expect(try await client.run(Get(path: "a", resilience: .off)).statusCode == 503)
        #expect(try await client.run(Named()).statusCode == 503)
        #expect(stub.submitted.count == 11)
        // Overrides come before the command.
        var overrides = RequestOverrides()
        overrides.resilience = RequestResilience(retry: Self.quick)
        #expect(try await client.run(Named(), overrides: overrides).statusCode == 503)
        #expect(stub.submitted.count == 14)
        await client.shutdown()
    }

    /// A request with settings of its own does not share a transfer that has others.
    @Test func transfersWithSettingsAreNotShared() throws {
        var description = try ResilientFixture.description()
        #expect(SharedTransferKey(description) != nil)
        description.resilience = .off
        #expect(SharedTransferKey(description) == nil)
    }

    /// A breaker of a name sees the requests of this name alone.
    @Test func aNameHasPartsOfItsOwn() async throws {
        let stub = StubTransport { $0.url.hasSuffix("bad") ? .response(status: 500) : .response(status: 200) }
        let breaker = BreakerPolicy(window: .count(4), minimumCalls: 2, openTime: .seconds(60))
        let client = client(stub, Resilience(breaker: breaker))
        for _ in 0..<2 {
            #expect(try await client.run(Get(path: "bad", resilience: .init(name: "bad"))).statusCode == 500)
        }
        await #expect(throws: ErrandError.circuitOpen) {
            try await client.run(Get(path: "bad", resilience: .init(name: "bad")))
        }
        #expect(try await client.run(Get(path: "good")).statusCode == 200)
        // Past all parts.
        #expect(try await client.run(Get(path: "bad", resilience: .off)).statusCode == 500)
        #expect(client.resilience?.breakers?.breaker(for: "bad").state == .open)
        await client.shutdown()
    }

    @Test func clientsShareParts() async throws {
        let stub = StubTransport { _ in .response(status: 500) }
        let settings = Resilience(
            breaker: BreakerPolicy(window: .count(4), minimumCalls: 2, openTime: .seconds(60)))
        let parts = ResilienceParts(settings, clock: ManualClock())
        let (one, other) = (client(stub, settings, parts: parts), client(stub, settings, parts: parts))
        for client in [one, other] { #expect(try await client.run(Get(path: "")).statusCode == 500) }
        for client in [one, other] {
            await #expect(throws: ErrandError.circuitOpen) { try await client.run(Get(path: "")) }
            #expect(client.resilience === parts)
        }
        #expect(parts.counts.attempts == 2 && parts.counts.refusedByBreaker == 2)
        // Parts without settings have no effect.
        let plain = client(stub, nil, parts: parts)
        #expect(try await plain.run(Get(path: "")).statusCode == 500)
        #expect(plain.resilience == nil)
        for client in [one, other, plain] { await client.shutdown() }
    }

    /// Breakers of the client and of its commands, but not those that it shares: these have a closure of their own.
    @Test func aConfigurationHearsOfTransitions() async throws {
        let told = Notes<String>()
        let stub = StubTransport { _ in .response(status: 500) }
        var configuration = Client.Configuration(baseURL: "http://a/")
        configuration.onBreakerTransition = { told.add("\($0.name) \($1.to)") }
        let settings = Resilience(breaker: BreakerPolicy(window: .count(4), minimumCalls: 1))
        configuration.resilience = settings
        let client = Client(configuration: configuration, transport: stub)
        configuration.resilienceParts = ResilienceParts(settings)
        #expect(configuration.resilience == settings && configuration.onBreakerTransition != nil)
        let sharing = Client(configuration: configuration, transport: stub)
        let own = RequestResilience(breaker: BreakerPolicy(window: .count(2), minimumCalls: 1), name: "own")
        _ = try await sharing.run(Get(path: ""))
        _ = try await client.run(Get(path: ""))
        _ = try await client.run(Get(path: "", resilience: own))
        #expect(told.all == ["http://a:80 open", "own open"])
        configuration.resilience = nil
        configuration.resilienceParts = nil
        configuration.onBreakerTransition = nil
        #expect(configuration.layers.isEmpty)
        for client in [client, sharing] { await client.shutdown() }
    }

    @Test func theServerIsToldTheTimeThatIsLeft() async throws {
        let fixture = ResilientFixture(
            Resilience(retry: RetryPolicy(attemptTimeout: .seconds(2)), deadlineHeader: .requestTimeout))
        let name = HTTPField.Name("X-Request-Timeout")
        let (receiver, _) = try fixture.submit(ResilientFixture.description(total: .seconds(3)))
        #expect(fixture.stub.submitted[0].headers[name] == "2000")
        fixture.clock.advance(by: .milliseconds(1500))
        try fixture.answer(503)
        try await fixture.pass(.milliseconds(100), attempts: 2)
        #expect(fixture.stub.submitted[1].headers[name] == "1400")
        try fixture.answer(200)
        #expect(receiver.events.all.last == "200")
        // Less than a millisecond is no time to be sent with.
        #expect(throws: ErrandError.deadlineExceeded) {
            try fixture.submit(ResilientFixture.description(total: .microseconds(500)))
        }
        #expect(fixture.isEmpty())
    }

    /// ``Timeouts/queue`` bounds the wait for a limit.
    @Test func theWaitForALimitEnds() async throws {
        let fixture = ResilientFixture(Resilience(concurrency: .init(limit: 1)))
        _ = try fixture.submit()
        var command = RawCommand(url: "http://a/")
        command.timeouts = Timeouts(queue: .seconds(1))
        let description = try RequestBuilder(Client.Configuration()).description(of: command)
        let (receiver, _) = try fixture.submit(description)
        await fixture.clock.sleepers(1)
        fixture.clock.advance(by: .seconds(1))
        try await waitUntil("the request ended") { !receiver.results.all.isEmpty }
        #expect(receiver.error == .timeoutQueue && receiver.error?.isRefusal == true)
        try fixture.answer(200)
        #expect(fixture.isEmpty())
    }

    // MARK: The ledger

    /// A redirect, a replay and a retry are counted together, with their reasons and in their order.
    @Test func everyResendIsCounted() async throws {
        struct Once: ReplayingInterceptor {
            func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
                context.replays == 0
            }
        }
        let answers = Mutex<[StubTransport.Answer]>([
            .response(status: 302, headers: [.location: "/next"]), .failure(.connectFailed), .response(status: 200),
            .response(status: 503), .response(status: 200),
        ])
        let stub = StubTransport { _ in answers.withLock { $0.removeFirst() } }
        var configuration = Client.Configuration(baseURL: "http://a/")
        configuration.resilience = Resilience(retry: Self.quick)
        configuration.interceptors = [Once()]
        let client = Client(configuration: configuration, transport: stub)
        let request = client.request(Get(path: "first"))
        await withCheckedContinuation { done in _ = request.start { _ in done.resume() } }
        #expect(request.resends.map(\.label) == ["redirect", "noConnection", "replay", "status503"])
        #expect(stub.submitted.count == 1 + request.resends.count)
        await client.shutdown()
    }

    /// A retry that the breaker or the transport refuses was decided, and is no further send.
    @Test(arguments: [true, false]) func aRefusedRetryIsNotCounted(byBreaker: Bool) async throws {
        let asked = Mutex(0)
        let stub = StubTransport { _ in
            let number = asked.withLock { asked -> Int in
                asked += 1
                return asked
            }
            return number == 1 ? .response(status: 503) : .refuse(.queueFull)
        }
        let recorder = EventRecorder()
        let breaker = BreakerPolicy(window: .count(4), minimumCalls: 1)
        var configuration = Client.Configuration(baseURL: "http://a/")
        configuration.clock = ManualClock()
        configuration.accessories = [recorder]
        configuration.resilience = Resilience(retry: Self.quick, breaker: byBreaker ? breaker : nil)
        let client = Client(configuration: configuration, transport: stub)
        let request = client.request(Get(path: "first"))
        await withCheckedContinuation { done in _ = request.start { _ in done.resume() } }
        #expect(request.response?.statusCode == 503 && stub.submitted.count == 1)
        #expect(request.resends.isEmpty && recorder.names.contains("retrying status503"))
        #expect(recorder.names.contains("decided refused.breaker") == byBreaker)
        #expect(asked.withLock { $0 } == (byBreaker ? 1 : 2))
        await client.shutdown()
    }
}
