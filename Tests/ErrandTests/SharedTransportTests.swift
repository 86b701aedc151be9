import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// Several clients on one transport, which is theirs to use and nobody's to shut down.
@Suite(.timeLimit(.minutes(20))) struct SharedTransportTests {
    @Test(arguments: [StubTransport.Delivery.asynchronous, .immediate])
    func aShutdownEndsTheClientsOwnRequestsAlone(delivery: StubTransport.Delivery) async throws {
        let stub = StubTransport(delivery: delivery) { _ in .hold }
        let (leaving, staying) = (Client.stubbed(stub), Client.stubbed(stub))
        let told = Notes<ErrandError?>()
        let own = (0..<5).map { _ in leaving.start(GetText(), completion: { told.add($0.error) }) }
        let direct = Task { try await leaving.run(GetText()) }
        let stream = Task { try await leaving.stream(GetText()) }
        let coalesced = leaving.start(GetText(), overrides: Self.coalesced)
        try await waitUntil("8 requests run") { leaving.requests.count >= 8 }
        let other = staying.start(GetText())
        try await waitUntil("9 transfers are open") { stub.open.count >= 9 }
        await leaving.shutdown(.cancel)
        #expect(own.allSatisfy { $0.error == .shutDown } && coalesced.error == .shutDown)
        #expect(told.all == Array(repeating: .shutDown, count: 5))
        await #expect(throws: ErrandError.shutDown) { try await direct.value }
        await #expect(throws: ErrandError.shutDown) { _ = try await stream.value }
        await #expect(throws: ErrandError.shutDown) { try await leaving.run(GetText()) }
        #expect(other.state == .running && stub.open.count == 1)
        let later = staying.start(GetText())
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        await staying.shutdown()
        #expect(other.state == .succeeded && later.state == .succeeded)
        // Whoever has made the transport shuts it down.
        await withCheckedContinuation { continuation in stub.shutdown { continuation.resume() } }
    }

    private static var coalesced: RequestOverrides {
        var overrides = RequestOverrides()
        overrides.options = .coalesced
        return overrides
    }

    /// What is on its way from one transfer to the next goes no further.
    @Test func aRedirectDuringTheShutdown() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("/raw") ? .hold : .response(status: 200)
        }
        let client = Client.stubbed(stub)
        for _ in 0..<50 {
            let client = Client.stubbed(stub)
            let request = client.start(GetRaw())
            let id = try await stub.opened()
            let end = Task { stub.complete(id, with: .response(Response(statusCode: 302, headers: [.location: "/n"]))) }
            await client.shutdown(.cancel)
            _ = await end.value
            #expect(request.state == .succeeded || request.error == .shutDown || request.error == .redirectRefused)
            #expect(stub.open.isEmpty)
        }
        #expect(try await client.run(GetText()).isEmpty)
        await client.shutdown()
    }
}
