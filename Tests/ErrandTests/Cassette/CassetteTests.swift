import Errand
import HTTPTypes
import Testing

@testable import ErrandModel
@testable import ErrandTesting

private struct Save: Command {
    var method: HTTPRequest.Method { .post }
    var path = "save"
    var body: RequestBody
    typealias Response = String
}

/// Recording and replaying, over a stub in place of the engine.
@Suite(.timeLimit(.minutes(20))) struct CassetteTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private var path: String { folder.path + "/c.har" }

    /// Answers each request with its number.
    private func counting() -> StubTransport {
        let count = Notes<Int>()
        return StubTransport { _ in
            count.add(1)
            return .response(status: 200, headers: [.contentType: "text/plain"], body: "\(count.all.count)")
        }
    }

    /// Runs `body` on a cassette over `base`, and saves it.
    @discardableResult
    private func run(
        _ mode: Cassette.Mode, over base: StubTransport, matching: RequestMatching = RequestMatching(),
        allowsRepeats: Bool = false, _ body: (Client) async throws -> Void
    ) async throws -> Cassette {
        let cassette = try Cassette(path, mode: mode, matching: matching, allowsRepeats: allowsRepeats)
        let transport = CassetteTransport(cassette, over: base, clock: ManualClock())
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        try await body(client)
        await client.shutdown()
        await transport.stop()
        try cassette.save()
        return cassette
    }

    @Test func aRunIsRecordedAndReplayed() async throws {
        let first = counting()
        try await run(.once, over: first) { (client) async throws in
            #expect(try await client.run(GetText()) == "1")
            #expect(try await client.run(GetText()) == "2")
        }
        #expect(first.submitted.count == 2)
        let second = counting()
        let cassette = try await run(.once, over: second) { (client) async throws in
            // In order, each once.
            #expect(try await client.run(GetText()) == "1")
            #expect(try await client.run(GetText()) == "2")
            let result = await client.result(of: GetText())
            #expect(throws: ErrandError.unexpectedRequest) { try result.get() }
        }
        #expect(second.submitted.isEmpty && cassette.unused.isEmpty)
    }

    @Test func whatIsUnusedIsTold() async throws {
        try await run(.once, over: counting()) { client in
            _ = try await client.run(GetText(path: "a"))
            _ = try await client.run(GetText(path: "b"))
        }
        let cassette = try await run(.none, over: counting()) { (client) async throws in
            #expect(try await client.run(GetText(path: "b")) == "2")
        }
        #expect(cassette.unused.map(\.request.url) == ["http://test/a"])
    }

    @Test func modes() async throws {
        // Nothing is recorded in this mode, and no file is written.
        try await run(.none, over: counting()) { client in
            let result = await client.result(of: GetText())
            #expect(throws: ErrandError.unexpectedRequest) { try result.get() }
        }
        #expect(try folder.names.isEmpty)
        try await run(.new, over: counting()) { (client) async throws in
            #expect(try await client.run(GetText(path: "a")) == "1")
        }
        try await run(.new, over: counting()) { (client) async throws in
            #expect(try await client.run(GetText(path: "a")) == "1")
            #expect(try await client.run(GetText(path: "b")) == "1")
        }
        #expect(try HAR(contentsOf: path).entries.map(\.request.url) == ["http://test/a", "http://test/b"])
        try await run(.all, over: counting()) { (client) async throws in
            #expect(try await client.run(GetText(path: "b")) == "1")
        }
        #expect(try HAR(contentsOf: path).entries.map(\.request.url) == ["http://test/b"])
    }

    @Test func theLastAnswerRepeatsByChoice() async throws {
        try await run(.once, over: counting()) { client in
            for _ in 0..<2 { _ = try await client.run(GetText()) }
        }
        try await run(.once, over: counting(), allowsRepeats: true) { client in
            var answers: [String] = []
            for _ in 0..<4 { answers.append(try await client.run(GetText())) }
            #expect(answers == ["1", "2", "2", "2"])
        }
    }

    @Test func theModeOfTheEnvironmentFailsClosed() {
        func mode(_ variables: [String: String]) -> Cassette.Mode { .mode { variables[$0] } }
        #expect(mode([:]) == .once)
        #expect(mode(["CI": "true"]) == Cassette.Mode.none && mode(["CI": "1"]) == Cassette.Mode.none)
        #expect(mode(["CI": ""]) == .once && mode(["CI": "false"]) == .once)
        #expect(mode(["CI": "true", "ERRAND_CASSETTE": "all"]) == .all)
        #expect(mode(["ERRAND_CASSETTE": "recrod"]) == Cassette.Mode.none)
        #expect(mode(["ERRAND_CASSETTE": ""]) == .once)
        for name in ["TF_BUILD", "CODEBUILD_BUILD_ID", "TEAMCITY_VERSION", "JENKINS_URL", "GITHUB_ACTIONS"] {
            #expect(mode([name: "1"]) == Cassette.Mode.none && mode([name: ""]) == .once)
        }
        func capped(_ mode: Cassette.Mode, _ variables: [String: String]) -> Cassette.Mode {
            mode.capped { variables[$0] }
        }
        for mode in Cassette.Mode.allCases {
            #expect(capped(mode, [:]) == mode && capped(mode, ["CI": "1"]) == Cassette.Mode.none)
            #expect(capped(mode, ["CI": "1", "ERRAND_CASSETTE": "once"]) == mode)
            #expect(capped(mode, ["ERRAND_CASSETTE": ""]) == mode)
            for value in ["none", "recrod", "ALL"] {
                #expect(capped(mode, ["CI": "1", "ERRAND_CASSETTE": value]) == Cassette.Mode.none, "\(value)")
                #expect(capped(mode, ["ERRAND_CASSETTE": value]) == Cassette.Mode.none, "\(value)")
            }
        }
    }

    @Test func theHintIsTrue() {
        func hint(_ mode: Cassette.Mode, _ variables: [String: String]) -> String {
            CassetteMismatch.hint(mode) { variables[$0] }
        }
        #expect(hint(.once, [:]).contains("ERRAND_CASSETTE=new"))
        #expect(hint(.none, ["CI": "1"]).contains("ERRAND_CASSETTE=new"))
        #expect(hint(.none, [:]).contains("The code gives the mode"))
        #expect(hint(.none, ["ERRAND_CASSETTE": "recrod"]).contains("'recrod', which is no mode"))
    }

    @Test func aMismatchSaysWhatDiffers() async throws {
        try await run(.once, over: counting()) { client in
            _ = try await client.run(Save(body: .json(["name": "ada", "password": "secret"])))
            _ = try await client.run(GetText(path: "other"))
        }
        try await run(.none, over: counting()) { client in
            let result = await client.result(of: Save(body: .json(["name": "bob", "password": "secret"])))
            let error = #expect(throws: ErrandError.self) { try result.get() }
            #expect(error == .unexpectedRequest && error?.isRefusal == true)
            let mismatch = try #require(error?.underlyingError as? CassetteMismatch)
            #expect(mismatch.nearest?.number == 1)
            let differences = try #require(mismatch.nearest?.differences)
            #expect(
                differences.map(\.description) == [#"body at name: '"ada"' was recorded, '"bob"' was sent"#])
            let text = error?.message ?? ""
            #expect(text.hasPrefix("POST http://test/save is not on the cassette '\(path)' (mode none); nearest is"))
            #expect(text.contains("ERRAND_CASSETTE") && !text.contains("secret"))
        }
    }

    @Test func secretsAreNeitherWrittenNorCompared() async throws {
        try await run(.once, over: counting()) { client in
            _ = try await client.run(Save(path: "save?token=one", body: .json(["password": "first"])))
        }
        let text = try HAR(contentsOf: path).text()
        #expect(!text.contains("one\"") && !text.contains("first"))
        try await run(.none, over: counting()) { (client) async throws in
            #expect(try await client.run(Save(path: "save?token=two", body: .json(["password": "2nd"]))) == "1")
        }
    }

    /// The file of another program has secrets, and a redaction may get further names.
    @Test func secretsOfTheFileAreHidden() async throws {
        let sent = HAR.Sent(
            method: "POST", url: "http://test/save?token=s3cret&invite=s3cret",
            body: HAR.Body(bytes: Array(#"{"password": "s3cret"}"#.utf8), mimeType: "application/json"))
        let answer = HAR.Received(
            status: 200, headers: [.contentType: "text/plain"], body: HAR.Body(bytes: Array("1".utf8)))
        try HAR(entries: [HAR.Entry(started: .zero, request: sent, response: answer)]).write(to: path)
        var redaction = Redaction.standard
        redaction.parameters.insert("invite")
        let cassette = try Cassette(path, mode: .none, redaction: redaction)
        let transport = CassetteTransport(cassette, over: StubTransport())
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        let other = await client.result(
            of: Save(path: "save?token=a&invite=b", body: .json(["password": "c", "d": "e"])))
        let error = #expect(throws: ErrandError.unexpectedRequest) { try other.get() }
        #expect(error?.message.contains("s3cret") == false, "\(error?.message ?? "")")
        #expect(try await client.run(Save(path: "save?token=a&invite=b", body: .json(["password": "c"]))) == "1")
        #expect(cassette.unused.isEmpty)
        await client.shutdown()
        await transport.stop()
    }

    @Test func compressedBodiesAreComparedPlain() async throws {
        func save(_ name: String, _ password: String) -> Save {
            Save(body: .json(["name": name, "password": password]).gzipped())
        }
        try await run(.once, over: counting()) { client in
            _ = try await client.run(save("ada", "first"))
        }
        try await run(.none, over: counting()) { (client) async throws in
            let other = await client.result(of: save("bob", "first"))
            #expect(throws: ErrandError.unexpectedRequest) { try other.get() }
            #expect(try await client.run(save("ada", "2nd")) == "1")
        }
    }

    @Test func failuresAreRecorded() async throws {
        try await run(.once, over: StubTransport { _ in .failure(.timeoutIdle.with(message: "nothing came")) }) {
            _ = await $0.result(of: GetText())
        }
        try await run(.none, over: counting()) { client in
            let result = await client.result(of: GetText())
            let error = #expect(throws: ErrandError.self) { try result.get() }
            #expect(error == .timeoutIdle && error?.message == "nothing came" && error?.isTimeout == true)
        }
    }

    @Test func aResponseIsAsItWas() async throws {
        let body = [UInt8]([0xFF, 0, 0x80])
        let recorded = Response(
            statusCode: 207, headers: [.contentType: "image/png", .contentLength: "3", .eTag: "x"], body: body)
        try await run(.once, over: StubTransport { _ in .response(recorded) }) { _ = try await $0.run(GetRaw()) }
        try await run(.none, over: counting()) { client in
            let response = try await client.run(GetRaw())
            #expect(response.statusCode == 207 && response.headers == recorded.headers)
            #expect(response.body.bytes == body)
        }
    }

    /// A response that was fresh is fresh in a later run.
    @Test func datesMoveWithTheTime() async throws {
        let started = Duration.seconds(784_111_777)
        let headers: HTTPFields = [
            .date: "Sun, 06 Nov 1994 08:49:37 GMT", .expires: "Sun, 06 Nov 1994 09:49:37 GMT", .retryAfter: "120",
            .lastModified: "never",
        ]
        let entry = HAR.Entry(
            started: started, request: HAR.Sent(method: "GET", url: "http://test/raw"),
            response: HAR.Received(status: 200, headers: headers))
        try HAR(entries: [entry]).write(to: path)
        for shifts in [true, false] {
            let transport = CassetteTransport(
                try Cassette(path, mode: .none), over: StubTransport(), shiftsDates: shifts)
            let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
            let response = try await client.run(GetRaw())
            let times = try [HTTPField.Name.date, .expires].map { name in
                try #require(response.header(name).flatMap { HTTPDate.fixed($0) }).milliseconds
            }
            #expect(times[1] - times[0] == 3_600_000 && (times[0] > 1_700_000_000_000) == shifts)
            #expect(response.header(.retryAfter) == "120" && response.header(.lastModified) == "never")
            await client.shutdown()
            await transport.stop()
        }
    }

    @Test func uploadsAreRecordedAndCompared() async throws {
        let base = StubTransport()
        let bytes = [UInt8](repeating: 0x61, count: 600_000)
        let chunks = Array(repeating: [UInt8](repeating: 0x61, count: 50_000), count: 12)
        func upload(_ chunks: [[UInt8]]) -> Save { Save(body: .stream { ChunkedBytes(chunks) }) }
        try await run(.once, over: base) { client in
            let request = client.start(upload(chunks))
            let id = try await base.opened()
            for _ in 0..<4 { base.send(.uploadCredit(200_000), to: id) }
            try await waitUntil("the upload is finished") { base.upload(of: id).ending == .finished }
            base.complete(id, with: .response(Response(statusCode: 200, body: Array("up".utf8))))
            #expect(try await request.finalValue() == "up")
        }
        #expect(try HAR(contentsOf: path).entries.first?.request.body?.bytes == bytes)
        try await run(.none, over: counting()) { (client) async throws in
            #expect(try await client.run(upload(chunks)) == "up")
            let other = await client.result(of: upload([Array("b".utf8)] + chunks.dropFirst()))
            #expect(throws: ErrandError.unexpectedRequest) { try other.get() }
        }
        // What was written to be compared is sent as a whole.
        let sending = counting()
        try await run(.new, over: sending) { (client) async throws in
            #expect(try await client.run(upload([Array("new".utf8)])) == "1")
        }
        #expect(sending.submitted.map(\.bodyBytes) == [Array("new".utf8)])
    }

    /// The server has answered before it had the whole body.
    @Test func anUploadThatWasAnsweredEarly() async throws {
        let base = StubTransport()
        let chunks = Array(repeating: [UInt8](repeating: 0x61, count: 100_000), count: 6)
        let upload = Save(body: .stream { ChunkedBytes(chunks) })
        try await run(.once, over: base) { client in
            let request = client.start(upload)
            let id = try await base.opened()
            try await waitUntil("a part is written") { base.upload(of: id).bytes.count >= 100_000 }
            base.complete(id, with: .response(Response(statusCode: 200, body: Array("early".utf8))))
            #expect(try await request.finalValue() == "early")
        }
        let body = try #require(try HAR(contentsOf: path).entries.first?.request.body)
        #expect(body.isTruncated && body.size == nil && body.bytes.count < 600_000)
        try await run(.none, over: counting()) { (client) async throws in
            #expect(try await client.run(upload) == "early")
        }
    }

    @Test func anUploadThatFailedIsUsed() async throws {
        struct Broken: Error {}
        let upload = Save(body: .stream { AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Broken()) } })
        func attempt(_ client: Client) async {
            let result = await client.result(of: upload)
            #expect(throws: ErrandError.uploadFailed) { try result.get() }
        }
        try await run(.once, over: StubTransport()) { await attempt($0) }
        #expect(try HAR(contentsOf: path).entries.map { $0.failure?.kind } == ["uploadFailed"])
        let cassette = try await run(.none, over: counting()) { await attempt($0) }
        #expect(cassette.unused.isEmpty)
    }

    /// In the replay it waits for an answer again, until it is stopped.
    @Test func aRequestThatWasStoppedIsRecorded() async throws {
        let base = StubTransport()
        try await run(.once, over: base) { client in
            let request = client.start(GetText())
            _ = try await base.opened()
            request.stop()
        }
        #expect(try HAR(contentsOf: path).entries.map { $0.failure?.kind } == ["cancelled"])
        let cassette = try await run(.none, over: counting()) { client in
            let request = client.start(GetText())
            await allowTime(for: "an answer that nobody has recorded")
            #expect(request.state != .failed && request.state != .succeeded)
            request.stop()
        }
        #expect(cassette.unused.isEmpty)
    }

    @Test func aScopeRunsAndSaves() async throws {
        let value = try await Cassette.use(path, mode: .none) { _ in 3 }
        #expect(value == 3)
        try await run(.once, over: counting()) { _ = try await $0.run(GetText()) }
        let configuration = Client.Configuration(baseURL: "http://test/")
        let text = try await Cassette.use(path, mode: .none, configuration: configuration) { client in
            try await client.run(GetText())
        }
        #expect(text == "1")
        let repeated = try await Cassette.use(
            path, mode: .none, allowsRepeats: true, bodyLimit: 100, configuration: configuration
        ) { client in
            _ = try await client.run(GetText())
            return try await client.run(GetText())
        }
        #expect(repeated == "1")
        // The program has caught the error.
        let mismatch = await #expect(throws: CassetteMismatch.self) {
            try await Cassette.use(path, mode: .none, configuration: configuration) { client in
                for path in ["lost", "gone"] { _ = try? await client.run(GetText(path: path)) }
            }
        }
        #expect(mismatch?.request == "GET http://test/lost")
        let remains = await #expect(throws: CassetteRemains.self) {
            try await Cassette.use(path, mode: .none, configuration: configuration, requiresAll: true) { _ in }
        }
        #expect(remains?.description.contains("GET http://test/text") == true)
    }

    @Test func theFolderIsMade() async throws {
        let path = folder.path + "/Cassettes/deep/c.har"
        let cassette = try Cassette(path, mode: .once)
        let transport = CassetteTransport(cassette, over: counting())
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        _ = try await client.run(GetText())
        await client.shutdown()
        await transport.stop()
        try cassette.save()
        #expect(try HAR(contentsOf: path).entries.count == 1)
        // Something else has the folder's name.
        let beneath = try Cassette(path + "/c.har", mode: .all)
        beneath.record(HAR.Entry(started: .zero, request: HAR.Sent(method: "GET", url: "http://test/")))
        let error = #expect(throws: ErrandError.self) { try beneath.save() }
        #expect(error?.shortDescription == "directoryMissing")
    }

    /// Of two recordings of one file, one would be lost.
    @Test func aFileIsRecordedOnceAtATime() throws {
        let first = try Cassette(path, mode: .once)
        for mode in [Cassette.Mode.once, .new, .all] {
            let error = #expect(throws: ErrandError.self) { try Cassette(path, mode: mode) }
            #expect(error?.shortDescription == "fileLocked")
        }
        _ = try Cassette(path, mode: .none)
        first.record(HAR.Entry(started: .zero, request: HAR.Sent(method: "GET", url: "http://test/1")))
        try first.save()
        let second = try Cassette(path, mode: .new)
        // Another process adds to the file meanwhile.
        var har = try HAR(contentsOf: path)
        har.entries.append(HAR.Entry(started: .zero, request: HAR.Sent(method: "GET", url: "http://test/2")))
        try har.write(to: path)
        second.record(HAR.Entry(started: .zero, request: HAR.Sent(method: "GET", url: "http://test/3")))
        try second.save()
        #expect(try HAR(contentsOf: path).entries.map { $0.request.url.last } == ["1", "2", "3"])
    }

    @Test func aBadFileIsAnError() throws {
        try HAR().write(to: path)
        #expect(throws: ErrandError.fileUnreadable) { try Cassette(folder.path, mode: .none) }
        let beside = try Cassette("a/b.har", beside: "/x/Tests.swift", mode: .none)
        #expect(beside.path == "/x/a/b.har" && beside.entries.isEmpty)
    }
}
