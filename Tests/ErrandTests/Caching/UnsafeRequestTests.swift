import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// RFC 9111 4.4: what a request of an unsafe method makes void.
@Suite struct UnsafeRequestTests {
    private static let fields: HTTPFields = ["Cache-Control": "max-age=60"]

    /// The server has done what it was asked for, whatever becomes of the body.
    @Test(arguments: [ErrandError.connectionLost, .timeoutIdle, .limitBodyBytes])
    func aBodyThatBreaksOffInvalidatesAllTheSame(_ failure: ErrandError) async throws {
        let part = Response(statusCode: 200, headers: [:], body: [])
        try await CachingBench(answer: { description, number in
            if description.method == .post { return .failure(failure.with(response: part)) }
            return .response(status: 200, headers: Self.fields, body: "\(number)")
        }).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: .http)) == "1")
            let post = await bench.finished(GetCached(method: .post))
            #expect(post.error == failure)
            #expect(try await bench.client.run(GetCached(cache: .http)) == "3")
        }
    }

    @Test func onlyWhatIsNoErrorInvalidates() async throws {
        let part = Response(statusCode: 500, headers: [:], body: [])
        try await CachingBench(answer: { description, number in
            if description.method == .post { return .failure(.connectionLost.with(response: part)) }
            return .response(status: 200, headers: Self.fields, body: "\(number)")
        }).run { bench async throws in
            #expect(try await bench.client.run(GetCached(cache: .http)) == "1")
            _ = await bench.finished(GetCached(method: .post))
            #expect(try await bench.client.run(GetCached(cache: .http)) == "1")
        }
    }

    /// A stop that comes after the head.
    @Test func aStoppedOneInvalidates() async throws {
        let transport = CutAfterHead()
        var configuration = Client.Configuration(baseURL: "http://test/")
        // The clock stands still: the response stays fresh, however slow the machine is.
        configuration.cache = ResponseCache(now: { 1_000_000 })
        let client = Client(configuration: configuration, transport: transport)
        let first = try await client.run(GetCached(cache: .http))
        let again = try await client.run(GetCached(cache: .http))
        #expect(again == first)
        let post = client.start(GetCached(method: .post))
        post.stop()
        try await waitUntil("the POST has ended") { post.state.isFinished }
        let next = try await client.run(GetCached(cache: .http))
        #expect(next != first)
        await client.shutdown(.cancel)
    }
}

/// What is cancelled there has had a head: as the engine has it where a stop comes late.
private final class CutAfterHead: TransportWithoutStreams {
    private let stub: StubTransport

    init() {
        let count = Notes<Int>()
        stub = StubTransport { description in
            count.add(1)
            guard description.method == .get else { return .hold }
            return .response(status: 200, headers: ["Cache-Control": "max-age=60"], body: "\(count.all.count)")
        }
    }

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        try stub.submit(description, for: receiver)
    }
    func cancel(_ id: TransferID) {
        stub.complete(id, with: .failure(.cancelled.with(response: Response(statusCode: 200))))
    }
    func pause(_ id: TransferID) { stub.pause(id) }
    func resume(_ id: TransferID) { stub.resume(id) }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { stub.shutdown(stopped) }
}
