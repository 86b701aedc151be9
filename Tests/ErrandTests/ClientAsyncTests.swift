import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

private struct GetData: Command {
    var path: String { "data" }
    typealias Response = Data
}

private struct GetBytes: Command {
    var path: String { "bytes" }
    typealias Response = [UInt8]
}

private struct Ping: Command {
    var path: String { "ping" }
    typealias Response = NoContent
}

private struct Own: Command {
    struct Refused: Error {}
    var path: String { "own" }
    func decode(_ response: Errand.Response) throws -> Int {
        guard response.statusCode == 200 else { throw Refused() }
        return response.body.count
    }
    var acceptedStatusCodes: StatusCodes { .any }
}

/// Starts each request once more.
private final class RestartingAccessory: Accessory {
    private let isDone = Atomic(false)

    func requestDidStop(_ request: AnyRequest) {
        if !isDone.exchange(true, ordering: .relaxed) { request.start() }
    }

    func requestWillStart(_ request: AnyRequest) {}
    func requestWillStop(_ request: AnyRequest) {}
}

/// A transport that tells each end twice, which ``Transport`` forbids.
private final class TellsTwice: TransportWithoutStreams {
    private let submitted = Mutex<[String]>([])
    private let answer: @Sendable (String) -> Response

    init(_ answer: @escaping @Sendable (String) -> Response) {
        self.answer = answer
    }

    var urls: [String] { submitted.withLock { $0 } }

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        let event = TransferEvent(receiver, .ended(.response(answer(description.url))))
        let count = submitted.withLock { submitted in
            submitted.append(description.url)
            return submitted.count
        }
        TransferReceiver.deliver([event, event])
        return TransferID(rawValue: UInt64(count))
    }
    func cancel(_ id: TransferID) {}
    func pause(_ id: TransferID) {}
    func resume(_ id: TransferID) {}
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { stopped() }
}

@Suite struct ClientAsyncTests {
    @Test func everyKindOfValue() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "[1]") })
        #expect(try await client.run(GetData()) == Data("[1]".utf8))
        #expect(try await client.run(GetBytes()) == Array("[1]".utf8))
        #expect(try await client.run(GetText()) == "[1]")
        #expect(try await client.run(Ping()) == NoContent())
        #expect(try await client.run(Own()) == 3)
        #expect(try await client.run(GetRaw()).body.bytes == Array("[1]".utf8))
    }

    @Test func errorsOfADecoderAreKept() async {
        let client = Client.stubbed(StubTransport { _ in .response(status: 500) })
        let error = await #expect(throws: ErrandError.self) { try await client.run(Own()) }
        #expect(error == .responseDecodingFailed)
        #expect(error?.underlyingError is Own.Refused)
        #expect(error?.statusCode == 500)
    }

    @Test func whatATransportTellsTwiceIsSentOnce() async throws {
        let transport = TellsTwice { url in
            guard url.hasSuffix("/text") else { return Response(statusCode: 200, body: Array("there".utf8)) }
            return Response(statusCode: 302, headers: [.location: "/there"])
        }
        let client = Client(configuration: Client.Configuration(baseURL: "http://test/"), transport: transport)
        for _ in 0..<20 {
            let earlier = transport.urls.count
            #expect(try await client.run(GetText()) == "there")
            #expect(transport.urls.count == earlier + 2)
        }
    }

    @Test(arguments: [false, true])
    func cancellingTheTaskStopsTheRequest(isWatched: Bool) async {
        let submitted = AsyncStream.makeStream(of: Void.self)
        let stub = StubTransport { _ in
            submitted.continuation.yield()
            return .hold
        }
        let client = Client.stubbed(stub) { if isWatched { $0.accessories = [RecordingAccessory()] } }
        let task = Task { try await client.run(GetText()) }
        for await _ in submitted.stream { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.cancelled.count == 1)
        #expect(stub.open.isEmpty)
    }

    @Test(arguments: [false, true])
    func aCancelledTaskStartsNothing(isWatched: Bool) async {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { if isWatched { $0.accessories = [RecordingAccessory()] } }
        let gate = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in gate.stream {}
            return try await client.run(GetText())
        }
        task.cancel()
        gate.continuation.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.submitted.isEmpty)
    }

    @Test func resultSaysCancelledInsteadOfThrowing() async {
        let client = Client.stubbed(StubTransport())
        let task = Task { await client.result(of: GetText()) }
        task.cancel()
        await #expect(throws: ErrandError.cancelled) { try await task.value.get() }
    }

    @Test func refusalsAndBuildFailuresAreThrown() async {
        let client = Client.stubbed(StubTransport { _ in .refuse(.queueFull) })
        await #expect(throws: ErrandError.queueFull) { try await client.run(GetText()) }
        await #expect(throws: ErrandError.invalidURL) { try await client.run(GetText(path: "a\r\nb")) }
    }

    /// The request runs again, or has run again, when the caller's task gets its turn.
    @Test(arguments: [StubTransport.Answer.hold, .response(status: 200, body: "second"), .response(status: 500)])
    func aRestartTakesNoResultFromTheCaller(next: StubTransport.Answer) async throws {
        for _ in 0..<100 {
            let isFirst = Atomic(true)
            let stub = StubTransport(delivery: .immediate) { _ in
                isFirst.exchange(false, ordering: .relaxed) ? .response(status: 200, body: "first") : next
            }
            let client = Client.stubbed(stub) { $0.accessories = [RestartingAccessory()] }
            #expect(try await client.run(GetText()) == "first")
            await client.shutdown(.cancel)
        }
    }

    @Test func nobodyElseStartsARequestOfRun() async throws {
        let stub = StubTransport { _ in .hold }
        let client = Client.stubbed(stub)
        async let value = client.run(GetText())
        try await waitUntil("a transfer is open") { !stub.open.isEmpty }
        let request = try #require(client.requests.first)
        stub.completeAll { _ in .response(Response(statusCode: 200, body: Array("first".utf8))) }
        #expect(try await value == "first")
        #expect(request.start() == false)
        #expect(request.state == .succeeded && stub.submitted.count == 1)
    }

    /// Cancels at random moments, on both ways and both deliveries: every task ends, nothing stays open.
    @Test(arguments: [StubTransport.Delivery.asynchronous, .immediate])
    func cancellationStorm(delivery: StubTransport.Delivery) async {
        let stub = StubTransport(delivery: delivery) { description in
            description.url.hasSuffix("7") ? .hold : .response(status: 200, body: "x")
        }
        let client = Client.stubbed(stub)
        let ended = Notes<Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let task = Task { try await client.run(GetText(path: "\(number)")) }
                    if number % 3 != 0 || number % 10 == 7 { task.cancel() }
                    _ = await task.result
                    ended.add(number)
                }
            }
        }
        #expect(ended.all.count == 1000)
        #expect(stub.open.isEmpty)
        await client.shutdown()
    }
}
