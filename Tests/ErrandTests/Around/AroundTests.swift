import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Trouble: Error {}

/// What an interceptor may do around the rest of a request.
@Suite(.timeLimit(.minutes(20))) struct AroundTests {
    private func error(of command: some Command, on client: Client) async throws -> ErrandError {
        guard case .failure(let error) = await client.result(of: command) else { throw Trouble() }
        return error
    }

    /// The client's interceptors are outside of the command's, and those of the overrides are innermost.
    @Test func theyNest() async throws {
        let notes = Notes<String>()
        let client = Client.stubbed(statuses(200)) {
            $0.interceptors = [Around.noting("a", notes), Around.noting("b", notes)]
        }
        var overrides = RequestOverrides()
        overrides.interceptors = [Around.noting("d", notes)]
        let command = GetAround(interceptors: [Around.noting("c", notes)])
        #expect(try await client.run(command, overrides: overrides) == "200")
        #expect(notes.all == ["a in", "b in", "c in", "d in", "d out", "c out", "b out", "a out"])
        await client.shutdown()
    }

    /// One place sees the whole: all transfers of the interceptors inside, with their redirects.
    @Test func itMeasuresTheWhole() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("/x")
                ? .response(status: 302, headers: [.location: "/y"]) : .response(status: 200, body: "y")
        }
        let client = Client.stubbed(stub)
        let seen = Notes<String>()
        let outer = Around { request, context, next in
            let response = try await next(request)
            seen.add("\(response.statusCode) \(context.replays) \(context.lastURL ?? "")")
            return response
        }
        let twice = Around { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let request = try await client.request(GetAround(interceptors: [outer, twice])).finished()
        #expect(request.value == "y")
        #expect(seen.all == ["200 1 http://test/y"])
        #expect(stub.submitted.map(\.url) == ["http://test/x", "http://test/y", "http://test/x", "http://test/y"])
        #expect(request.attempts.map { $0.response?.statusCode } == [302, 200, 302, 200])
        await client.shutdown()
    }

    /// A replay repeats what is inside the interceptor that wants it, and nothing outside.
    @Test func aReplayRepeatsTheInside() async throws {
        let notes = Notes<String>()
        let again = Around { request, _, next in
            let response = try await next(request)
            return response.statusCode == 503 ? try await next(request) : response
        }
        let client = Client.stubbed(statuses(503, 200)) {
            $0.interceptors = [Around.noting("outer", notes), again, Around.noting("inner", notes)]
        }
        let recorder = EventRecorder()
        let request = client.request(GetAround())
        request.addAccessory(recorder)
        #expect(try await request.finished().value == "200")
        #expect(notes.all == ["outer in", "inner in", "inner out", "inner in", "inner out", "outer out"])
        #expect(request.attempts.map { $0.response?.statusCode } == [503, 200])
        #expect(recorder.names == ["willStart", "queued", "replaying 503", "queued", "willStop", "didStop"])
        await client.shutdown()
    }

    /// The shorter forms nest in the same way, and see how often the request was sent.
    @Test func stepwiseInterceptorsAreAroundEachOther() async throws {
        struct Step: StepwiseInterceptor {
            let name: String
            let notes: Notes<String>
            let status: Int?
            func prepare(_ request: RequestDescription, in context: InterceptionContext) -> RequestDescription {
                notes.add("\(name) prepare \(context.replays)")
                var request = request
                request.url += name
                return request
            }
            func replays(after result: TransferResult, in context: InterceptionContext) -> Bool {
                notes.add("\(name) replays \(context.replays)")
                return status == result.response?.statusCode
            }
            func transform(_ response: Response, in context: InterceptionContext) -> Response {
                notes.add("\(name) transform")
                return response
            }
        }
        let notes = Notes<String>()
        let stub = statuses(503, 200)
        let client = Client.stubbed(stub) {
            $0.interceptors = [
                Step(name: "a", notes: notes, status: nil), Step(name: "b", notes: notes, status: 503),
                Step(name: "c", notes: notes, status: nil),
            ]
        }
        #expect(try await client.run(GetAround()) == "200")
        #expect(
            notes.all == [
                "a prepare 0", "b prepare 0", "c prepare 0", "c replays 0", "c transform", "b replays 0",
                "b prepare 1", "c prepare 1", "c replays 1", "c transform", "b replays 1", "b transform",
                "a replays 1", "a transform",
            ])
        #expect(stub.submitted.map(\.url) == ["http://test/xabc", "http://test/xabc"])
        await client.shutdown()
    }

    /// Nothing is sent, and the answer is judged like any response.
    @Test(arguments: [200, 404]) func itAnswersItself(status: Int) async throws {
        let stub = statuses(200)
        let client = Client.stubbed(stub)
        let recorder = EventRecorder()
        let answer = Around { _, _, _ in Response(statusCode: status, body: Array("own".utf8)) }
        let request = client.request(GetAround(interceptors: [answer]))
        request.addAccessory(recorder)
        _ = try await request.finished()
        #expect(request.value == (status == 200 ? "own" : nil))
        #expect(request.error == (status == 200 ? nil : .statusNotAccepted))
        #expect(request.response?.body.bytes == Array("own".utf8))
        #expect(request.url == "http://test/x")
        #expect(request.attempts.isEmpty)
        #expect(!request.isFromCache)
        #expect(stub.submitted.isEmpty)
        #expect(recorder.names == ["willStart", "answered \(status)", "willStop", "didStop"])
        await client.shutdown()
    }

    /// A redirect that an interceptor made up leads nowhere: redirects are inside.
    @Test func anAnswerIsNotFollowed() async throws {
        let stub = statuses(200)
        let client = Client.stubbed(stub)
        let answer = Around { _, _, _ in Response(statusCode: 302, headers: [.location: "/y"]) }
        #expect(try await error(of: GetAround(interceptors: [answer]), on: client) == .statusNotAccepted)
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    /// A failure is thrown, and may be swallowed.
    @Test func itAnswersInPlaceOfAFailure() async throws {
        let stub = StubTransport { _ in .failure(.connectionLost) }
        let client = Client.stubbed(stub)
        let caught = Notes<ErrandError>()
        let calm = Around { request, _, next in
            do throws(ErrandError) {
                return try await next(request)
            } catch {
                caught.add(error)
                return Response(statusCode: 200, body: Array("calm".utf8))
            }
        }
        let recorder = EventRecorder()
        let request = client.request(GetAround(interceptors: [calm]))
        request.addAccessory(recorder)
        #expect(try await request.finished().value == "calm")
        #expect(caught.all == [.connectionLost])
        #expect(request.attempts.map(\.error) == [.connectionLost])
        #expect(recorder.names == ["willStart", "queued", "answered 200", "willStop", "didStop"])
        await client.shutdown()
    }

    @Test func itThrowsAfterTheResponse() async throws {
        let client = Client.stubbed(statuses(200))
        let strict = Around { request, _, next in
            _ = try await next(request)
            throw Trouble()
        }
        let error = try await error(of: GetAround(interceptors: [strict]), on: client)
        #expect(error == .interceptionFailed)
        #expect(error.underlyingError is Trouble)
        #expect(error.statusCode == 200)
        #expect(!error.isRefusal)
        await client.shutdown()
    }

    /// Those outside see the error, and may send again.
    @Test func anErrorOfTheInsideIsSeenOutside() async throws {
        let stub = statuses(200)
        let client = Client.stubbed(stub)
        let failures = Atomic(0)
        let outer = Around { request, _, next in
            let result = await next.result(of: request)
            guard case .failure(.interceptionFailed) = result else {
                Issue.record("the error of the inside was not seen")
                throw Trouble()
            }
            return try await next(request)
        }
        let inner = Around { request, _, next in
            let response = try await next(request)
            if failures.add(1, ordering: .relaxed).oldValue == 0 { throw Trouble() }
            return response
        }
        #expect(try await client.run(GetAround(interceptors: [outer, inner])) == "200")
        #expect(stub.submitted.count == 2)
        await client.shutdown()
    }

    @Test func theSecondOfTwoCallsAtOnceThrows() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let errors = Notes<ErrandError>()
        let both = Around { request, _, next in
            async let first = next.result(of: request)
            _ = try await stub.opened()
            if case .failure(let error) = await next.result(of: request) { errors.add(error) }
            stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: Array("first".utf8))))
            switch await first {
            case .response(let response): return response
            case .failure(let error): throw error
            }
        }
        let inner: [[any Interceptor]] = [[], [Around { request, _, next in try await next(request) }]]
        for inner in inner {
            #expect(try await client.run(GetAround(interceptors: [both] + inner)) == "first")
        }
        #expect(errors.all == [.interceptionFailed, .interceptionFailed])
        #expect(errors.all.allSatisfy { $0.underlyingError as? InterceptionMisuse == .concurrentCalls })
        #expect(stub.submitted.count == 2)
        await client.shutdown()
    }

    @Test func aCallAfterTheEndThrows() async throws {
        let stub = statuses(200)
        let client = Client.stubbed(stub)
        let kept = Mutex<(InterceptorNext, RequestDescription)?>(nil)
        let keeping = Around { request, _, next in
            kept.withLock { $0 = (next, request) }
            return try await next(request)
        }
        _ = try await client.run(GetAround(interceptors: [keeping]))
        let (next, request) = try #require(kept.withLock { $0 })
        await #expect(throws: ErrandError.cancelled) { try await next(request) }
        #expect(stub.submitted.count == 1)
        await client.shutdown()
    }

    /// The answer of an interceptor that does not wait for its own call ends the run; the transfer is cancelled.
    @Test func aCallThatNobodyWaitsForIsCancelled() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let late = Notes<ErrandError?>()
        let hasty = Around { request, _, next in
            Task {
                guard case .failure(let error) = await next.result(of: request) else { return late.add(nil) }
                late.add(error)
            }
            _ = try await stub.opened()
            return Response(statusCode: 200, body: Array("hasty".utf8))
        }
        #expect(try await client.run(GetAround(interceptors: [hasty])) == "hasty")
        // The transfer may be cancelled by its submission and by the end of the interceptor.
        #expect(Set(stub.cancelled).count == 1)
        try await waitUntil("the call has ended") { !late.all.isEmpty }
        #expect(late.all == [.cancelled])
        #expect(stub.open.isEmpty)
        await client.shutdown()
    }

    /// Cancelling the task of the call is giving up: the transfer is cancelled, and the run goes on.
    @Test(arguments: [false, true]) func aCallThatIsGivenUpIsCancelled(again: Bool) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let impatient = Around { request, _, next in
            let call = Task { await next.result(of: request) }
            _ = try await stub.opened()
            call.cancel()
            guard case .failure(.cancelled) = await call.value else { throw Trouble() }
            guard again else { return Response(statusCode: 200, body: Array("own".utf8)) }
            async let second = next(request)
            _ = try await stub.opened()
            stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: Array("second".utf8))))
            return try await second
        }
        let request = try await client.request(GetAround(interceptors: [impatient])).finished()
        #expect(request.value == (again ? "second" : "own"))
        #expect(stub.cancelled.count == 1)
        let errors: [ErrandError?] = again ? [.cancelled, nil] : [.cancelled]
        #expect(request.attempts.map(\.error) == errors)
        await client.shutdown()
    }

    /// The same while an interceptor inside waits and nothing was sent.
    @Test func aCallThatIsGivenUpWhileTheInsideWaitsIsCancelled() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let clock = ManualClock()
        let impatient = Around { request, _, next in
            let call = Task { await next.result(of: request) }
            await clock.sleepers(1)
            call.cancel()
            guard case .failure(.cancelled) = await call.value else { throw Trouble() }
            return Response(statusCode: 200, body: Array("own".utf8))
        }
        let waiting = Around { request, _, next in
            try await clock.sleep(for: .seconds(1))
            return try await next(request)
        }
        let request = try await client.request(GetAround(interceptors: [impatient, waiting])).finished()
        #expect(request.value == "own")
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    /// A cancellation that is the interceptor's own is an error of the interceptor, not a stop.
    @Test func anInterceptorsCancellationIsNoStop() async throws {
        let client = Client.stubbed(StubTransport())
        let impatient = Around { request, _, next in
            let call = Task { try await next(request) }
            call.cancel()
            return try await call.value
        }
        let error = try await error(of: GetAround(interceptors: [impatient]), on: client)
        #expect(error == .interceptionFailed)
        #expect(error.underlyingError is CancellationError)
        await client.shutdown()
    }

    @Test func transfersAreBounded() async throws {
        let stub = statuses(503)
        let client = Client.stubbed(stub)
        let stubborn = Around { request, _, next in
            while true {
                let response = try await next(request)
                if response.statusCode == 200 { return response }
            }
        }
        let error = try await error(of: GetAround(interceptors: [stubborn]), on: client)
        #expect(error == .interceptionFailed)
        #expect(error.underlyingError as? InterceptionMisuse == .tooManyTransfers)
        #expect(error.statusCode == 503)
        #expect(stub.submitted.count == 1 + InterceptionContext.replayLimit)
        await client.shutdown()
    }

    /// The engine's refusal is thrown, and the request may be led elsewhere.
    @Test func aRefusalIsThrown() async throws {
        let stub = StubTransport { $0.url.hasSuffix("/x") ? .refuse(.queueFull) : .response(status: 200, body: "b") }
        let client = Client.stubbed(stub)
        let elsewhere = Around { request, _, next in
            do throws(ErrandError) {
                return try await next(request)
            } catch {
                #expect(error == .queueFull && error.isRefusal)
                var request = request
                request.url = "http://test/y"
                return try await next(request)
            }
        }
        #expect(try await client.run(GetAround(interceptors: [elsewhere])) == "b")
        let rethrown = Around { request, _, next in try await next(request) }
        let error = try await error(of: GetAround(interceptors: [rethrown]), on: client)
        #expect(error == .queueFull && error.isRefusal)
        await client.shutdown()
    }

    /// A body that cannot be read twice: the second call throws, and the first response may still be returned.
    @Test func aBodyIsNotSentTwice() async throws {
        struct Upload: Command {
            var path: String { "up" }
            var method: HTTPRequest.Method { .put }
            var body: RequestBody { .stream(AsyncStream<[UInt8]> { $0.finish() }) }
            var interceptors: [any Interceptor]
            typealias Response = String
        }
        let stub = statuses(200)
        let client = Client.stubbed(stub)
        let twice = Around { request, _, next in
            let first = try await next(request)
            await #expect(throws: ErrandError.uploadNotReplayable) { try await next(request) }
            return first
        }
        #expect(try await client.run(Upload(interceptors: [twice])) == "200")
        #expect(stub.submitted.count == 1)
        await client.shutdown()
    }
}
