import Errand
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel
@testable import ErrandTesting

private struct Save: Command {
    var path: String
    var body: RequestBody
    var timeouts: Timeouts?
    var method: HTTPRequest.Method { .post }
    typealias Response = String
}

/// Routes, their answers, and what is said of a request without one.
@Suite(.timeLimit(.minutes(20))) struct StubRouterTests {
    private let clock = ManualClock()
    private let router: StubRouter
    private let client: Client

    init() {
        let router = StubRouter(clock: clock)
        self.router = router
        client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
    }

    @Test func routesHaveParameters() async throws {
        router.on(.get, "/users/{id}/photos/{name}") { request in
            let values = [request.parameters["id"], request.parameters["name"], request.queryValue("q")]
            return .text(values.compactMap(\.self).joined(separator: " "))
        }
        #expect(try await client.run(GetText(path: "users/7/photos/a%2Fb%20c?q=1%202")) == "7 a/b c 1 2")
    }

    @Test func theLastRouteThatMatchesAnswers() async throws {
        router.on(nil, "/**", answering: .text("any"))
            .on(.get, "/a/*", answering: .text("one"))
            .on(.get, "http://other/a/*", answering: .text("other"))
        #expect(try await client.run(GetText(path: "a/b")) == "one")
        #expect(try await client.run(GetText(path: "a/b/c")) == "any")
        #expect(try await client.run(GetText(path: "a")) == "any")
        #expect(try await client.run(GetText(path: "http://OTHER:80/a/b")) == "other")
        router.on(.get, "/a/b", answering: .text("new"))
        #expect(try await client.run(GetText(path: "a/b")) == "new")
        #expect(try await client.run(GetText(path: "a/b", method: .put)) == "any")
    }

    @Test func aRequestWithoutARouteIsAnError() async throws {
        router.on(.get, "/users/{id}", answering: .status(200)).on(.post, "/users", answering: .status(201))
        let result = await client.result(of: GetText(path: "usr/1?token=secret"))
        let error = #expect(throws: ErrandError.self) { try result.get() }
        #expect(error == .unexpectedRequest)
        #expect(
            error?.message == "no route matches GET http://test/usr/1?token=REDACTED; the routes are:\n"
                + "  GET /users/{id}\n  POST /users")
    }

    @Test func handlersSeeTheBody() async throws {
        router.on(.post, "/save") { request in
            let number = try request.json()["a"]?.integer ?? 0
            return .text("\(request.body.count) \(number)")
        }
        #expect(try await client.run(Save(path: "save", body: .json(["a": 5]))) == "7 5")
        let chunks = [Array(#"{"a""#.utf8), Array(": 6}".utf8)]
        #expect(try await client.run(Save(path: "save", body: .stream { ChunkedBytes(chunks) })) == "8 6")
        let file = try TemporaryFile(Array(#"{"a": 7}"#.utf8))
        #expect(try await client.run(Save(path: "save", body: .file(file.path))) == "8 7")
        let large = Array(repeating: [UInt8](repeating: 0x20, count: 100_000), count: 8)
        let padded = large + [Array(#"{"a": 8}"#.utf8)]
        #expect(try await client.run(Save(path: "save", body: .stream { ChunkedBytes(padded) })) == "800008 8")
    }

    @Test func handlersMayFail() async throws {
        router.on(.get, "/a") { _ in throw ErrandError.connectionLost }
            .on(.get, "/b") { _ in throw CancellationError() }
            .on(.get, "/c") { _ in throw CocoaLike() }
            .on(.get, "/d", answering: .failure(.tlsUntrusted))
            .on(.get, "/e", answering: .text("half").broken())
        var errors: [ErrandError] = []
        for path in ["a", "b", "c", "d", "e"] {
            if case .failure(let error) = await client.result(of: GetText(path: path)) { errors.append(error) }
        }
        // Nobody has stopped the second request.
        #expect(errors == [.connectionLost, .shutDown, .unexpectedRequest, .tlsUntrusted, .partialBody])
        #expect(errors[2].underlyingError is CocoaLike && errors[2].message.contains("GET /c"))
        #expect(errors[4].response?.body.bytes == Array("half".utf8))
    }

    /// Tests print what came.
    @Test func theHistoryPrintsNoSecrets() async throws {
        router.on(nil, "/**", answering: .text("any"))
        _ = try await client.run(GetText(path: "a?token=s3cret"))
        try router.history.expect(only: ["GET /a?token=s3cret"])
        let mismatch = #expect(throws: CallMismatch.self) {
            try router.history.expect(only: ["GET /a?token=s3cret&b"])
        }
        let texts = [mismatch?.description, router.history.calls.first?.description].compactMap(\.self)
        #expect(texts.count == 2 && texts.allSatisfy { !$0.contains("s3cret") && $0.contains("REDACTED") })
    }

    @Test func theHistoryLetsOldBodiesGo() async throws {
        let router = StubRouter(historyLimit: 3, historyBodyLimit: 10).on(nil, "/**", answering: .text("any"))
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
        for _ in 0..<4 { _ = try await client.run(Save(path: "a", body: .bytes([UInt8](repeating: 1, count: 6)))) }
        let requests = router.history.calls.map(\.request)
        #expect(requests.map(\.body.count) == [0, 0, 6])
        #expect(requests.map(\.isBodyDropped) == [true, true, false])
        let mismatch = #expect(throws: CallMismatch.self) { try router.history.expect(only: []) }
        #expect(mismatch?.calls.first == "2. POST /a, whose body is not kept any more")
        await client.shutdown()
        await router.stop()
    }

    private struct CocoaLike: Error {}

    @Test func delaysAndStallsAreOnTheClock() async throws {
        router.on(.post, "/slow", answering: .text("late").after(.seconds(2)))
            .on(.post, "/never", answering: .stalled)
        let slow = client.start(Save(path: "slow", body: .empty))
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(1999))
        await allowTime(for: "an answer that is too early")
        #expect(slow.state != .succeeded)
        clock.advance(by: .milliseconds(1))
        #expect(try await slow.finalValue() == "late")
        let timeouts = Timeouts(firstByte: .seconds(3), idle: .seconds(9))
        let never = client.start(Save(path: "never", body: .empty, timeouts: timeouts))
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        await client.shutdown()
        #expect(never.error == .timeoutFirstByte)
    }

    @Test(arguments: [
        (Timeouts(firstByte: .seconds(3)), 3, ErrandError.timeoutFirstByte),
        (Timeouts(idle: .seconds(4)), 4, ErrandError.timeoutIdle),
        (Timeouts(firstByte: .seconds(3), idle: .seconds(4), total: .seconds(2)), 2, ErrandError.timeoutTotal),
    ])
    func lateAnswersEndByTheTimeouts(timeouts: Timeouts, seconds: Int, error: ErrandError) async throws {
        router.on(.post, "/slow", answering: .text("late").after(.seconds(5)))
        let slow = client.start(Save(path: "slow", body: .empty, timeouts: timeouts))
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(seconds * 1000 - 1))
        await allowTime(for: "a timeout that is too early")
        #expect(slow.error == nil)
        clock.advance(by: .milliseconds(1))
        await client.shutdown()
        #expect(slow.error == error)
    }

    @Test func theTotalTimeoutEndsAHandler() async throws {
        let ended = Notes<Bool>()
        router.on(.post, "/hang") { [clock] _ in
            defer { ended.add(Task.isCancelled) }
            try await clock.sleep(for: .seconds(3600))
            return .status(200)
        }
        // The other timeouts do not count while a handler runs.
        let timeouts = Timeouts(firstByte: .seconds(1), idle: .seconds(1), total: .seconds(2))
        let request = client.start(Save(path: "hang", body: .empty, timeouts: timeouts))
        // The handler and the timeout.
        await clock.sleepers(2)
        clock.advance(by: .milliseconds(1999))
        await allowTime(for: "a timeout that is too early")
        #expect(request.error == nil && ended.all.isEmpty)
        clock.advance(by: .milliseconds(1))
        await client.shutdown()
        #expect(request.error == .timeoutTotal)
        try await waitUntil("the handler has ended") { ended.all == [true] }
        await router.stop()
    }

    /// The answer and the timeout come in the same turn of the clock.
    @Test func aHandlerThatIsTooLateIsNotHeard() async throws {
        router.on(.post, "/late") { [clock] _ in
            try await clock.sleep(for: .seconds(10))
            return .status(200)
        }
        let request = client.start(Save(path: "late", body: .empty, timeouts: Timeouts(total: .seconds(2))))
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        await client.shutdown()
        #expect(request.error == .timeoutTotal)
        await router.stop()
    }

    /// The program's source neither ends nor gives bytes.
    @Test(arguments: [
        (Timeouts(idle: .seconds(3)), ErrandError.timeoutIdle),
        (Timeouts(idle: .seconds(9), total: .seconds(3)), ErrandError.timeoutTotal),
    ])
    func aStalledUploadEndsByTheTimeouts(timeouts: Timeouts, error: ErrandError) async throws {
        router.on(.post, "/up", answering: .status(200))
        let (pieces, sink) = AsyncStream<[UInt8]>.makeStream()
        let request = client.start(Save(path: "up", body: .stream { pieces }, timeouts: timeouts))
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(2999))
        await allowTime(for: "a timeout that is too early")
        #expect(request.error == nil)
        clock.advance(by: .milliseconds(1))
        await client.shutdown()
        #expect(request.error == error)
        #expect(router.history.calls.isEmpty)
        sink.finish()
        await router.stop()
    }

    @Test func pausesBetweenPiecesEndByTheTimeouts() throws {
        let pieces = [0, 1, 9].map { TransferScript.Piece(time: .seconds($0), bytes: [1]) }
        let response = Response(statusCode: 200, body: [1, 1, 1])
        let client = Client(transport: StubTransport())
        var description = try client.describe(RawCommand(url: "http://a/"))
        description.delivery = .streamed
        description.reports = []
        let script = TransferScript(response, pieces: pieces, until: .seconds(9), for: description)
        func end(_ timeouts: Timeouts, elapsed: Duration = .zero) -> Duration? {
            script.limited(by: timeouts, elapsed: elapsed).steps.last?.time
        }
        #expect(end(Timeouts(idle: .seconds(8))) == .seconds(9) && end(Timeouts(idle: .seconds(5))) == .seconds(6))
        #expect(end(Timeouts(total: .seconds(7))) == .seconds(7))
        #expect(end(Timeouts(total: .seconds(7)), elapsed: .seconds(3)) == .seconds(4))
        #expect(end(Timeouts(firstByte: .seconds(1))) == .seconds(9))
        #expect(script.limited(by: Timeouts(idle: .seconds(5)), elapsed: .zero).steps.count == 4)
    }

    @Test func streamsComeInPieces() async throws {
        router.on(.get, "/stream", answering: StubResponse().inPieces([[1], [2, 3]], every: .seconds(1)))
        let response = try await client.stream(GetStream())
        var iterator = response.body.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first == [1])
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let second = try await iterator.next()
        #expect(second == [2, 3])
        let end = try await iterator.next()
        #expect(end == nil)
    }

    @Test func aStoppedRequestCancelsItsHandler() async throws {
        let ended = Notes<Bool>()
        router.on(.get, "/text") { [clock] _ in
            defer { ended.add(Task.isCancelled) }
            try await clock.sleep(for: .seconds(1))
            return .status(200)
        }
        let request = client.start(GetText())
        await clock.sleepers(1)
        request.stop()
        try await waitUntil("the handler has ended") { ended.all == [true] }
        await client.shutdown()
        await router.stop()
        #expect(request.state == .cancelled)
    }

    @Test func theHistoryHasExpectations() async throws {
        router.on(nil, "/users/{id}", answering: .text("a"))
        for path in ["users/1", "users/2?x=1", "users/1"] { _ = try await client.run(GetText(path: path)) }
        _ = await client.result(of: GetText(path: "lost"))
        let history = router.history
        #expect(try history.expect(.get, "/users/1", times: 2).map(\.number) == [1, 3])
        try history.expect(nil, "/users/{id}", times: 3)
        try history.expect(.put, "/users/1", times: 0)
        try history.expect(.get, "/users/{id}") { $0.request.queryValue("x") == "1" }
        try history.expect(only: ["GET /users/1", "GET /users/2?x=1", "GET /users/1", "GET /lost"])
        let error = #expect(throws: CallMismatch.self) {
            try history.expect(.get, "/users/1", file: "UserTests.swift", line: 12)
        }
        #expect(
            error?.description == """
                UserTests.swift:12: GET /users/1 was expected once, and came 2 times.
                The calls were:
                  1. GET /users/1
                  2. GET /users/2?x=1
                  3. GET /users/1
                  4. GET /lost, without a route
                """)
        #expect(throws: CallMismatch.self) { try history.expectRoutes() }
        #expect(throws: CallMismatch.self) { try history.expect(only: []) }
        #expect(history.unexpected.map(\.description) == ["GET /lost"])
        history.clear()
        try history.expect(only: [])
        try history.expectRoutes()
    }

    @Test func theHistoryIsBounded() async throws {
        let router = StubRouter(historyLimit: 2).on(nil, "/**", answering: .text(""))
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
        for number in 1...5 { _ = try await client.run(GetText(path: "\(number)")) }
        #expect(router.history.calls.map(\.number) == [4, 5])
    }
}
