import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient

/// Whoever waits for a request in a task gets `CancellationError` when the request is stopped, and when the task is
/// cancelled, whatever form the waiting has.
@Suite(.timeLimit(.minutes(20))) struct StoppedSequenceTests {
    enum Form: CaseIterable { case value, tuple, batch, completedResults, cachedValues, stream, events }

    private static func wait(_ form: Form, on client: Client, _ batch: Request<Batch<String>>) async throws {
        switch form {
        case .value: _ = try await client.run(GetText())
        case .tuple: _ = try await client.run(GetText(), GetText())
        case .batch: _ = try await client.run(Batch([GetText()]))
        case .completedResults: for try await _ in batch.resultsAsCompleted {}
        case .cachedValues: for try await _ in client.values(of: GetText()) {}
        case .stream: _ = try await client.stream(GetText())
        case .events: for try await _ in client.events(GetText()) {}
        }
    }

    @Test(arguments: Form.allCases) func byAStop(form: Form) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let batch = client.request(Batch([GetText()]))
        let task = Task { try await Self.wait(form, on: client, batch) }
        _ = try await stub.opened()
        client.cancelAll()
        await #expect(throws: CancellationError.self) { try await task.value }
        await client.shutdown(.cancel)
    }

    @Test(arguments: Form.allCases) func byTheTask(form: Form) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let batch = client.request(Batch([GetText()]))
        let task = Task { try await Self.wait(form, on: client, batch) }
        _ = try await stub.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await client.shutdown(.cancel)
        #expect(stub.open.isEmpty)
    }
}
