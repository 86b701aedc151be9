import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Stepwise: Command {
    let order: Notes<String>
    var path = "steps"
    var timeouts: Timeouts?
    var gate = Gate(isOpen: true)
    var interceptors: [any Interceptor] = []
    typealias Response = String

    var validator: (@Sendable (String, Errand.Response) async throws -> Void)? {
        { [order, gate] _, _ in
            order.add("validate")
            await gate.pass()
            order.add("validated")
        }
    }
    var successPreprocessor: (@Sendable (String, Errand.Response) async -> Void)? {
        { [order] _, _ in order.add("success preprocessor") }
    }
    var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? {
        { [order] error in order.add("failure preprocessor \(error.shortDescription)") }
    }
    var failureFilter: (@Sendable (Request<Self>) -> Void)? {
        { [order] request in order.add("failure filter \(request.error?.shortDescription ?? "none")") }
    }
}

/// An interceptor of closures.
private struct Intercept: StepwiseInterceptor {
    var prepare: @Sendable () async throws -> Void = {}
    var replays: @Sendable (Int) async throws -> Bool = { _ in false }
    var transform: @Sendable () async throws -> Void = {}

    func prepare(_ request: RequestDescription, in context: InterceptionContext) async throws -> RequestDescription {
        try await prepare()
        return request
    }
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        try await replays(context.replays)
    }
    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        try await transform()
        return response
    }
}

/// What becomes of asynchronous steps that nobody waits for any more, and of what follows a step that is out of time.
@Suite(.timeLimit(.minutes(20))) struct AbandonedStepTests {
    private let clock = ManualClock()

    private func client(_ status: Int = 200) -> Client {
        Client.stubbed(StubTransport { _ in .response(status: status, body: "v") }) { $0.clock = clock }
    }

    private func until(_ condition: () -> Bool) async throws {
        try await waitUntil("the run has come so far", condition)
    }

    /// Lets the time of the request run out.
    private func expire(_ request: AnyRequest) async throws {
        try await waitUntil("the request has ended") {
            clock.advance(by: .seconds(3600))
            return request.state.isFinished
        }
    }

    @Test(arguments: ["stop", "timeout", "shutdown"])
    func nothingMoreOfTheRunIsCalled(by end: String) async throws {
        let (order, gate, client) = (Notes<String>(), Gate(), client())
        var command = Stepwise(order: order, gate: gate)
        command.timeouts = Timeouts(total: .seconds(3600))
        let request = client.start(command)
        try await until { order.all.contains("validate") }
        switch end {
        case "stop": request.stop()
        case "shutdown": await client.shutdown(.cancel)
        default: try await expire(request)
        }
        try await until { request.state.isFinished }
        await gate.open()
        try await until { order.all.contains("validated") }
        await client.shutdown(.cancel)
        await client.callbacksDrained()
        await allowTime(for: "a hook of the abandoned run")
        let told = order.all.filter { !$0.hasPrefix("validate") }
        switch end {
        case "stop": #expect(told == [])
        case "timeout": #expect(told == ["failure preprocessor timeoutTotal", "failure filter timeoutTotal"])
        default: #expect(told == ["failure filter shutDown"])
        }
    }

    /// Its preprocessors do not listen to cancellation, as user code may.
    private struct SlowEnd: Command {
        let order: Notes<String>
        let gate: Gate
        var path: String { "end" }
        var timeouts: Timeouts? { Timeouts(total: .seconds(3600)) }
        typealias Response = String
        var successPreprocessor: (@Sendable (String, Errand.Response) async -> Void)? {
            { [order, gate] _, _ in
                order.add("success")
                await gate.pass()
                order.add("success ended")
            }
        }
        var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? {
            { [order, gate] error in
                order.add("failure \(error.shortDescription)")
                await gate.pass()
                order.add("failure ended")
            }
        }
    }

    /// The one that runs when the time is up: no other is called beside it, nor after it.
    @Test(arguments: [200, 500]) func oneRunCallsOnePreprocessor(_ status: Int) async throws {
        let first = status == 200 ? "success" : "failure statusNotAccepted"
        let last = status == 200 ? "success ended" : "failure ended"
        let (order, gate, client) = (Notes<String>(), Gate(), client(status))
        let request = client.start(SlowEnd(order: order, gate: gate))
        try await until { order.all == [first] }
        try await expire(request)
        await gate.open()
        try await until { order.all.last == last }
        await client.shutdown(.cancel)
        await client.callbacksDrained()
        #expect(order.all == [first, last])
        #expect(request.error == .timeoutTotal)
    }

    @Test func theNextInterceptorIsNotAsked() async throws {
        let (order, gate) = (Notes<String>(), Gate())
        let first = Intercept(prepare: {
            order.add("first")
            await gate.pass()
            order.add("first ended")
        })
        let second = Intercept(prepare: { order.add("second") })
        let client = client()
        let request = client.start(Stepwise(order: order, interceptors: [first, second]))
        try await until { order.all == ["first"] }
        request.stop()
        await gate.open()
        try await until { order.all.count > 1 }
        await client.shutdown(.cancel)
        await allowTime(for: "the next interceptor")
        #expect(order.all == ["first", "first ended"])
    }

    /// The first transfer was sent and answered; whoever sends refusals again must not send it twice.
    @Test func aTimeoutBeforeAReplayIsNoRefusal() async throws {
        let stub = StubTransport { _ in .response(status: 503) }
        let client = Client.stubbed(stub) { $0.clock = clock }
        let gate = Gate()
        let prepared = Atomic(0)
        let again = Intercept(
            prepare: {
                if prepared.wrappingAdd(1, ordering: .relaxed).newValue > 1 { await gate.pass() }
            }, replays: { $0 == 0 })
        var command = Stepwise(order: Notes())
        command.timeouts = Timeouts(total: .seconds(3600))
        command.interceptors = [again]
        let request = client.start(command)
        try await until { prepared.load(ordering: .relaxed) > 1 }
        try await expire(request)
        await gate.open()
        #expect(request.error == .timeoutTotal)
        #expect(request.error?.isRefusal == false)
        #expect(request.error?.statusCode == 503)
        #expect(request.attempts.map(\.response?.statusCode) == [503])
        #expect(stub.submitted.count == 1)
        await client.shutdown(.cancel)
    }

    /// An interceptor's own request was refused; this one was sent.
    @Test(arguments: [true, false]) func anothersRefusalIsNotOnes(inTransform: Bool) async throws {
        let refusal = ErrandError.queueFull.with(isRefusal: true)
        let failing =
            inTransform ? Intercept(transform: { throw refusal }) : Intercept(replays: { _ in throw refusal })
        let client = client()
        do {
            _ = try await client.run(Stepwise(order: Notes(), interceptors: [failing]))
            Issue.record("it succeeded")
        } catch let error as ErrandError {
            #expect(error == .queueFull)
            #expect(!error.isRefusal)
            #expect(error.statusCode == 200)
        }
        await client.shutdown(.cancel)
    }

    @Test func aStatusIsSeenThroughATransformThatFails() async throws {
        struct Undecryptable: Error {}
        let decrypt = Intercept(transform: { throw Undecryptable() })
        let bad = client(502)
        do {
            _ = try await bad.run(Stepwise(order: Notes(), interceptors: [decrypt]))
            Issue.record("it succeeded")
        } catch let error as ErrandError {
            #expect(error == .statusNotAccepted)
            #expect(error.statusCode == 502)
            #expect((error.underlyingError as? ErrandError)?.underlyingError is Undecryptable)
        }
        await bad.shutdown(.cancel)
        let good = client()
        await #expect(throws: ErrandError.interceptionFailed) {
            try await good.run(Stepwise(order: Notes(), interceptors: [decrypt]))
        }
        await good.shutdown(.cancel)
    }

    @Test func aReplayThatCannotBeIsPreprocessedToo() async throws {
        let order = Notes<String>()
        struct Once: Command {
            let inner: Stepwise
            var path: String { inner.path }
            var method: HTTPRequest.Method { .put }
            var body: RequestBody { .stream(AsyncStream<[UInt8]> { $0.finish() }) }
            var interceptors: [any Interceptor] { inner.interceptors }
            var failurePreprocessor: (@Sendable (ErrandError) async -> Void)? { inner.failurePreprocessor }
        }
        let client = client(401)
        let command = Once(inner: Stepwise(order: order, interceptors: [Intercept(replays: { _ in true })]))
        await #expect(throws: ErrandError.uploadNotReplayable) { try await client.run(command) }
        #expect(order.all == ["failure preprocessor uploadNotReplayable"])
        await client.shutdown(.cancel)
    }
}
