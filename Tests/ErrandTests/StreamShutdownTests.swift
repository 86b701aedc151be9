import Errand
import ErrandTesting
import Testing

@testable import ErrandClient

/// Streams of a client that is shut down.
@Suite(.timeLimit(.minutes(20))) struct StreamShutdownTests {
    private let stub = StubTransport()
    private let clock = ManualClock()

    private func client() -> Client {
        Client.stubbed(stub) { $0.clock = clock }
    }

    /// A stream that is read to its end is drained like any request.
    @Test func aDrainWaitsForTheReader() async throws {
        let client = client()
        let task = Task { try await client.stream(GetStream()) }
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        let response = try await task.value
        stub.sendChunk([1, 2], to: id)
        let shutdown = Task { await client.shutdown() }
        try await waitUntil("the client is shut down") { client.isShutDown }
        stub.sendChunk([3], to: id)
        stub.end(id)
        #expect(try await response.body.collect(upTo: 10) == [1, 2, 3])
        await shutdown.value
        await #expect(throws: ErrandError.shutDown) { _ = try await client.stream(GetStream()) }
    }

    /// One that is not read ends with the drain's time; what came is read before the error.
    @Test func aDrainThatExpires() async throws {
        let client = client()
        let task = Task { try await client.stream(GetStream()) }
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        stub.sendChunk([1, 2], to: id)
        let response = try await task.value
        let shutdown = Task { await client.shutdown(.drain(within: .seconds(3))) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        await shutdown.value
        var bytes: [UInt8] = []
        await #expect(throws: ErrandError.shutDown) { for try await chunk in response.body { bytes += chunk } }
        #expect(bytes == [1, 2])
    }

    @Test func beforeTheHead() async throws {
        let client = client()
        let task = Task { try await client.stream(GetStream()) }
        _ = try await stub.opened()
        await client.shutdown(.cancel)
        await #expect(throws: ErrandError.shutDown) { _ = try await task.value }
    }

    /// A reader that waits is told.
    @Test func whileAReaderWaits() async throws {
        let client = client()
        let task = Task { try await client.stream(GetStream()) }
        stub.sendHead(200, to: try await stub.opened())
        let response = try await task.value
        let reader = Task { for try await _ in response.body {} }
        await client.shutdown(.cancel)
        await #expect(throws: ErrandError.shutDown) { try await reader.value }
    }
}
