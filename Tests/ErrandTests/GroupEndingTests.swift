import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct GetNumber: Command {
    var number: Int
    var path: String { "\(number)" }
    struct Response: Decodable, Sendable, Equatable { var number: Int }
}

/// Every run of a group has an end, whoever brings it about.
@Suite(.timeLimit(.minutes(20))) struct GroupEndingTests {
    private static let answer = StubTransport.Answer.response(status: 200, body: #"{"number": 1}"#)

    private func end(of request: AnyRequest) async throws {
        try await waitUntil("the request has ended") { request.state.isFinished }
    }

    /// A chain that waits to try again has nothing in the transport that a shutdown could end.
    @Test(arguments: [Client.ShutdownMode.cancel, .drain(within: .milliseconds(20))])
    func aShutdownEndsTheWaitOfAChain(mode: Client.ShutdownMode) async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 500) })
        let inner = Chain(GetNumber(number: 1), onFailure: { _, _ in .retry(after: .seconds(600)) })
        let request = client.start(Batch([inner]))
        try await waitUntil("the first child is at rest") { request.children.first?.children.isEmpty == true }
        await client.callbacksDrained()
        await client.shutdown(mode)
        #expect(request.error == .shutDown)
    }

    /// Nor have children of another client.
    @Test func aShutdownEndsAGroupOfAnotherClientsRequests() async throws {
        let others = StubTransport()
        let (client, other) = (Client.stubbed(StubTransport()), Client.stubbed(others))
        let children = (0..<3).map { other.request(GetNumber(number: $0)) }
        let request = client.start(Batch(requests: children, policy: .collectAll, maxConcurrent: 2))
        #expect(others.open.count == 2)
        await client.shutdown(.cancel)
        #expect(request.error == .shutDown)
        #expect(children.map(\.state) == [.cancelled, .cancelled, .idle])
        #expect(others.open.isEmpty)
        // It is a client like before.
        let later = other.start(GetNumber(number: 1))
        others.complete(try await others.opened(), with: .response(Response(statusCode: 200)))
        try await end(of: later)
        await other.shutdown(.cancel)
    }

    @Test func anotherClientsShutdownFailsItsChildren() async throws {
        let (client, other) = (Client.stubbed(StubTransport { _ in Self.answer }), Client.stubbed(StubTransport()))
        let request = client.start(
            Batch(
                [BatchMember(GetNumber(number: 1)), BatchMember(other.request(GetNumber(number: 2)))],
                policy: .collectAll))
        await other.shutdown(.cancel)
        try await end(of: request)
        #expect(request.value?.values.count == 1)
        #expect(request.value?.failures.map(\.error) == [.shutDown])
        await client.shutdown(.cancel)
    }

    @Test func childrenOfTwoClients() async throws {
        let clients = (0..<2).map { _ in Client.stubbed(StubTransport { _ in Self.answer }) }
        let children = (0..<500).map { clients[$0 % 2].request(GetNumber(number: $0)) }
        let batch = clients[0].request(Batch(requests: children, maxConcurrent: 5))
        let told = Notes<Int>()
        batch.onAdvance { ended, _ in told.add(ended) }
        _ = try await batch.runWatched()
        #expect(batch.value?.values.count == 500)
        #expect(told.all.sorted() == Array(1...500))
        let steps = (0..<20).map { ChainStep(clients[$0 % 2].request(GetNumber(number: $0))) }
        #expect(try await clients[0].run(Chain(steps)).entries.count == 20)
        for client in clients { await client.shutdown(.cancel) }
    }

    /// Before the group's own start has returned there is nothing in flight that a stop could cancel.
    @Test func aStopWhileTheChildrenAreBeingStarted() async throws {
        let stub = StubTransport(delivery: .immediate) { _ in Self.answer }
        let client = Client.stubbed(stub) { $0.callbackQueue = .inline() }
        let batch = Mutex<AnyRequest?>(nil)
        let children = (0..<50).map { client.request(GetNumber(number: $0)) }
        let told = Notes<Int>()
        for (number, child) in children.enumerated() {
            child.whenDone(success: { _ in
                told.add(number)
                if number == 3 { batch.withLock { $0 }?.stop() }
            })
        }
        let request = client.request(Batch(requests: children, maxConcurrent: 10))
        batch.withLock { $0 = request }
        request.start()
        #expect(request.state == .cancelled)
        #expect(told.all == [0, 1, 2, 3])
        #expect(children[4...].allSatisfy { $0.state == .idle })
        await client.shutdown(.cancel)
    }

    /// What was made too late is not asked for.
    @Test func nothingIsMadeAfterAStop() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let made = Notes<Int>()
        let own = Mutex<AnyRequest?>(nil)
        let members = (0..<5).map { number in
            RequestGraph.Member("\(number)", after: []) { _ in
                made.add(number)
                if number == 1 { own.withLock { $0 }?.stop() }
                return GetNumber(number: number)
            }
        }
        let request = client.request(RequestGraph(members))
        own.withLock { $0 = request }
        request.start()
        try await end(of: request)
        #expect(request.state == .cancelled && made.all == [0, 1])
        #expect(stub.submitted.count == 1)
        await client.shutdown(.cancel)
    }

    @Test func aQuorumOfNoneIsReachedAtOnce() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let result = try await client.run(Batch((0..<3).map(GetNumber.init), policy: .quorum(0)))
        #expect(result.failures.map(\.error) == [.cancelled, .cancelled, .cancelled])
        #expect(stub.submitted.isEmpty)
        await client.shutdown(.cancel)
    }

    @Test func aStopBeforeTheStartDoesNothing() async throws {
        let client = Client.stubbed(StubTransport { _ in Self.answer })
        let request = client.request(Batch([GetNumber(number: 1)]))
        request.stop()
        request.pause()
        _ = try await request.runWatched()
        #expect(request.value?.values.count == 1)
        await client.shutdown(.cancel)
    }

    @Test func aGroupOfAShutDownClient() async throws {
        let client = Client.stubbed(StubTransport())
        await client.shutdown(.cancel)
        for request in [
            client.start(Batch([GetNumber(number: 1)])), client.start(Chain([])), client.start(RequestGraph([])),
        ] as [AnyRequest] {
            try await end(of: request)
            #expect(request.error == .shutDown)
        }
    }
}
