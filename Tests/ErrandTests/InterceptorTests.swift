import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// An interceptor made of closures.
private struct Intercept: StepwiseInterceptor {
    var prepare: @Sendable (RequestDescription, InterceptionContext) async throws -> RequestDescription = { given, _ in
        given
    }
    var replays: @Sendable (TransferResult, InterceptionContext) async throws -> Bool = { _, _ in false }
    var transform: @Sendable (Response, InterceptionContext) async throws -> Response = { given, _ in given }

    func prepare(_ request: RequestDescription, in context: InterceptionContext) async throws -> RequestDescription {
        try await prepare(request, context)
    }
    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        try await replays(result, context)
    }
    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        try await transform(response, context)
    }
}

private struct GetIntercepted: Command {
    var path = "x"
    var timeouts: Timeouts?
    var interceptors: [any Interceptor] = []
    typealias Response = String
}

private struct Refused: Error {}

@Suite struct InterceptorTests {
    private func marking(_ name: String) -> Intercept {
        Intercept(
            prepare: { request, _ in
                var request = request
                request.url += name
                return request
            },
            transform: { response, _ in
                Response(statusCode: response.statusCode, body: response.body.bytes + Array(name.utf8))
            })
    }

    /// The client's first on the way out, last on the way back.
    @Test func theyNestAroundTheNetwork() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "-") }
        let client = Client.stubbed(stub) { $0.interceptors = [marking("a"), marking("b")] }
        let value = try await client.run(GetIntercepted(interceptors: [marking("c")]))
        #expect(stub.submitted.map(\.url) == ["http://test/xabc"])
        #expect(value == "-cba")
        await client.shutdown()
    }

    @Test func aRefusalIsTypedAndNothingIsSent() async throws {
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub)
        for (thrown, expected) in [
            (Refused() as any Error, ErrandError.interceptionFailed), (ErrandError.invalidURL, .invalidURL),
        ] {
            let command = GetIntercepted(interceptors: [Intercept(prepare: { _, _ in throw thrown })])
            guard case .failure(let error) = await client.result(of: command) else {
                return #expect(Bool(false), "it succeeded")
            }
            #expect(error == expected)
            #expect(error.isRefusal)
            #expect(expected != .interceptionFailed || error.underlyingError is Refused)
        }
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    @Test func aTransformThatFailsKeepsTheResponse() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "sealed") })
        let command = GetIntercepted(interceptors: [Intercept(transform: { _, _ in throw Refused() })])
        guard case .failure(let error) = await client.result(of: command) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .interceptionFailed)
        #expect(!error.isRefusal)
        #expect(error.response?.body.bytes == Array("sealed".utf8))
        await client.shutdown()
    }

    /// Each replay is prepared anew from what was built, and shows among the attempts.
    @Test func replays() async throws {
        let stub = StubTransport { .response(status: $0.url.hasSuffix("2") ? 200 : 503) }
        let client = Client.stubbed(stub)
        let seen = Notes<Int>()
        let interceptor = Intercept(
            prepare: { request, context in
                var request = request
                request.url += "\(context.replays)"
                return request
            },
            replays: { result, context in
                seen.add(context.replays)
                return result.response?.statusCode == 503
            })
        let request: Request<GetIntercepted> = await withCheckedContinuation { continuation in
            client.start(GetIntercepted(interceptors: [interceptor])) { continuation.resume(returning: $0) }
        }
        #expect(request.state == .succeeded)
        #expect(stub.submitted.map(\.url) == ["http://test/x0", "http://test/x1", "http://test/x2"])
        #expect(request.attempts.map(\.number) == [1, 2, 3])
        #expect(request.attempts.map { $0.response?.statusCode } == [503, 503, 200])
        #expect(seen.all == [0, 1, 2])
        await client.shutdown()
    }

    @Test(.timeLimit(.minutes(20))) func replaysAreBounded() async {
        let stub = StubTransport { _ in .response(status: 503) }
        let client = Client.stubbed(stub)
        let command = GetIntercepted(interceptors: [Intercept(replays: { _, _ in true })])
        guard case .failure(let error) = await client.result(of: command) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .statusNotAccepted)
        #expect(stub.submitted.count == 1 + InterceptionContext.replayLimit)
        await client.shutdown()
    }

    /// The response in the error of a replay that was never sent is another request's: it leads nowhere.
    @Test func aRefusedReplayIsNotFollowed() async throws {
        let stub = StubTransport { .response(status: $0.url.hasSuffix("/x") ? 503 : 200) }
        let client = Client.stubbed(stub)
        let thrown = ErrandError.receiveFailed.with(
            response: Response(statusCode: 302, headers: [.location: "http://test/elsewhere"]))
        let interceptor = Intercept(
            prepare: { request, context in
                if context.replays > 0 { throw thrown }
                return request
            }, replays: { result, _ in result.response?.statusCode == 503 })
        guard case .failure(let error) = await client.result(of: GetIntercepted(interceptors: [interceptor])) else {
            return #expect(Bool(false), "it succeeded")
        }
        #expect(error == .receiveFailed)
        #expect(stub.submitted.map(\.url) == ["http://test/x"])
        await client.shutdown()
    }

    /// A replay counts its redirects afresh, and a redirect is not prepared again.
    @Test func redirectsAndReplays() async throws {
        let answers = Mutex(0)
        let stub = StubTransport { description in
            if description.url.hasSuffix("/x") { return .response(status: 302, headers: [.location: "/y"]) }
            let count = answers.withLock {
                $0 += 1
                return $0
            }
            return .response(status: count < 3 ? 401 : 200, body: "in")
        }
        let client = Client.stubbed(stub) { $0.redirects = .follow(limit: 1) }
        let prepared = Notes<String>()
        let interceptor = Intercept(
            prepare: { request, _ in
                prepared.add(request.url)
                return request
            }, replays: { result, _ in result.response?.statusCode == 401 })
        #expect(try await client.run(GetIntercepted(interceptors: [interceptor])) == "in")
        #expect(prepared.all == ["http://test/x", "http://test/x", "http://test/x"])
        #expect(stub.submitted.count == 6)
        await client.shutdown()
    }

    private static let forever = Intercept(prepare: { request, _ in
        // Bears no cancellation either: nobody may wait for it.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return request
    })

    private static let foreverAfter = Intercept(transform: { response, _ in
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return response
    })

    /// An interceptor that never answers keeps nobody: not the one who stops, not the task, not the shutdown, not the
    /// clock.
    @Test(.timeLimit(.minutes(20)), arguments: [true, false])
    func aHungInterceptorIsAbandoned(before: Bool) async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        let hung = before ? Self.forever : Self.foreverAfter
        let record = RecordingAccessory()
        let request = client.request(GetIntercepted(interceptors: [hung]))
        request.addAccessory(record)
        let told: ErrandError? = await withCheckedContinuation { continuation in
            request.start(notifiesOnStop: true) { continuation.resume(returning: $0.error) }
            request.stop()
        }
        #expect(told == .cancelled)

        let task = Task { try await client.run(GetIntercepted(interceptors: [hung])) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }

        var command = GetIntercepted(interceptors: [hung])
        command.timeouts = Timeouts(total: .milliseconds(50))
        await #expect(throws: ErrandError.timeoutTotal) { try await client.run(command) }

        let left = client.start(GetIntercepted(interceptors: [hung]))
        await client.shutdown(.cancel)
        #expect(left.error == .shutDown)
        #expect(record.isBalanced)
    }

    /// The engine gets what is left of the total time, and no more where an interceptor asked for less.
    @Test func theTimeThatInterceptorsTakeCounts() async throws {
        for shortened in [nil, Duration.seconds(1)] {
            let stub = StubTransport { _ in .response(status: 200) }
            let client = Client.stubbed(stub)
            let slow = Intercept(prepare: { request, _ in
                // Pause: the time that an interceptor takes, which counts.
                try await Task.sleep(for: .milliseconds(50))
                guard let shortened else { return request }
                var request = request
                request.settings = try request.settings.with(total: shortened)
                return request
            })
            var command = GetIntercepted(interceptors: [slow])
            command.timeouts = Timeouts(total: .seconds(3600))
            _ = try await client.run(command)
            let total = try #require(stub.submitted.first?.settings.timeouts.total?.duration)
            if let shortened { #expect(total == shortened) } else { #expect(total <= .milliseconds(3_599_950)) }
            await client.shutdown()
        }
    }

    /// Something was sent, so neither the interceptor's error nor the transport's is a refusal, nor a redirect's.
    @Test func aReplayThatCannotBeSentIsNoRefusal() async throws {
        for isTransport in [true, false] {
            let stub = StubTransport { $0.url.hasSuffix("!") ? .refuse(.queueFull) : .response(status: 503) }
            let client = Client.stubbed(stub)
            let interceptor = Intercept(
                prepare: { request, context in
                    guard context.replays > 0 else { return request }
                    if !isTransport { throw Refused() }
                    var request = request
                    request.url += "!"
                    return request
                }, replays: { result, _ in result.response?.statusCode == 503 })
            let command = GetIntercepted(interceptors: [interceptor])
            guard case .failure(let error) = await client.result(of: command) else {
                return #expect(Bool(false), "it succeeded")
            }
            #expect(error == (isTransport ? .queueFull : .interceptionFailed))
            #expect(!error.isRefusal)
            #expect(stub.submitted.count == 1)
            await client.shutdown()
        }
    }

    @Test func cancelAllStopsWhatRuns() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.reportsStops = true }
        let told = Notes<ErrandError?>()
        for _ in 0..<10 { client.start(GetText(), completion: { told.add($0.error) }) }
        client.start(GetIntercepted(interceptors: [Self.forever]), completion: { told.add($0.error) })
        #expect(client.requests.count == 11)
        client.cancelAll()
        try await waitUntil("11 events were told") { told.all.count >= 11 }
        await client.callbacksDrained()
        #expect(told.all.allSatisfy { $0 == .cancelled })
        #expect(client.requests.isEmpty)
        // It is no shutdown.
        #expect(client.start(GetText()).state == .running)
        await client.shutdown(.cancel)
        #expect(client.requests.isEmpty)
    }

    @Test func aLeaseStopsWithItsOwner() async {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(GetText())
        do { _ = request.lease() }
        await client.callbacksDrained()
        #expect(stub.cancelled.count == 1)
        await client.shutdown()
        #expect(request.state == .cancelled)
    }

    @Test func whatBelongsToTheUserIsKeptOverRuns() async {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        let request = client.request(GetText())
        #expect(request.tag == 0)
        request.tag = 7
        request.userInfo["who"] = "me"
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in request.start(completion: { _ in continuation.resume() }) }
            await client.callbacksDrained()
        }
        #expect(request.tag == 7)
        #expect(request.userInfo["who"] as? String == "me")
        await client.shutdown()
    }
}
