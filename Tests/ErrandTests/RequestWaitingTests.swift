import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

/// Tasks wait for requests that somebody else has started.
@Suite struct RequestWaitingTests {
    /// Until so many tasks wait.
    private func waiting(_ count: Int, for request: Request<GetText>) async throws {
        try await waitUntil("\(count) tasks wait") {
            request.core.withLock { $0.hooks?.run.waiters.count == count }
        }
    }

    @Test func aTaskWaitsForAStartedRequest() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(GetText())
        request.tag = 7
        async let value = request.finalValue()
        async let outcome = request.finalOutcome()
        async let response = request.finalResponse()
        try await waiting(3, for: request)
        stub.completeAll { _ in .response(Response(statusCode: 200, body: Array("text".utf8))) }
        #expect(try await value == "text")
        let ended = try await outcome
        #expect(ended.value == "text")
        #expect(ended.response.statusCode == 200)
        #expect(try await response.statusCode == 200)
        // Of one that is over, at once.
        #expect(try await request.finalValue() == "text")
        #expect(request.tag == 7)
        await client.shutdown()
    }

    @Test func aTaskGoesOnAfterTheClosures() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let isTold = Atomic(false)
        let request = client.start(GetText()) { _ in isTold.store(true, ordering: .sequentiallyConsistent) }
        async let value = request.finalValue()
        try await waiting(1, for: request)
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        _ = try await value
        let wasTold = isTold.load(ordering: .sequentiallyConsistent)
        #expect(wasTold)
        await client.shutdown()
    }

    @Test func aFailureIsThrown() async throws {
        let client = Client.stubbed(StubTransport { _ in .failure(.connectionLost) })
        let request = client.start(GetText())
        await #expect(throws: ErrandError.connectionLost) { try await request.finalValue() }
        await #expect(throws: ErrandError.connectionLost) { try await request.finalOutcome() }
        await #expect(throws: ErrandError.connectionLost) { try await request.finalResponse() }
        await #expect(throws: ErrandError.connectionLost) { try await client.outcome(of: GetText()) }
        await client.shutdown()
    }

    @Test func aStopEndsTheWaitWithCancellationError() async throws {
        let client = Client.stubbed(StubTransport())
        let request = client.start(GetText())
        let task = Task { try await request.finalValue() }
        try await waiting(1, for: request)
        request.stop()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: CancellationError.self) { try await request.finalValue() }
        await client.shutdown()
    }

    @Test func cancellingTheTaskStopsTheRequestUnlessToldOtherwise() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(GetText())
        let patient = Task { try await request.finalValue(stopsIfCancelled: false) }
        try await waiting(1, for: request)
        patient.cancel()
        await #expect(throws: CancellationError.self) { try await patient.value }
        #expect(request.state == .running)
        #expect(stub.cancelled.isEmpty)
        let task = Task { try await request.finalValue() }
        try await waiting(2, for: request)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.cancelled.count == 1)
        #expect(request.error == .cancelled)
        await client.shutdown()
    }

    @Test func aRequestThatWasNeverStartedIsNotWaitedFor() async throws {
        let client = Client.stubbed(StubTransport())
        let request = client.request(GetText())
        let error = await #expect(throws: ErrandError.self) { try await request.finalValue() }
        #expect(error == .invalidArgument)
        #expect(error?.message.contains("call start() first") == true)
        await client.shutdown()
    }

    @Test func aWaitIsForOneRun() async throws {
        let count = Atomic<Int>(0)
        let client = Client.stubbed(
            StubTransport { _ in
                let number = count.wrappingAdd(1, ordering: .relaxed).newValue
                return .response(status: 200, body: "\(number)")
            })
        let request = client.request(GetText())
        // It starts again inside its own completion, before the task gets its turn.
        request.start { request in request.start() }
        let first = try await request.finalValue()
        #expect(["1", "2"].contains(first))
        try await waitUntil("the requests have come so far") { client.requests.isEmpty }
        #expect(try await request.finalValue() == "2")
        await client.shutdown()
    }

    @Test func aRunGivesItsResponseToo() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 203, body: "text") })
        let outcome = try await client.outcome(of: GetText())
        #expect(outcome.value == "text")
        #expect(outcome.response.statusCode == 203)
        #expect(outcome.metrics == outcome.response.metrics)
        await client.shutdown()
    }

    @Test func cancellingARunForItsOutcomeStopsIt() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { try await client.outcome(of: GetText()) }
        try await waitUntil("the requests have come so far") { stub.submitted.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.cancelled.count == 1)
        await client.shutdown()
    }

    @Test func aGroupHasAValueAndNoResponse() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "text") })
        let batch = client.start(Batch([GetText(), GetText()]))
        #expect(try await batch.finalValue().values == ["text", "text"])
        let error = await #expect(throws: ErrandError.self) { try await batch.finalOutcome() }
        #expect(error == .invalidArgument)
        let refused = await #expect(throws: ErrandError.self) { try await client.outcome(of: Batch([GetText()])) }
        #expect(refused == .invalidArgument)
        let none = await #expect(throws: ErrandError.self) { try await batch.finalResponse() }
        for error in [error, refused, none] {
            #expect(error?.message == "a group has no response of its own")
            #expect(error?.isRefusal == true)
        }
        await client.shutdown()
    }
}
