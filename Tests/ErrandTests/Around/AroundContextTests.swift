import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// What an interceptor knows of its run, and the commands that it runs.
@Suite(.timeLimit(.minutes(20))) struct AroundContextTests {
    @Test func valuesAreKeptForTheRun() async throws {
        struct Turn: Sendable { var number: Int }
        let client = Client.stubbed(statuses(200))
        let seen = Notes<Int?>()
        let outer = Around { request, context, next in
            seen.add(context.storage[Turn.self]?.number)
            context.storage[Turn.self] = Turn(number: 1)
            return try await next(request)
        }
        let inner = Around { request, context, next in
            seen.add(context.storage[Turn.self]?.number)
            return try await next(request)
        }
        let command = GetAround(interceptors: [outer, inner])
        let request = client.request(command)
        for _ in 0..<2 { _ = try await request.finished() }
        #expect(seen.all == [nil, 1, nil, 1])
        await client.shutdown()
    }

    /// All of a run is in one task, which has the caller's task-local values, the transfers after the first included.
    private enum Caller { @TaskLocal static var name: String = "none" }

    @Test func taskLocalValuesAreTheCallers() async throws {
        let client = Client.stubbed(statuses(503, 200))
        let seen = Notes<String>()
        let again = Around { request, _, next in
            seen.add(Caller.name)
            _ = try await next(request)
            seen.add(Caller.name)
            return try await next(request)
        }
        let inner = Around { request, _, next in
            seen.add(Caller.name)
            return try await next(request)
        }
        _ = try await Caller.$name.withValue("ada") {
            try await client.run(GetAround(interceptors: [again, inner]))
        }
        #expect(seen.all == ["ada", "ada", "ada", "ada"])
        await client.shutdown()
    }

    /// The client's interceptors apply to the other command, except the one that runs it.
    @Test func itRunsAnotherCommand() async throws {
        let notes = Notes<String>()
        let stub = StubTransport { .response(status: 200, body: $0.url.hasSuffix("token") ? "t" : $0.url) }
        let client = Client.stubbed(stub) { configuration in
            configuration.interceptors = [
                Around.noting("outer", notes),
                Around { request, context, next in
                    notes.add("signing")
                    let token = try await context.run(GetAround(path: "token"))
                    var request = request
                    request.url += token
                    return try await next(request)
                },
            ]
        }
        #expect(try await client.run(GetAround()) == "http://test/xt")
        #expect(notes.all == ["outer in", "signing", "outer in", "outer out", "outer out"])
        await client.shutdown()
    }

    /// Not even if each of them runs the same command.
    @Test func interceptorsThatRunCommandsDoNotCallEachOtherForEver() async throws {
        let runs = Atomic(0)
        let other: @Sendable () -> Around = {
            Around { request, context, next in
                runs.add(1, ordering: .relaxed)
                _ = try await context.run(GetAround(path: "other"))
                return try await next(request)
            }
        }
        let client = Client.stubbed(statuses(200)) { $0.interceptors = [other(), other()] }
        #expect(try await client.run(GetAround()) == "200")
        // Each for the request, and each for the command of the other.
        #expect(runs.load(ordering: .relaxed) == 4)
        await client.shutdown()
    }

    /// The interceptor does not intercept the children of a group that it runs, whichever thread starts them.
    @Test(arguments: ["batch", "chain"]) func itRunsAGroup(kind: String) async throws {
        let runs = Atomic(0)
        let client = Client.stubbed(statuses(200)) { configuration in
            configuration.interceptors = [
                Around { request, context, next in
                    // With a fault the groups would nest without end.
                    guard runs.add(1, ordering: .relaxed).newValue < 10 else { return try await next(request) }
                    let other = GetAround(path: "other")
                    if kind == "batch" {
                        _ = try await context.run(Batch([other, other, other], maxConcurrent: 1))
                    } else {
                        let step = ChainStep(other)
                        _ = try await context.run(Chain([step, step]))
                    }
                    return try await next(request)
                }
            ]
        }
        #expect(try await client.run(GetAround()) == "200")
        #expect(runs.load(ordering: .relaxed) == 1)
        await client.shutdown()
    }

    @Test func theDepthIsBounded() async throws {
        struct Recursive: Command {
            var path: String { "r" }
            typealias Response = String
            var interceptors: [any Interceptor] {
                [
                    Around { _, context, _ in
                        try await context.outcome(of: Recursive()).response
                    }
                ]
            }
        }
        let client = Client.stubbed(statuses(200))
        guard case .failure(let error) = await client.result(of: Recursive()) else {
            Issue.record("it succeeded")
            return
        }
        #expect(error == .interceptionFailed)
        #expect(error.underlyingError as? InterceptionMisuse == .tooDeep)
        await client.shutdown()
    }

    /// The callback queue is free, and the command may start although the client drains.
    @Test func itRunsAnotherCommandDuringADrain() async throws {
        let gate = Gate()
        let stub = statuses(200)
        let client = Client.stubbed(stub)
        let waiting = Around { request, context, next in
            await gate.pass()
            _ = try await context.run(GetAround(path: "other"))
            return try await next(request)
        }
        let task = Task { try await client.run(GetAround(interceptors: [waiting])) }
        await gate.arrivals(1)
        let drain = Task { await client.shutdown() }
        try await waitUntil("the client drains") { client.isDraining }
        await #expect(throws: ErrandError.shutDown) { try await client.run(GetAround()) }
        await gate.open()
        #expect(try await task.value == "200")
        await drain.value
        #expect(stub.submitted.map(\.url) == ["http://test/other", "http://test/x"])
    }

    /// Stopping the request stops the other command.
    @Test func aStopStopsTheOtherCommand() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let waiting = Around { _, context, _ in try await context.outcome(of: GetAround(path: "other")).response }
        let request = client.start(GetAround(interceptors: [waiting]))
        let id = try await stub.opened()
        request.stop()
        try await waitUntil("the other command was stopped") { stub.cancelled == [id] }
        try await waitUntil("both have ended") { client.requests.isEmpty }
        #expect(request.state == .cancelled)
        await client.shutdown()
    }

    /// An interceptor of a run that has ended reports nothing to the observers of the next run.
    @Test func anEventOfAnEarlierRunIsDropped() async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let client = Client.stubbed(stub) { $0.clock = clock }
        let gate = Gate()
        let runs = Atomic(0)
        let told = Atomic(false)
        let late = Around { request, context, next in
            if runs.add(1, ordering: .relaxed).oldValue == 0 {
                await gate.pass()
                context.notify(.fellBack(after: .failure(.timeoutTotal), source: .stale))
                told.store(true, ordering: .relaxed)
            }
            return try await next(request)
        }
        let request = client.request(GetAround(interceptors: [late], timeouts: Timeouts(total: .seconds(5))))
        request.start()
        await gate.arrivals(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        try await waitUntil("the first run has ended") { request.state.isFinished && request.isAtRest }
        #expect(request.error == .timeoutTotal)
        let recorder = EventRecorder()
        request.addAccessory(recorder)
        #expect(request.start())
        let id = try await stub.opened()
        await gate.open()
        try await waitUntil("the first run's interceptor has reported") { told.load(ordering: .relaxed) }
        await client.callbacksDrained()
        stub.complete(id, with: .response(Response(statusCode: 200)))
        try await waitUntil("the second run has ended") { request.state.isFinished && request.isAtRest }
        #expect(recorder.names == ["willStart", "queued", "willStop", "didStop"])
        await client.shutdown()
    }

    /// A response of an earlier transfer is the server's, although the last transfer has failed.
    @Test func anEarlierResponseIsNoAnswer() async throws {
        let count = Atomic(0)
        let stub = StubTransport { _ in
            count.add(1, ordering: .relaxed).oldValue == 0
                ? .response(status: 200, body: "first") : .failure(.connectionLost)
        }
        let client = Client.stubbed(stub)
        let first = Around { request, _, next in
            let response = try await next(request)
            _ = await next.result(of: request)
            return response
        }
        let recorder = EventRecorder()
        let request = client.request(GetAround(interceptors: [first]))
        request.addAccessory(recorder)
        #expect(try await request.finished().value == "first")
        #expect(request.attempts.map(\.error) == [nil, .connectionLost])
        #expect(recorder.names == ["willStart", "queued", "replaying 200", "queued", "willStop", "didStop"])
        await client.shutdown()
    }

    /// A transfer that has used up the total time leaves time for an answer, and none for another transfer.
    @Test(arguments: [false, true]) func theTotalTimeLeavesTimeToAnswer(again: Bool) async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let client = Client.stubbed(stub) { $0.clock = clock }
        let calm = Around { request, _, next in
            guard case .failure(.timeoutTotal) = await next.result(of: request) else { throw CancellationError() }
            return again ? try await next(request) : Response(statusCode: 200, body: Array("in time".utf8))
        }
        let command = GetAround(interceptors: [calm], timeouts: Timeouts(total: .seconds(5)))
        let task = Task { await client.result(of: command) }
        let id = try await stub.opened()
        clock.advance(by: .seconds(5))
        stub.complete(id, with: .failure(.timeoutTotal))
        let result = await task.value
        if again {
            #expect(throws: ErrandError.timeoutTotal) { try result.get() }
        } else {
            #expect(try result.get() == "in time")
        }
        #expect(stub.submitted.count == 1)
        await client.shutdown()
    }

    /// The timeout of one attempt has the same name, and uses up nothing.
    @Test func theTimeOfAnAttemptIsNotTheTotalTime() async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let client = Client.stubbed(stub) { $0.clock = clock }
        let gate = Gate()
        let patient = Around { request, _, next in
            _ = await next.result(of: request)
            guard case .failure(.timeoutTotal) = await next.result(of: request) else { throw CancellationError() }
            await gate.pass()
            return Response(statusCode: 200, body: Array("in time".utf8))
        }
        let command = GetAround(interceptors: [patient], timeouts: Timeouts(total: .seconds(5)))
        let task = Task { await client.result(of: command) }
        let first = try await stub.opened()
        clock.advance(by: .seconds(1))
        stub.complete(first, with: .failure(.timeoutTotal))
        let second = try await stub.opened()
        clock.advance(by: .seconds(4))
        stub.complete(second, with: .failure(.timeoutTotal))
        await gate.arrivals(1)
        clock.advance(by: .milliseconds(50))
        await allowTime(for: "the end of the time to answer")
        await gate.open()
        let result = await task.value
        #expect(try result.get() == "in time")
        await client.shutdown()
    }

    /// An interceptor that does not answer in that time is abandoned.
    @Test func theTimeToAnswerEnds() async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let client = Client.stubbed(stub) { $0.clock = clock }
        let gate = Gate()
        let slow = Around { request, _, next in
            _ = await next.result(of: request)
            await gate.pass()
            return try await next(request)
        }
        let command = GetAround(interceptors: [slow], timeouts: Timeouts(total: .seconds(5)))
        let task = Task { await client.result(of: command) }
        let id = try await stub.opened()
        clock.advance(by: .seconds(5))
        stub.complete(id, with: .failure(.timeoutTotal))
        await gate.arrivals(1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(100))
        let result = await task.value
        #expect(throws: ErrandError.timeoutTotal) { try result.get() }
        await gate.open()
        await client.shutdown()
    }
}
