import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// A streamed run goes on with another transfer, and that ends before it has a head: what the last head said decides
/// nothing any more.
@Suite(.timeLimit(.minutes(20))) struct StreamNextTransferTests {
    /// Has failures and what is refused sent again, `limit` times.
    private struct Retry: ReplayingInterceptor {
        let limit: Int
        func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
            guard context.replays < limit else { return false }
            if case .response(let response) = result { return response.statusCode != 200 }
            return true
        }
    }

    private func with(
        _ interceptors: [any Interceptor], statuses: Set<Int> = [200, 401],
        _ body: (StubTransport, Task<StreamedResponse, any Error>, TransferID) async throws -> Void
    ) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.interceptors = interceptors }
        let task = Task { try await client.stream(GetStream(statuses: statuses)) }
        try await body(stub, task, try await stub.opened())
        await client.shutdown(.cancel)
    }

    private func error(of task: Task<StreamedResponse, any Error>) async -> ErrandError? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return error as? ErrandError
        }
    }

    /// More of the redirect's body than is kept, so that the stream ends the transfer itself.
    @Test(arguments: [10, 2_000_000]) func aHopThatFails(size: Int) async throws {
        try await with([]) { stub, task, id in
            stub.sendHead(302, [.location: "http://other/"], to: id)
            stub.sendChunk([UInt8](repeating: 1, count: size), to: id)
            if stub.open == [id] {
                let redirect = Response(statusCode: 302, headers: [.location: "http://other/"], body: [])
                stub.complete(id, with: .response(redirect))
            }
            try await waitUntil("2 transfers were submitted and one is open") {
                stub.submitted.count >= 2 && !stub.open.isEmpty
            }
            stub.complete(stub.open[0], with: .failure(.connectFailed))
            let error = await error(of: task)
            #expect(error == .connectFailed)
            #expect(error?.response == nil)
            #expect(stub.submitted.count == 2)
        }
    }

    /// Asked while the body comes, and cut for the replay.
    @Test func aReplayThatFails() async throws {
        try await with([Retry(limit: 1)]) { stub, task, id in
            stub.sendHead(401, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 100_000), to: id)
            try await waitUntil("a transfer was cancelled") { !stub.cancelled.isEmpty }
            let second = try await stub.opened()
            stub.complete(second, with: .failure(.connectFailed))
            #expect(await error(of: task) == .connectFailed)
            #expect(stub.submitted.count == 2)
        }
    }

    /// Asked at the end of a small body; the next question is about the next transfer.
    @Test func retriesThatFailAreCounted() async throws {
        try await with([Retry(limit: 3)]) { stub, task, id in
            stub.sendHead(401, to: id)
            stub.end(id, 401)
            for count in 2...4 {
                try await waitUntil("\(count) transfers were submitted and one is open") {
                    stub.submitted.count >= count && !stub.open.isEmpty
                }
                stub.complete(stub.open[0], with: .failure(.connectFailed))
            }
            #expect(await error(of: task) == .connectFailed)
            #expect(stub.submitted.count == 4)
        }
    }

    @Test func aStopDecidesBeforeAHeadThatIsOnItsWay() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { try await client.stream(GetStream()) }
        let id = try await stub.opened()
        let request = try #require(client.requests.first)
        let (held, gate) = AsyncStream<Void>.makeStream()
        // A streamed request has a callback queue of its own: the head is handled there after this closure returns.
        request.callbacks.async {
            stub.sendHead(200, to: id)
            request.stop()
            gate.finish()
        }
        for await _ in held {}
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await client.shutdown(.cancel)
    }

    /// There is nobody to stream to, and the command alone would send something else.
    @Test func aStreamedRequestIsNotStartedAgain() async throws {
        try await with([]) { stub, task, id in
            stub.sendHead(200, to: id)
            stub.end(id)
            let response = try await task.value
            try await waitUntil("the request has ended") { response.request.state.isFinished }
            #expect(response.request.start() == false)
            #expect(stub.submitted.count == 1)
        }
    }
}
