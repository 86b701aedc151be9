import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandAuthentication
@testable import ErrandClient
@testable import ErrandModel

/// Notes what it is asked about, and answers when and what it is told to.
private final class Asker: StepwiseInterceptor {
    let seen = Notes<String>()
    let gate: Gate
    let answer: @Sendable (Response) throws -> Bool

    init(gate: Gate = Gate(isOpen: true), answer: @escaping @Sendable (Response) throws -> Bool) {
        self.gate = gate
        self.answer = answer
    }

    func replays(after result: TransferResult, in context: InterceptionContext) async throws -> Bool {
        guard case .response(let response) = result else {
            seen.add("failure")
            return false
        }
        seen.add("\(response.statusCode) \(response.body.count)")
        await gate.pass()
        return try answer(response)
    }

    func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
        seen.add("transform")
        return response
    }

    func prepare(_ request: RequestDescription, in context: InterceptionContext) -> RequestDescription { request }
}

private struct Trouble: Error {}

/// What interceptors do about a streamed response before the caller sees a head.
@Suite(.timeLimit(.minutes(20))) struct StreamInterceptionTests {
    private static let refused: Set<Int> = [200, 401]

    private func with(
        _ interceptor: any Interceptor, clock: any Clock<Duration> = ContinuousClock(),
        _ body: (Client, StubTransport, Task<StreamedResponse, any Error>, TransferID) async throws -> Void
    ) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub) {
            $0.interceptors = [interceptor]
            $0.clock = clock
        }
        let task = Task { try await client.stream(GetStream(statuses: Self.refused)) }
        try await body(client, stub, task, try await stub.opened())
        await client.shutdown(.cancel)
    }

    /// The command would take the 401, but the caller never sees it.
    @Test func anAcceptedRefusalIsRefreshed() async throws {
        let authenticator = TestAuthenticator()
        try await with(AuthenticationInterceptor(authenticator, credential: "t0")) { client, stub, task, id in
            stub.sendHead(401, to: id)
            stub.sendChunk(Array("refused".utf8), to: id)
            stub.end(id, 401)
            let second = try await stub.opened()
            stub.sendHead(200, to: second)
            stub.sendChunk(Array("here".utf8), to: second)
            stub.end(second)
            let response = try await task.value
            #expect(response.statusCode == 200)
            #expect(try await response.body.collect(upTo: 100) == Array("here".utf8))
            #expect(stub.submitted.map { $0.headers[.authorization] } == ["t0", "t1"])
            #expect(response.request.attempts.map { $0.response?.statusCode } == [401, 200])
            #expect(authenticator.count == 1)
        }
    }

    /// It stands, and the caller gets it with its body; `transform` is not for streams that are accepted.
    @Test func anAcceptedRefusalMayStand() async throws {
        let asker = Asker { _ in false }
        // The clock stands still: the head waits for the whole body, and not for at most one second.
        try await with(asker, clock: ManualClock()) { client, stub, task, id in
            stub.sendHead(401, to: id)
            for byte in Array("refused".utf8) { stub.sendChunk([byte], to: id) }
            stub.end(id, 401)
            let response = try await task.value
            #expect(response.statusCode == 401)
            #expect(try await response.body.collect(upTo: 100) == Array("refused".utf8))
            #expect(asker.seen.all == ["401 7"])
            #expect(response.request.state == .succeeded)
        }
    }

    /// A body that is not small is not waited for: no credit is given back until somebody reads.
    @Test func aLargeRefusalIsHeldBack() async throws {
        let gate = Gate()
        let asker = Asker(gate: gate) { _ in false }
        try await with(asker) { client, stub, task, id in
            stub.sendHead(401, to: id)
            for byte in UInt8(0)..<10 { stub.sendChunk([UInt8](repeating: byte, count: 10_000), to: id) }
            await gate.arrivals(1)
            await client.callbacksDrained()
            #expect(stub.granted(to: id) == 0)
            await gate.open()
            let response = try await task.value
            #expect(stub.granted(to: id) == 0)
            stub.sendChunk([255], to: id)
            let reader = Task { try await response.body.collect(upTo: 1 << 20) }
            try await waitUntil("100_001 bytes of credit were granted") { stub.granted(to: id) >= 100_001 }
            stub.end(id, 401)
            let bytes = try await reader.value
            #expect(bytes == (UInt8(0)..<10).flatMap { [UInt8](repeating: $0, count: 10_000) } + [255])
            #expect(stub.granted(to: id) == 100_001)
            #expect(asker.seen.all.count == 1)
        }
    }

    /// The rest of a refusal that nobody will see is not waited for either.
    @Test func aLargeRefusalIsCutForAReplay() async throws {
        let asker = Asker { $0.statusCode == 401 }
        try await with(asker) { client, stub, task, id in
            stub.sendHead(401, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 100_000), to: id)
            try await waitUntil("a transfer was cancelled") { !stub.cancelled.isEmpty }
            let second = try await stub.opened()
            stub.sendHead(200, to: second)
            stub.end(second)
            let response = try await task.value
            #expect(response.statusCode == 200)
            #expect(try await response.body.collect(upTo: 100) == [])
            #expect(stub.cancelled == [id])
            #expect(response.request.attempts.map { $0.response?.statusCode } == [401, 200])
        }
    }

    /// Nor is one that says nothing after its head.
    @Test func aSilentRefusalIsAskedAboutInTime() async throws {
        let clock = ManualClock()
        let asker = Asker { _ in false }
        try await with(asker, clock: clock) { client, stub, task, id in
            stub.sendHead(401, to: id)
            stub.sendChunk([1], to: id)
            await clock.sleepers(1)
            // The clock's sleeper begins with the head: the chunk may still be in the queue.
            await client.callbacksDrained()
            #expect(asker.seen.all.isEmpty)
            clock.advance(by: .seconds(1))
            let response = try await task.value
            #expect(response.statusCode == 401)
            #expect(asker.seen.all == ["401 1"])
        }
    }

    /// Of other statuses they see the head alone, at once.
    @Test func aSuccessIsAskedAboutByItsHead() async throws {
        let asker = Asker { _ in false }
        try await with(asker) { client, stub, task, id in
            stub.sendHead(200, to: id)
            stub.sendChunk([1, 2, 3], to: id)
            let response = try await task.value
            stub.end(id)
            #expect(try await response.body.collect(upTo: 100) == [1, 2, 3])
            try await waitUntil("the request has ended") { response.request.state.isFinished }
            #expect(asker.seen.all == ["200 0"])
        }
    }

    /// What came before a break is read before its error, whoever is quicker, the end or the interceptor.
    @Test func aSuccessThatBreaksOffIsDelivered() async throws {
        let gate = Gate()
        try await with(Asker(gate: gate) { _ in false }) { client, stub, task, id in
            stub.sendHead(200, to: id)
            stub.sendChunk([1, 2, 3], to: id)
            await gate.arrivals(1)
            stub.complete(id, with: .failure(.partialBody))
            await client.callbacksDrained()
            await gate.open()
            let response = try await task.value
            var bytes: [UInt8] = []
            await #expect(throws: ErrandError.partialBody) { for try await chunk in response.body { bytes += chunk } }
            #expect(bytes == [1, 2, 3])
        }
    }

    /// An answer that was not refused is kept: the next stream goes with it at once.
    @Test func anAnsweredChallengeIsKept() async throws {
        let asked = Notes<String>()
        let challenges = ChallengeInterceptor { challenge in
            asked.add(challenge.scheme ?? "")
            return .basic(username: "ada", password: "secret")
        }
        try await with(challenges) { client, stub, task, id in
            stub.sendHead(401, [.wwwAuthenticate: "Basic realm=\"a\""], to: id)
            stub.end(id, 401)
            let second = try await stub.opened()
            stub.sendHead(200, to: second)
            let response = try await task.value
            #expect(response.statusCode == 200)
            stub.end(second)
            let next = Task { try await client.stream(GetStream()) }
            try await waitUntil("3 transfers were submitted") { stub.submitted.count >= 3 }
            #expect(stub.submitted.map { $0.headers[.authorization] != nil } == [false, true, true])
            #expect(asked.all == ["basic"])
            client.cancelAll()
            await #expect(throws: CancellationError.self) { _ = try await next.value }
        }
    }

    @Test(arguments: [200, 401]) func aThrowingInterceptorEndsTheStream(status: Int) async throws {
        try await with(Asker { _ in throw Trouble() }) { client, stub, task, id in
            stub.sendHead(status, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 100_000), to: id)
            let error = await #expect(throws: ErrandError.self) { _ = try await task.value }
            #expect(error == .interceptionFailed)
            #expect(error?.underlyingError is Trouble)
            #expect(error?.statusCode == status)
            #expect(stub.cancelled == [id])
        }
    }

    /// While an interceptor thinks about a head.
    @Test(arguments: ["stop", "shutdown"]) func itIsNotWaitedFor(way: String) async throws {
        let gate = Gate()
        try await with(Asker(gate: gate) { _ in true }) { client, stub, task, id in
            stub.sendHead(200, to: id)
            await gate.arrivals(1)
            if way == "stop" {
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
            } else {
                await client.shutdown(.cancel)
                await #expect(throws: ErrandError.shutDown) { _ = try await task.value }
            }
            await gate.open()
            #expect(stub.submitted.count == 1)
        }
    }

    /// A body that was not kept as a whole is no success, whatever an interceptor makes of it.
    @Test func aTruncatedBodyIsNoSuccess() async throws {
        struct Forgiving: TransformingInterceptor {
            func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
                Response(statusCode: 200, headers: response.headers, body: response.body.bytes)
            }
        }
        try await with(Forgiving()) { client, stub, task, id in
            stub.sendHead(404, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 1 << 20), to: id)
            stub.sendChunk([1], to: id)
            stub.end(id, 404)
            await #expect(throws: ErrandError.limitBodyBytes) { _ = try await task.value }
        }
        try await with(Forgiving()) { client, stub, task, id in
            stub.sendHead(404, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 1 << 20), to: id)
            stub.end(id, 404)
            let response = try await task.value
            #expect(try await response.body.collect(upTo: 1 << 20).count == 1 << 20)
        }
    }

    /// Nor is what `replacing` makes of it, when the transfer of another response has ended meanwhile.
    @Test func whatIsMadeOfATruncatedBodyIsNoSuccess() async throws {
        struct GetPage: Command {
            var path: String { "page" }
            var acceptedContentTypes: ContentTypes { .of(["application/json"]) }
            typealias Response = Errand.Response
        }
        let first = Around { request, _, next in
            let page = try await next(request)
            _ = await next.result(of: request)
            return page.replacing(body: [1], headers: [.contentType: "application/json"])
        }
        let stub = StubTransport()
        let client = Client.stubbed(stub) { $0.interceptors = [first] }
        let task = Task { try await client.stream(GetPage()) }
        let id = try await stub.opened()
        stub.sendHead(200, [.contentType: "text/html"], to: id)
        stub.sendChunk([UInt8](repeating: 1, count: 1 << 20), to: id)
        stub.sendChunk([1], to: id)
        try await waitUntil("the transfer is cut") { stub.cancelled == [id] }
        stub.complete(try await stub.opened(), with: .failure(.connectFailed))
        await #expect(throws: ErrandError.limitBodyBytes) { _ = try await task.value }
        await client.shutdown(.cancel)
    }

    /// A response of the interceptor's own has a body of its own.
    @Test(arguments: [false, true]) func anAnswerInPlaceOfATruncatedBodyIsASuccess(isStepwise: Bool) async throws {
        struct Calm: TransformingInterceptor {
            func transform(_ response: Response, in context: InterceptionContext) async throws -> Response {
                Response(statusCode: 200, body: [7, 8])
            }
        }
        let calm = Around { request, _, next in
            _ = try await next(request)
            return Response(statusCode: 200, body: [7, 8])
        }
        let interceptor: any Interceptor = isStepwise ? Calm() : calm
        try await with(interceptor) { client, stub, task, id in
            stub.sendHead(500, to: id)
            stub.sendChunk([UInt8](repeating: 1, count: 1 << 20), to: id)
            stub.sendChunk([1], to: id)
            let response = try await task.value
            #expect(response.statusCode == 200)
            #expect(try await response.body.collect(upTo: 100) == [7, 8])
        }
    }
}
