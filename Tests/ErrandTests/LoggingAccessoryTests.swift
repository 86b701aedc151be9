import Errand
import ErrandTesting
import HTTPTypes
import Logging
import Testing

@testable import ErrandClient
@testable import ErrandLogging
@testable import ErrandModel

/// Keeps lines; counts how often it was asked for its level alone.
private struct KeepingHandler: LogHandler {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata

        subscript(key: String) -> String? { metadata[key].map { "\($0)" } }
    }

    let lines: Notes<Line>
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.add(Line(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
    }
}

private struct Post: Command {
    var method: HTTPRequest.Method { .post }
    var path = "p?token=s3cret&a=1"
    var headers: HTTPFields { [.authorization: "s3cret", .accept: "a/b"] }
    var body: RequestBody { .json(["password": "s3cret", "name": "ada"]) }
    typealias Response = Errand.Response
}

@Suite struct LoggingAccessoryTests {
    private let lines = Notes<KeepingHandler.Line>()

    private func logger(_ level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in KeepingHandler(lines: lines, logLevel: level) }
    }

    /// Runs one command to its end with an accessory.
    private func run(
        _ answer: StubTransport.Answer, _ accessory: some Accessory, stop: Bool = false
    ) async -> Request<Post> {
        let client = Client.stubbed(StubTransport { _ in answer }) { $0.accessories = [accessory] }
        let request = client.request(Post())
        request.start()
        if stop { request.stop() }
        await client.shutdown()
        return request
    }

    @Test func aLineAtTheStartAndOneAtTheEnd() async throws {
        let request = await run(.response(status: 200, body: "12345"), LoggingAccessory(logger(.debug)))
        try #require(lines.all.count == 2)
        let (start, end) = (lines.all[0], lines.all[1])
        #expect(start.level == .debug && start.message == "request starts")
        #expect(start["id"] == "\(request.id)" && start["command"] == "Post")
        #expect(end.level == .info && end.message == "request succeeded")
        #expect(end["id"] == "\(request.id)" && end["method"] == "POST" && end["status"] == "200")
        #expect(end["url"] == "http://test/p?token=REDACTED&a=1" && end["attempts"] == "1")
        #expect(end["milliseconds"].flatMap(Double.init) ?? -1 >= 0)
        #expect(end["error"] == nil && end["request-headers"] == nil && end["response-body"] == nil)
    }

    @Test func failuresAreWarningsWithTheKindOfTheError() async throws {
        _ = await run(.response(status: 500), LoggingAccessory(logger(.info)))
        _ = await run(.failure(.timeoutIdle), LoggingAccessory(logger(.info)))
        _ = await run(.refuse(.queueFull), LoggingAccessory(logger(.info)))
        #expect(lines.all.map(\.level) == [.warning, .warning, .warning])
        #expect(lines.all.map { $0["error"] } == ["statusNotAccepted", "timeoutIdle", "queueFull"])
        #expect(lines.all.map { $0["status"] } == ["500", nil, nil])
    }

    @Test func aStopIsNoFailure() async throws {
        _ = await run(.hold, LoggingAccessory(logger(.trace)), stop: true)
        #expect(lines.all.map(\.message) == ["request starts", "request stopped"])
        #expect(lines.all.map(\.level) == [.debug, .info])
    }

    @Test func levelsAreConfigurable() async throws {
        let levels = LoggingAccessory.Levels(
            start: nil, success: .notice, failure: .critical, stop: nil, attempt: nil)
        _ = await run(.response(status: 200), LoggingAccessory(logger(.trace), levels: levels))
        _ = await run(.response(status: 404), LoggingAccessory(logger(.trace), levels: levels))
        _ = await run(.hold, LoggingAccessory(logger(.trace), levels: levels), stop: true)
        #expect(lines.all.map(\.level) == [.notice, .critical])
        // Above the level nothing is written.
        _ = await run(.response(status: 200), LoggingAccessory(logger(.error), levels: levels))
        #expect(lines.all.count == 2)
    }

    /// Ends the open transfers one after the other, with the events that the engine sends: a redirect, then a success.
    private func redirect(on stub: StubTransport) async throws {
        let location: HTTPFields = [.location: "/next?token=s3cret"]
        for response in [Response(statusCode: 302, headers: location), Response(statusCode: 200)] {
            try await waitUntil("a transfer is open") { stub.open.count == 1 }
            let id = try #require(stub.open.first)
            for event in [TransferEvent.Kind.started, .sent, .head(response)] { stub.send(event, to: id) }
            stub.complete(id, with: .response(response))
        }
    }

    /// The levels are those of the documented table: `LogTableTests`.
    @Test func stepsHaveTheNumberOfTheirAttempt() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.accessories = [LoggingAccessory(logger(.trace))] }
        let request = client.start(RawCommand(url: "first"))
        try await redirect(on: stub)
        try await waitUntil("the request has ended") { request.state == .succeeded }
        await client.shutdown()
        let lines = lines.all
        try #require(lines.count == 7)
        #expect(
            lines.map(\.message) == [
                "request starts", "attempt sent", "response begins", "redirect followed", "attempt sent",
                "response begins", "request succeeded",
            ])
        #expect(lines.map(\.level) == [.debug, .trace, .trace, .debug, .trace, .trace, .info])
        #expect(lines.map { $0["attempt"] } == [nil, "1", "1", "1", "2", "2", nil])
        #expect(Set(lines.map { $0["id"] }).count == 1 && lines.allSatisfy { $0["command"] == "RawCommand" })
        #expect(lines.compactMap { $0["status"] } == ["302", "302", "200", "200"])
        #expect(lines[3]["to"] == "http://test/next?token=REDACTED" && lines[6]["resends"] == "redirect")
        #expect(!lines.map { "\($0.metadata)" }.joined().contains("s3cret"))
    }

    @Test func eventsAreCountedByAttempts() throws {
        let retry = TransferRetry(attempt: 1, reason: "status503", wait: .zero)
        let hop = Attempt(number: 1, url: "http://a/", response: nil, error: nil)
        let description = try RequestBuilder(Client.Settings(), engine: ConnectionOptions())
            .description(of: RawCommand(url: "http://a/"))
        let steps: [(RequestEvent, Int)] = [
            (.queued(description), 1), (.started, 1), (.retrying(retry), 1), (.sent(description), 2),
            (.redirected(hop, to: ""), 2), (.queued(description), 3), (.sent(description), 3), (.replaying(hop), 3),
            (.queued(description), 4),
            // The engine needs the body once more.
            (.queued(description), 5), (.sent(description), 5),
        ]
        var count = AttemptCount()
        for (index, (event, number)) in steps.enumerated() {
            let taken = count.take(event)
            #expect(taken == number, "step \(index)")
        }
    }

    @Test func levelsThatAreNotWrittenCostNoEvents() async throws {
        for (level, reports) in [(Logger.Level.info, false), (.debug, true)] {
            let stub = StubTransport { _ in .response(status: 200) }
            let client = Client.stubbed(stub) { $0.accessories = [LoggingAccessory(logger(level))] }
            client.request(Post()).start()
            let own = client.request(Post())
            own.addAccessory(LoggingAccessory(logger(level)))
            own.start()
            await client.shutdown()
            #expect(stub.submitted.count == 2)
            #expect(stub.submitted.allSatisfy { $0.reports.contains(.events) == reports }, "\(level)")
        }
    }

    @Test func observersOfAttemptsAddToTheLines() async throws {
        let stub = StubTransport()
        let client = Client.observed(stub, by: NotingObserver()) {
            $0.accessories = [LoggingAccessory(logger(.trace))]
        }
        let request = client.request(RawCommand(url: "first"))
        NotingObserver.named("ada") { _ = request.start() }
        try await redirect(on: stub)
        try await waitUntil("the request has ended") { request.state == .succeeded }
        await client.shutdown()
        let lines = lines.all
        // The first line comes before the request is built.
        let expected: [String?] = [nil] + Array(repeating: "of ada", count: 6)
        #expect(lines.map { $0["trace_id"] } == expected)
    }

    @Test func secretsAndBodiesAreNotWritten() async throws {
        let headers: HTTPFields = [.setCookie: "s3cret", .contentType: "application/json"]
        let answer = StubTransport.Answer.response(status: 200, headers: headers, body: #"{"token":"s3cret","n":1}"#)
        _ = await run(answer, LoggingAccessory(logger(.debug)))
        _ = await run(answer, LoggingAccessory(logger(.debug), details: [.headers, .bodies]))
        let written = lines.all.map { "\($0.message) \($0.metadata)" }.joined()
        #expect(!written.contains("s3cret"))
        let end = try #require(lines.all.last)
        #expect(end["request-body"]?.contains(#""name":"ada""#) == true)
        #expect(end["response-body"] == #"{"token":"REDACTED","n":1}"#)
        guard case .dictionary(let sent)? = end.metadata["request-headers"] else {
            Issue.record("no header fields")
            return
        }
        #expect(sent["accept"] == "a/b" && sent["authorization"] == "REDACTED")
    }

    @Test func bodiesAreCutAndCleaned() async throws {
        let table: [(body: String, limit: Int, shown: String)] = [
            ("0123456789", 4, "0123 ... 10 bytes"), ("0123", 4, "0123"), ("aé", 2, "a ... 3 bytes"),
            ("a\u{1B}[31m\n\r\t\u{85}", 99, #"a\u{1B}[31m\n\r\t\u{0085}"#), ("x", 0, "1 bytes"),
        ]
        for (body, limit, shown) in table {
            let accessory = LoggingAccessory(logger(.info), details: .bodies, bodyLimit: limit)
            _ = await run(.response(status: 200, body: body), accessory)
            #expect(lines.all.last?["response-body"] == shown)
        }
        let binary = Response(statusCode: 200, body: [0xFF, 0xFE, 0x00])
        _ = await run(.response(binary), LoggingAccessory(logger(.info), details: .bodies))
        #expect(lines.all.last?["response-body"] == "3 bytes")
    }

    @Test func theCurlAccessoryWritesWhatIsQueued() async throws {
        let request = await run(.response(status: 200), LoggingAccessory(logger(.critical)))
        let accessory = CurlAccessory(logger(.debug))
        accessory.request(request, did: .started)
        let description = try #require(request.transferDescription)
        accessory.request(request, did: .queued(description))
        try #require(lines.all.count == 1)
        #expect(lines.all[0].level == .debug && lines.all[0]["id"] == "\(request.id)")
        #expect(lines.all[0].message.hasPrefix("curl -q "))
        #expect(lines.all[0].message.hasSuffix("'http://test/p?token=REDACTED&a=1'"))
        #expect(!lines.all[0].message.contains("s3cret"))
        CurlAccessory(logger(.info)).request(request, did: .queued(description))
        #expect(lines.all.count == 1)
    }
}
