import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandResilience

@Suite(.timeLimit(.minutes(20))) struct FallbackTests {
    private struct Trouble: Error {}

    private func error(of command: some Command, on client: Client) async throws -> ErrandError {
        guard case .failure(let error) = await client.result(of: command) else { throw Trouble() }
        return error
    }

    /// Which results are replaced without a condition of the user's.
    @Test(arguments: [
        (StubTransport.Answer.failure(.connectFailed), true), (.failure(.timeoutFirstByte), true),
        (.failure(.timeoutTotal), true), (.failure(.tlsUntrusted), false), (.failure(.limitBodyBytes), false),
        (.refuse(.circuitOpen), true), (.refuse(.limitExceeded), true), (.refuse(.queueFull), false),
        (.refuse(.deadlineExceeded), true),
        (.response(status: 500), true), (.response(status: 503), true), (.response(status: 404), false),
        (.response(status: 200, body: "own"), false),
    ])
    func theDefaultCondition(_ answer: StubTransport.Answer, isReplaced: Bool) async throws {
        let fallback = Fallback(.response(body: Array("instead".utf8)))
        let client = Client.stubbed(StubTransport { _ in answer }) { $0.interceptors = [fallback] }
        let value = try? await client.run(GetAround())
        #expect((value == "instead") == isReplaced)
        #expect(fallback.counts.responses == (isReplaced ? 1 : 0))
        await client.shutdown()
    }

    @Test func aValueIsEncodedAndDecoded() async throws {
        struct Rates: Codable, Sendable, Equatable { var euro: Double }
        struct GetRates: Command {
            var path: String { "rates" }
            typealias Response = Rates
        }
        let fallback = Fallback(.json(Rates(euro: 1)))
        let client = Client.stubbed(statuses(503)) { $0.interceptors = [fallback] }
        #expect(try await client.run(GetRates()) == Rates(euro: 1))
        await client.shutdown()
    }

    /// Observers hear of it, and the attempts show what happened.
    @Test func itIsToldAndCounted() async throws {
        let fallback = Fallback(.response(body: Array("instead".utf8)))
        let recorder = EventRecorder()
        let client = Client.stubbed(StubTransport { _ in .failure(.connectFailed) }) {
            $0.interceptors = [fallback]
            $0.accessories = [recorder]
        }
        let request = try await client.request(GetAround()).finished()
        #expect(request.value == "instead")
        #expect(request.attempts.map(\.error) == [.connectFailed])
        #expect(
            recorder.names == ["willStart", "queued", "fellBack response", "answered 200", "willStop", "didStop"])
        guard case .fellBack(.failure(.connectFailed), .response) = recorder.entries[2].event else {
            Issue.record("the event has not the failure and the source")
            return
        }
        #expect(fallback.counts.responses == 1)
        #expect(fallback.counts.failures == 0)
        await client.shutdown()
    }

    /// The first source that answers is taken; the command passes the client's interceptors without the fallback.
    @Test func anotherCommandAnswers() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("mirror") ? .response(status: 200, body: "m") : .response(status: 503)
        }
        let notes = Notes<String>()
        let fallback = Fallback(.command(GetAround(path: "other")), .command(GetAround(path: "mirror")))
        let client = Client.stubbed(stub) { $0.interceptors = [fallback, Around.noting("inner", notes)] }
        #expect(try await client.run(GetAround()) == "m")
        #expect(stub.submitted.map(\.url) == ["http://test/x", "http://test/other", "http://test/mirror"])
        #expect(notes.all.count == 6)
        #expect(fallback.counts.commands == 1)
        await client.shutdown()
    }

    /// The first failure stands, with the reason of the last source.
    @Test func withoutAnAnswerTheFirstResultStands() async throws {
        let fallback = Fallback(.stale(), .response { _ in throw Trouble() }, .command(GetAround(path: "other")))
        let client = Client.stubbed(StubTransport { _ in .failure(.connectFailed) }) { $0.interceptors = [fallback] }
        let error = try await error(of: GetAround(), on: client)
        #expect(error == .connectFailed)
        #expect(error.message.contains("the fallback failed: connectFailed"))
        #expect(error.underlyingError as? ErrandError == .connectFailed)
        #expect(fallback.counts.failures == 1)
        await client.shutdown()
        let other = Client.stubbed(statuses(503)) { $0.interceptors = [Fallback(.response { _ in throw Trouble() })] }
        let status = try await self.error(of: GetAround(), on: other)
        #expect(status == .statusNotAccepted)
        #expect(status.statusCode == 503)
        await other.shutdown()
    }

    /// A stopped request has no fallback, whatever the condition says.
    @Test func aStopIsNoFailure() async throws {
        let fallback = Fallback(.response(), when: { _ in true })
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.interceptors = [fallback] }
        let task = Task { try await client.run(GetAround()) }
        _ = try await stub.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await client.shutdown(.cancel)
        #expect(fallback.counts == Fallback.Counts())
    }

    /// A stop while a source works ends the search: no further source is asked, and nothing is counted or reported.
    @Test func aStoppedRequestAsksNoFurtherSource() async throws {
        let made = Notes<Int>()
        let notes = Notes<String>()
        let fallback = Fallback(
            .command(GetAround(path: "other")),
            .response { _ in
                made.add(1)
                return Response(statusCode: 200)
            })
        let stub = StubTransport { $0.url.hasSuffix("other") ? .hold : .response(status: 503) }
        let client = Client.stubbed(stub)
        let request = client.request(GetAround(interceptors: [Around.noting("outer", notes), fallback]))
        request.start()
        try await waitUntil("the other command was sent") { stub.open.count == 1 && stub.submitted.count == 2 }
        request.stop()
        try await waitUntil("the fallback has returned") { notes.all.contains("outer out") }
        #expect(made.all.isEmpty)
        #expect(fallback.counts == Fallback.Counts())
        try await waitUntil("both have ended") { client.requests.isEmpty }
        #expect(request.state == .cancelled)
        await client.shutdown()
    }

    /// An interceptor inside that gives up its call has not stopped the request.
    @Test func aCallThatWasGivenUpIsAFailure() async throws {
        let fallback = Fallback(.response(body: Array("instead".utf8)))
        let client = Client.stubbed(StubTransport())
        let impatient = Around { request, _, next in
            let call = Task { try await next(request) }
            call.cancel()
            return try await call.value
        }
        #expect(try await client.run(GetAround(interceptors: [fallback, impatient])) == "instead")
        #expect(fallback.counts.responses == 1)
        await client.shutdown()
    }

    /// Each child falls back by itself.
    @Test func theChildrenOfAGroupFallBack() async throws {
        let fallback = Fallback(.response(body: Array("instead".utf8)))
        let stub = StubTransport { $0.url.hasSuffix("1") ? .response(status: 503) : .response(status: 200, body: "2") }
        let client = Client.stubbed(stub) { $0.interceptors = [fallback] }
        let (first, second) = try await client.run(GetAround(path: "1"), GetAround(path: "2"))
        #expect([first, second] == ["instead", "2"])
        #expect(fallback.counts.responses == 1)
        await client.shutdown()
    }

    /// A download's value is a file, which an answer does not have.
    @Test func aDownloadCannotFallBack() async throws {
        let fallback = Fallback(.response(body: Array("instead".utf8)), when: { $0.response?.statusCode == 404 })
        let stubbed = try StubbedDownload { $0.interceptors = [fallback] }
        let request = stubbed.start()
        let (id, _) = try await stubbed.transfer(1)
        stubbed.stub.sendHead(404, to: id)
        stubbed.stub.end(id, 404)
        let error = await request.failure()
        #expect(error == .invalidArgument)
        #expect(error?.message.contains("an interceptor replaced the response of a download") == true)
        #expect(fallback.counts.responses == 1)
        #expect(stubbed.folder.names.isEmpty)
        await stubbed.client.shutdown(.cancel)
    }

    /// Retries and breakers are inside: it answers when they have given up, and a refusal is answered at once.
    @Test func itStandsAroundTheBreaker() async throws {
        let fallback = Fallback(.response(body: Array("instead".utf8)))
        let stub = statuses(500)
        let client = Client.stubbed(stub) { configuration in
            configuration.interceptors = [fallback]
            configuration.resilience = Resilience(
                breaker: BreakerPolicy(window: .count(2), failureRate: 0.5, minimumCalls: 2, openTime: .seconds(300)))
        }
        for _ in 0..<4 { #expect(try await client.run(GetAround()) == "instead") }
        #expect(stub.submitted.count == 2)
        #expect(fallback.counts.responses == 4)
        await client.shutdown()
    }

    /// An answer is what the reader of a stream gets, also in place of an error page that is not read to its end.
    @Test func aStreamFallsBack() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.interceptors = [Fallback(.response(body: [7, 8]))] }
        let task = Task { try await client.stream(GetStream()) }
        let id = try await stub.opened()
        stub.sendHead(500, to: id)
        stub.sendChunk([UInt8](repeating: 1, count: 1 << 20), to: id)
        stub.sendChunk([1], to: id)
        let response = try await task.value
        #expect(response.statusCode == 200)
        #expect(try await response.body.collect(upTo: 100) == [7, 8])
        await client.shutdown(.cancel)
    }
}

/// The stored response, and what a fallback leaves in the cache.
@Suite(.timeLimit(.minutes(20))) struct StaleFallbackTests {
    /// The same request, whether the command can use the response or not.
    private struct GetPicky: Command {
        var path: String { "x" }
        var isPicky: Bool
        var cache: CachePolicy?
        typealias Response = String

        func decode(_ response: Errand.Response) throws -> String {
            if isPicky { throw ErrandError.responseDecodingFailed }
            return try response.text()
        }
    }

    private static let minute = CachePolicy.timed(.seconds(60))
    private static let policies = [CachePolicy.timed(.seconds(60)), .http]

    private static let answer: CachingBench.Answer = { _, count in
        count == 1
            ? .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "old")
            : .response(status: 503, body: "failing")
    }

    @Test(arguments: policies) func anExpiredResponseIsTaken(_ policy: CachePolicy) async throws {
        let fallback = Fallback(.stale(atMost: .seconds(100)))
        let recorder = EventRecorder()
        try await CachingBench(
            answer: Self.answer,
            change: {
                $0.interceptors = [fallback]
                $0.accessories = [recorder]
            }
        ).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "old")
            bench.clock.advance(120)
            let request = try await bench.client.request(GetCached(cache: policy)).finished()
            #expect(request.value == "old")
            #expect(request.isFromCache)
            #expect(request.attempts.map { $0.response?.statusCode } == [503, 200])
            #expect(fallback.counts.stale == 1)
            #expect(recorder.names.contains("fellBack stale"))
            #expect(recorder.names.contains("cacheHit"))
            // A lookup sends nothing again.
            #expect(request.resends.isEmpty)
            #expect(!recorder.names.contains("replaying 503"))
            // Too old.
            bench.clock.advance(60)
            guard case .failure(.statusNotAccepted) = await bench.client.result(of: GetCached(cache: policy)) else {
                Issue.record("an entry of that age was used")
                return
            }
            #expect(bench.sent == 3)
        }
    }

    /// RFC 9111 4.2.4, however long a user would take it.
    @Test(arguments: ["must-revalidate", "no-cache"])
    func whatMustBeRevalidatedIsNotTaken(directive: String) async throws {
        try await CachingBench(
            answer: { _, count in
                count == 1
                    ? .response(status: 200, headers: ["Cache-Control": "max-age=60, \(directive)"], body: "old")
                    : .failure(.connectFailed)
            }, change: { $0.interceptors = [Fallback(.stale())] }
        ).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: .http)) == "old")
            bench.clock.advance(120)
            await #expect(throws: ErrandError.connectFailed) { try await bench.client.run(GetCached(cache: .http)) }
        }
    }

    /// A lookup that finds nothing is no attempt, and the server's response no answer of an interceptor.
    @Test(arguments: policies) func aMissLeavesTheFirstResult(_ policy: CachePolicy) async throws {
        let recorder = EventRecorder()
        try await CachingBench(
            answer: { _, _ in .response(status: 503, body: "failing") },
            change: {
                $0.interceptors = [Fallback(.stale())]
                $0.accessories = [recorder]
            }
        ).run { bench async throws in
            let request = try await bench.client.request(GetCached(cache: policy)).finished()
            #expect(request.error == .statusNotAccepted)
            #expect(request.attempts.map { $0.response?.statusCode } == [503])
            #expect(request.resends.isEmpty)
            #expect(!recorder.names.contains("answered 503"))
            #expect(!recorder.names.contains("replaying 503"))
        }
    }

    /// Below a second too: up to the next whole second.
    @Test(arguments: policies) func theTimeIsRoundedUp(_ policy: CachePolicy) async throws {
        try await CachingBench(
            answer: Self.answer, change: { $0.interceptors = [Fallback(.stale(atMost: .milliseconds(500)))] }
        ).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "old")
            bench.clock.advance(60.4)
            #expect(try await bench.client.run(GetCached(cache: policy)) == "old")
            bench.clock.advance(1)
            await #expect(throws: ErrandError.statusNotAccepted) {
                try await bench.client.run(GetCached(cache: policy))
            }
        }
    }

    /// The lookup does not need one of the transfers that a run may have.
    @Test func itIsReadAfterTheLastTransfer() async throws {
        let stubborn = Around { request, _, next in
            var response = try await next(request)
            for _ in 0..<InterceptionContext.replayLimit where response.statusCode == 503 {
                response = try await next(request)
            }
            return response
        }
        try await CachingBench(answer: Self.answer).run { bench async throws in
            let command = GetAround(interceptors: [Fallback(.stale()), stubborn], cache: Self.minute)
            #expect(try await bench.client.run(command) == "old")
            bench.clock.advance(61)
            #expect(try await bench.client.run(command) == "old")
            #expect(bench.sent == 2 + InterceptionContext.replayLimit)
        }
    }

    /// Lookups are bounded as transfers are.
    @Test func lookupsAreBounded() async throws {
        let stubborn = Around { request, _, next in
            for _ in 0...InterceptionContext.replayLimit { _ = await next.result(of: request) }
            return try await next(request)
        }
        try await CachingBench().run { bench async throws in
            let command = GetAround(interceptors: [stubborn], cache: Self.minute.with(reading: .cacheOnly))
            guard case .failure(let error) = await bench.client.result(of: command) else {
                Issue.record("it succeeded")
                return
            }
            #expect(error == .interceptionFailed)
            #expect(error.underlyingError as? InterceptionMisuse == .tooManyTransfers)
            #expect(bench.sent == 0)
        }
    }

    /// After the stored value was delivered, the cache is read once more, and nothing is sent for it.
    @Test(arguments: policies) func itIsReadAfterTheStoredValue(_ policy: CachePolicy) async throws {
        try await CachingBench(
            answer: { description, count in
                count == 1 ? Self.answer(description, 1) : .failure(.connectFailed)
            }, change: { $0.interceptors = [Fallback(.stale())] }
        ).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: policy)) == "old")
            var values: [String] = []
            for try await value in bench.client.values(of: GetCached(cache: policy)) { values.append(value) }
            #expect(values == ["old", "old"])
            #expect(bench.sent == 2)
        }
    }

    /// The same where the command could not use the stored response.
    @Test(arguments: policies) func itIsReadAfterAnUnusableValue(_ policy: CachePolicy) async throws {
        try await CachingBench(
            answer: { description, count in
                count == 1 ? Self.answer(description, 1) : .failure(.connectFailed)
            }, change: { $0.interceptors = [Fallback(.stale())] }
        ).run { bench async throws in
            #expect(try await bench.client.run(GetPicky(isPicky: false, cache: policy)) == "old")
            await #expect(throws: ErrandError.self) {
                try await bench.client.run(GetPicky(isPicky: true, cache: policy))
            }
            #expect(bench.sent == 2)
        }
    }

    /// The response that a fallback replaces is not stored: the next run asks the server, which may have recovered.
    @Test func aReplacedResponseIsNotStored() async throws {
        try await CachingBench(
            answer: { _, count in
                count == 1 ? .response(status: 503) : .response(status: 200, body: "\(count)")
            }, change: { $0.interceptors = [Fallback(.response(body: Array("instead".utf8)))] }
        ).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "instead")
            #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "2")
            #expect(try await bench.client.run(GetCached(cache: Self.minute)) == "2")
        }
    }

    /// And the older response stays, for a later fallback.
    @Test func aReplacedResponseRemovesNoRecord() async throws {
        try await CachingBench(answer: Self.answer).run { bench async throws in
            #expect(try await bench.client.run(GetAround(cache: Self.minute)) == "old")
            bench.clock.advance(61)
            let value = Fallback(.response(body: Array("instead".utf8)))
            #expect(try await bench.client.run(GetAround(interceptors: [value], cache: Self.minute)) == "instead")
            let stale = Fallback(.stale())
            #expect(try await bench.client.run(GetAround(interceptors: [stale], cache: Self.minute)) == "old")
            #expect(bench.sent == 3)
        }
    }

    /// The response of another command is stored for that command alone.
    @Test func anotherCommandsResponseIsItsOwn() async throws {
        try await CachingBench(answer: { description, count in
            description.url.hasSuffix("mirror")
                ? .response(status: 200, body: "mirror")
                : .response(status: count == 1 ? 503 : 200, body: "\(count)")
        }).run { bench async throws in
            let fallback = Fallback(.command(GetAround(path: "mirror", cache: Self.minute)))
            let command = GetAround(interceptors: [fallback], cache: Self.minute)
            #expect(try await bench.client.run(command) == "mirror")
            #expect(try await bench.client.run(GetAround(path: "mirror", cache: Self.minute)) == "mirror")
            #expect(bench.sent == 2)
            #expect(try await bench.client.run(command) == "3")
        }
    }

    /// The interceptors inside add to the key and undo what they did to the body; a response after the total time is
    /// in time too.
    @Test func itPassesTheInterceptorsInside() async throws {
        struct Inside: StepwiseInterceptor {
            let user: String
            func prepare(_ request: RequestDescription, in context: InterceptionContext) throws -> RequestDescription {
                var request = request
                try request.headers.set(.authorization, to: user)
                return request
            }
            func replays(after result: TransferResult, in context: InterceptionContext) -> Bool { false }
            func transform(_ response: Response, in context: InterceptionContext) -> Response {
                response.replacing(body: Array("clear ".utf8) + response.body.bytes)
            }
        }
        let clock = ManualClock()
        let policy = Self.minute
        try await CachingBench(
            answer: { _, count in
                if count == 1 { return .response(status: 200, body: "old") }
                clock.advance(by: .seconds(5))
                return .failure(.timeoutTotal)
            },
            change: {
                $0.clock = clock
                $0.interceptors = [Fallback(.stale()), Inside(user: "ada")]
            }
        ).run { bench async throws in
            let command = GetCached(cache: policy, timeouts: Timeouts(total: .seconds(5)))
            #expect(try await bench.client.run(command) == "clear old")
            bench.clock.advance(120)
            #expect(try await bench.client.run(command) == "clear old")
        }
    }

    @Test func withoutAPolicyThereIsNone() async throws {
        let fallback = Fallback(.stale(), .response(body: Array("instead".utf8)))
        let client = Client.stubbed(statuses(503)) { $0.interceptors = [fallback] }
        #expect(try await client.run(GetAround()) == "instead")
        #expect(fallback.counts.stale == 0)
        await client.shutdown()
    }
}
