import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

private struct Trouble: Error {}

/// Interceptors around streamed responses, which they see by their heads.
@Suite(.timeLimit(.minutes(20))) struct AroundStreamTests {
    private func with(
        _ interceptor: any Interceptor, statuses: Set<Int> = [200, 503],
        _ body: (StubTransport, Task<StreamedResponse, any Error>, TransferID) async throws -> Void
    ) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.interceptors = [interceptor] }
        let task = Task { try await client.stream(GetStream(statuses: statuses)) }
        try await body(stub, task, try await stub.opened())
        await client.shutdown(.cancel)
    }

    /// `next` returns at the head, with the fields and without the body, which the caller gets unchanged.
    @Test func itSeesTheHead() async throws {
        let seen = Notes<String>()
        let watching = Around { request, _, next in
            let response = try await next(request)
            seen.add("\(response.statusCode) \(response.header(.server) ?? "") \(response.body.count)")
            return response
        }
        try await with(watching) { stub, task, id in
            stub.sendHead(200, [.server: "s"], to: id)
            let response = try await task.value
            #expect(seen.all == ["200 s 0"])
            stub.sendChunk([1, 2, 3], to: id)
            stub.end(id)
            #expect(try await response.body.collect(upTo: 100) == [1, 2, 3])
            #expect(response.header(.server) == "s")
            #expect(seen.all.count == 1)
        }
    }

    /// The rejected response is cancelled, and its body is not seen.
    @Test(arguments: [200, 503]) func itSendsAgain(status: Int) async throws {
        let again = Around { request, context, next in
            let first = try await next(request)
            #expect(first.statusCode == status)
            return try await next(request)
        }
        try await with(again) { stub, task, id in
            stub.sendHead(status, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 100_000), to: id)
            try await waitUntil("the rejected transfer was cancelled") { stub.cancelled == [id] }
            let second = try await stub.opened()
            stub.sendHead(200, to: second)
            stub.sendChunk([2], to: second)
            stub.end(second)
            let response = try await task.value
            #expect(try await response.body.collect(upTo: 100) == [2])
            #expect(response.request.attempts.map { $0.response?.statusCode } == [status, 200])
        }
    }

    /// The caller gets the changed head with the body of the stream.
    @Test func itChangesFields() async throws {
        let changing = Around { request, _, next in
            let response = try await next(request)
            return response.replacing(body: response.body.bytes, headers: [.server: "changed"])
        }
        try await with(changing) { stub, task, id in
            stub.sendHead(200, [.server: "s"], to: id)
            let response = try await task.value
            stub.sendChunk([1, 2], to: id)
            stub.end(id)
            #expect(response.header(.server) == "changed")
            #expect(try await response.body.collect(upTo: 100) == [1, 2])
        }
    }

    /// Another body is an error that says so.
    @Test func aChangedBodyIsAnError() async throws {
        let changing = Around { request, _, next in try await next(request).replacing(body: [1]) }
        try await with(changing) { stub, task, id in
            stub.sendHead(200, to: id)
            let error = await #expect(throws: ErrandError.self) { _ = try await task.value }
            #expect(error == .interceptionFailed)
            #expect(error?.underlyingError as? InterceptionMisuse == .changedStream)
            #expect(stub.cancelled == [id])
        }
    }

    /// A response of its own is the caller's, with its body, whether the command would have accepted the head or not.
    @Test(arguments: [200, 503, 500]) func itAnswersInPlaceOfAHead(status: Int) async throws {
        let calm = Around { request, _, next in
            _ = try await next(request)
            return Response(statusCode: 200, headers: [.server: "own"], body: [7, 8])
        }
        try await with(calm) { stub, task, id in
            stub.sendHead(status, to: id)
            stub.sendChunk([1], to: id)
            // The whole response of a status that the command does not accept is waited for.
            if status == 500 { stub.end(id, status) }
            let response = try await task.value
            #expect(response.header(.server) == "own")
            #expect(try await response.body.collect(upTo: 100) == [7, 8])
            #expect(stub.cancelled == (status == 500 ? [] : [id]))
        }
    }

    @Test func itAnswersWithoutTheNetwork() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) {
            $0.interceptors = [Around { _, _, _ in Response(statusCode: 200, body: [7]) }]
        }
        let response = try await client.stream(GetStream())
        #expect(try await response.body.collect(upTo: 100) == [7])
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    /// A response whose stream was cancelled has no body any more.
    @Test func aFormerResponseIsAnError() async throws {
        let stale = Around { request, _, next in
            let first = try await next(request)
            _ = await next.result(of: request)
            return first
        }
        try await with(stale) { stub, task, id in
            stub.sendHead(200, to: id)
            try await waitUntil("the first transfer was cancelled") { stub.cancelled == [id] }
            stub.complete(try await stub.opened(), with: .failure(.connectFailed))
            let error = await #expect(throws: ErrandError.self) { _ = try await task.value }
            #expect(error?.underlyingError as? InterceptionMisuse == .cancelledStream)
        }
    }

    @Test func itThrows() async throws {
        let strict = Around { request, _, next in
            _ = try await next(request)
            throw Trouble()
        }
        try await with(strict) { stub, task, id in
            stub.sendHead(200, to: id)
            let error = await #expect(throws: ErrandError.self) { _ = try await task.value }
            #expect(error?.underlyingError is Trouble)
            #expect(stub.cancelled == [id])
        }
    }

    /// Without a head a failure is thrown as of any other request, and may be replaced.
    @Test func aFailureWithoutAHead() async throws {
        let calm = Around { request, _, next in
            guard case .failure(.connectFailed) = await next.result(of: request) else { throw Trouble() }
            return Response(statusCode: 200, body: [7])
        }
        try await with(calm) { stub, task, id in
            stub.complete(id, with: .failure(.connectFailed))
            let bytes = try await task.value.body.collect(upTo: 100)
            #expect(bytes == [7])
        }
    }

    /// While `next` waits for the head.
    @Test func aCallThatIsGivenUp() async throws {
        let stub = StubTransport()
        let impatient = Around { request, _, next in
            let call = Task { await next.result(of: request) }
            _ = try await stub.opened()
            call.cancel()
            _ = await call.value
            return Response(statusCode: 200, body: [7])
        }
        let client = Client.stubbed(stub) { $0.interceptors = [impatient] }
        #expect(try await client.stream(GetStream()).body.collect(upTo: 100) == [7])
        #expect(stub.open.isEmpty)
        await client.shutdown()
    }
}
