import Dispatch
import Errand
import HTTPTypes
import Testing

@testable import ErrandEngine
@testable import ErrandModel
@testable import ErrandTesting

private struct Save: Command {
    var method: HTTPRequest.Method { .post }
    var path = "save"
    var body: RequestBody
    typealias Response = String
}

/// Bytes without an end.
private struct Endless: AsyncSequence, AsyncIteratorProtocol {
    var byte: UInt8 = 0x61

    func next() async -> [UInt8]? { [UInt8](repeating: byte, count: 10_000) }
    func makeAsyncIterator() -> Endless { self }
}

/// What is kept of long uploads, of large files and of long recordings.
@Suite(.timeLimit(.minutes(20))) struct CassetteLimitsTests {
    /// `@unchecked Sendable`: what it adds is itself safe to share.
    private final class Receiver: TransferReceiver, @unchecked Sendable {
        let ends = Notes<String>()

        override func receive(_ event: TransferEvent.Kind) {
            guard case .ended(let result) = event else { return }
            if case .failure(let error) = result { ends.add(error.shortDescription) } else { ends.add("response") }
        }
    }

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private var path: String { folder.path + "/c.har" }

    private func entry(_ url: String, body: HAR.Body? = nil, answer: String = "up") -> HAR.Entry {
        HAR.Entry(
            started: .zero, request: HAR.Sent(method: body == nil ? "GET" : "POST", url: url, body: body),
            response: HAR.Received(
                status: 200, headers: [.contentType: "text/plain"], body: HAR.Body(bytes: Array(answer.utf8))))
    }

    /// Runs `body` with a client on a cassette of these entries, over a stub that is never asked.
    @discardableResult
    private func run(
        _ entries: [HAR.Entry], mode: Cassette.Mode = .none, bodyLimit: Int = 16 << 20,
        comparison: Cassette.Comparison? = nil, _ body: (Client) async throws -> Void
    ) async throws -> Cassette {
        try HAR(entries: entries).write(to: path)
        let cassette = try Cassette(path, mode: mode, bodyLimit: bodyLimit, comparison: comparison)
        let base = StubTransport()
        let transport = CassetteTransport(cassette, over: base)
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        try await body(client)
        await client.shutdown()
        await transport.stop()
        #expect(base.submitted.isEmpty)
        return cassette
    }

    // MARK: Uploads

    @Test func aLongUploadIsAnsweredAfterItsBeginning() async throws {
        let beginning = HAR.Body(bytes: [UInt8](repeating: 0x61, count: 1000), size: 300_000, isTruncated: true)
        let cassette = try await run([entry("http://test/save", body: beginning)], bodyLimit: 1000) {
            (client) async throws in
            let other = await client.result(of: Save(body: .stream { Endless(byte: 0x62) }))
            #expect(throws: ErrandError.unexpectedRequest) { try other.get() }
            #expect(try await client.run(Save(body: .stream { Endless() })) == "up")
        }
        #expect(cassette.unused.isEmpty && cassette.mismatches.count == 1)
    }

    @Test func aBodyThatGoesOnIsAnother() async throws {
        let whole = HAR.Body(bytes: [UInt8](repeating: 0x61, count: 1000))
        let cassette = try await run([entry("http://test/save", body: whole)], bodyLimit: 1000) {
            (client) async throws in
            for body in [RequestBody.stream { Endless() }, .bytes([UInt8](repeating: 0x61, count: 1001))] {
                let result = await client.result(of: Save(body: body))
                #expect(throws: ErrandError.unexpectedRequest) { try result.get() }
            }
            #expect(try await client.run(Save(body: .bytes([UInt8](repeating: 0x61, count: 1000)))) == "up")
        }
        let differences = cassette.mismatches.map { $0.nearest?.differences.map(\.description) ?? [] }
        let text = "body at byte 1000: nothing was recorded, 'more than 1000 bytes' was sent"
        #expect(differences == [[text], [text]])
    }

    @Test func aLongUploadIsNotHeldBackToBeSent() async throws {
        try await run([entry("http://test/other")], mode: .new, bodyLimit: 1000) { client in
            let result = await client.result(of: Save(body: .stream { Endless() }))
            let error = #expect(throws: ErrandError.unexpectedRequest) { try result.get() }
            #expect(error?.message.contains("raise bodyLimit") == true)
        }
    }

    @Test func aRouterTakesBodiesUpToItsLimit() async throws {
        let router = StubRouter(bodyLimit: 20_000).on(nil, "/**") { .text("\($0.body.count)") }
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: router)
        let chunks = Array(repeating: [UInt8](repeating: 1, count: 10_000), count: 2)
        #expect(try await client.run(Save(body: .stream { ChunkedBytes(chunks) })) == "20000")
        let result = await client.result(of: Save(body: .stream { Endless() }))
        #expect(throws: ErrandError.unexpectedRequest) { try result.get() }
        #expect(router.history.unexpected.map(\.request.body.count) == [20_000])
        await client.shutdown()
    }

    /// The rule of transports: 262,144 bytes at first, and then as many as were taken.
    @Test func bytesBeyondTheCreditEndATransfer() async throws {
        let router = StubRouter()
        let client = Client(transport: StubTransport())
        var description = try client.describe(RawCommand(url: "http://a/"))
        description.body = .stream(length: nil)
        let receiver = Receiver(callbacks: .inline())
        let id = try router.submit(description, for: receiver)
        [UInt8](repeating: 0, count: 262_145).withUnsafeBytes { router.write($0, to: id) }
        router.finishUpload(id)
        await router.stop()
        #expect(receiver.ends.all == ["uploadOverrun"])
    }

    // MARK: Ends

    /// The receiver has a queue of its own, which is busy.
    @Test func aTransportHasStoppedWhenTheEndIsDelivered() async throws {
        let gate = DispatchSemaphore(value: 0)
        let queue = CallbackQueue.serial()
        queue.async { gate.wait() }
        let router = StubRouter().on(nil, "/**", answering: .status(204))
        let client = Client(transport: StubTransport())
        let receiver = Receiver(callbacks: queue)
        _ = try router.submit(try client.describe(RawCommand(url: "http://a/")), for: receiver)
        let stopped = Notes<[String]>()
        router.shutdown { stopped.add(receiver.ends.all) }
        await allowTime(for: "a stop before the end")
        #expect(stopped.all.isEmpty)
        gate.signal()
        try await waitUntil("the transport has stopped") { !stopped.all.isEmpty }
        #expect(stopped.all.map(\.count) == [1])
    }

    // MARK: Files

    @Test func aLargeFileIsNotRead() throws {
        try HAR(entries: [entry("http://test/a")]).write(to: path)
        let error = #expect(throws: ErrandError.self) { try Cassette(path, mode: .none, fileLimit: 100) }
        #expect(error == .fileUnreadable && error?.message.contains("larger than 100 bytes") == true)
    }

    @Test func aLongRecordingIsNotWritten() throws {
        // The second exchange is too much; of the first one the text is.
        for (limit, count) in [(600, 2), (600, 1)] {
            let cassette = try Cassette(path, mode: .all, fileLimit: limit)
            for number in 0..<count {
                cassette.record(
                    HAR.Entry(started: .zero, request: HAR.Sent(method: "GET", url: "http://test/\(number)")))
            }
            let error = #expect(throws: ErrandError.self) { try cassette.save() }
            #expect(error?.shortDescription == "fileUnwritable" && error?.message.contains("fileLimit") == true)
        }
        #expect(try folder.names.isEmpty)
    }

    @Test func aRecordingOfNothingReplacesTheFile() throws {
        try Cassette(path, mode: .all).save()
        #expect(try folder.names.isEmpty)
        try HAR(entries: [entry("http://test/a")]).write(to: path)
        try Cassette(path, mode: .new).save()
        #expect(try HAR(contentsOf: path).entries.count == 1)
        try Cassette(path, mode: .all).save()
        #expect(try HAR(contentsOf: path).entries.isEmpty)
    }

    // MARK: Matching

    /// A request meets those recorded requests alone that have its head and its body.
    @Test func aLongCassetteIsNotSearched() async throws {
        let asked = Notes<String>()
        let count = 300
        let entries = (0..<count).map { entry("http://test/\($0)", answer: "\($0)") }
        let cassette = try await run(
            entries,
            comparison: { recorded, _ in
                asked.add(recorded.url)
                return []
            }
        ) { (client) async throws in
            for number in (0..<count).reversed() {
                #expect(try await client.run(GetText(path: "\(number)")) == "\(number)")
            }
        }
        #expect(asked.all.count == count && cassette.unused.isEmpty)
    }

    @Test func equalRequestsAreAnsweredInOrder() async throws {
        let bodies = (0..<100).map { "{\"number\": \($0 % 10)}" }
        let entries = bodies.enumerated().map { index, body in
            entry(
                "http://test/save", body: HAR.Body(bytes: Array(body.utf8), mimeType: "application/json"),
                answer: "\(index)")
        }
        let cassette = try await run(entries) { (client) async throws in
            for index in 0..<100 {
                let answer = try await client.run(Save(body: .json(["number": index / 10])))
                #expect(answer == "\(index % 10 * 10 + index / 10)")
            }
        }
        #expect(cassette.unused.isEmpty)
    }

    @Test func aComparisonOfTheProgramDecides() async throws {
        func body(_ text: String) -> HAR.Body { HAR.Body(bytes: Array(text.utf8), mimeType: "text/plain") }
        try HAR(entries: [entry("http://test/save", body: body("id=1 name=ada"))]).write(to: path)
        let matching = RequestMatching(body: .ignored)
        let comparison: Cassette.Comparison = { recorded, sent in
            func name(_ sent: HAR.Sent) -> String {
                let text = String(decoding: sent.body?.bytes ?? [], as: UTF8.self)
                return text.split(separator: " ").first { $0.hasPrefix("name=") }.map(String.init) ?? ""
            }
            guard name(recorded) != name(sent) else { return [] }
            return [RequestDifference(.other("name"), recorded: name(recorded), sent: name(sent))]
        }
        let configuration = Client.Configuration(baseURL: "http://test/")
        func send(_ text: String) async throws -> String {
            try await Cassette.use(
                path, mode: .none, matching: matching, comparison: comparison, configuration: configuration
            ) { client in
                try await client.run(Save(body: .bytes(Array(text.utf8), contentType: "text/plain")))
            }
        }
        #expect(try await send("id=2 name=ada") == "up")
        let error = await #expect(throws: ErrandError.self) { try await send("id=1 name=bob") }
        #expect(error == .unexpectedRequest)
        #expect(error?.message.contains("\n  name: 'name=ada' was recorded, 'name=bob' was sent") == true)
    }
}
