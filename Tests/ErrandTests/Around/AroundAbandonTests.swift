import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

/// A transport whose cancelled transfers end late: the test forwards the cancellation.
private final class LateEnds: TransportWithoutStreams {
    let stub = StubTransport()
    let cancelled = Notes<TransferID>()

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        try stub.submit(description, for: receiver)
    }
    func cancel(_ id: TransferID) { cancelled.add(id) }
    func pause(_ id: TransferID) { stub.pause(id) }
    func resume(_ id: TransferID) { stub.resume(id) }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { stub.shutdown(stopped) }
}

/// Calls of `next` whose interceptor has returned without waiting for them.
@Suite(.timeLimit(.minutes(20))) struct AroundAbandonTests {
    private let late = LateEnds()
    private let lost = Notes<ErrandError?>()

    /// Answers 503 while its first call is under way. Its later calls are as usual.
    private func hasty() -> Around {
        let calls = Atomic(0)
        return Around { [late, lost] request, _, next in
            guard calls.add(1, ordering: .relaxed).oldValue == 0 else { return try await next(request) }
            Task {
                guard case .failure(let error) = await next.result(of: request) else { return lost.add(nil) }
                lost.add(error)
            }
            _ = try await late.stub.opened()
            return Response(statusCode: 503)
        }
    }

    private func client(_ interceptors: [any Interceptor]) -> Client {
        var configuration = Client.Configuration(baseURL: "http://test/")
        configuration.interceptors = interceptors
        return Client(configuration: configuration, transport: late)
    }

    /// An interceptor outside may send again before the abandoned transfer has ended. Nothing is sent before that end.
    @Test func anotherMaySendAgain() async throws {
        let replays = Notes<Int>()
        let again = Around { request, context, next in
            let first = try await next(request)
            #expect(first.statusCode == 503)
            let second = try await next(request)
            replays.add(context.replays)
            return second
        }
        let client = client([again, hasty()])
        let request = client.start(GetAround())
        try await waitUntil("the transfer is cancelled") { !late.cancelled.all.isEmpty }
        let first = try await late.stub.opened()
        // The abandoned call ends when another one takes its place.
        try await waitUntil("the call has ended") { !lost.all.isEmpty }
        #expect(lost.all == [.cancelled])
        #expect(late.stub.submitted.count == 1)
        late.stub.cancel(first)
        let second = try await late.stub.opened()
        late.stub.complete(second, with: .response(Response(statusCode: 200, body: Array("second".utf8))))
        try await waitUntil("the request has ended") { request.state.isFinished && request.isAtRest }
        #expect(request.value == "second")
        #expect(replays.all == [1])
        #expect(request.attempts.map(\.error) == [.cancelled, nil])
        #expect(request.resends == [.replay])
        await client.shutdown()
    }

    /// The second call is abandoned too: its description is not sent.
    @Test func anotherMayAnswerToo() async throws {
        let givenUp = Notes<Int>()
        let outer = Around { [lost] request, _, next in
            _ = try await next(request)
            let call = Task { await next.result(of: request) }
            try await waitUntil("the call before has ended") { !lost.all.isEmpty }
            call.cancel()
            guard case .failure(.cancelled) = await call.value else { throw ErrandError.interceptionFailed }
            givenUp.add(1)
            return Response(statusCode: 200, body: Array("own".utf8))
        }
        let client = client([outer, hasty()])
        let request = client.start(GetAround())
        try await waitUntil("the transfer is cancelled") { !late.cancelled.all.isEmpty }
        let first = try await late.stub.opened()
        // Otherwise the end of the first transfer could send the second call before that one is given up.
        try await waitUntil("the second call has ended") { !givenUp.all.isEmpty }
        late.stub.cancel(first)
        try await waitUntil("the request has ended") { request.state.isFinished && request.isAtRest }
        #expect(request.value == "own")
        #expect(late.stub.submitted.count == 1)
        await client.shutdown()
    }

    /// A cancellation that comes late belongs to interceptors that others have followed: calls of both have the number 1.
    @Test func aLateCancellationHitsNoOtherInterception() async throws {
        let passing = Around { request, _, next in try await next(request) }
        let client = client([passing])
        let request = client.start(GetAround())
        let id = try await late.stub.opened()
        let context = InterceptionContext(
            requestID: request.id, command: GetAround(), storage: .init(), progress: InterceptionProgress())
        let former = Interception(InterceptorChain(interceptors: [], context: context)) { _, _ in }
        request.giveUpTransfer(of: 1, by: former)
        #expect(late.cancelled.all.isEmpty)
        let present = try #require(request.interception)
        request.giveUpTransfer(of: 1, by: present)
        #expect(late.cancelled.all == [id])
        late.stub.complete(id, with: .response(Response(statusCode: 200, body: Array("end".utf8))))
        try await waitUntil("the request has ended") { request.state.isFinished && request.isAtRest }
        await client.shutdown()
    }
}
