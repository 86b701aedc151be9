import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct Get: Command {
    var path = "a"
    typealias Response = String
}

/// Marks what runs on the thread that calls `start()` of a group, until `start()` returns. The callback queue has no
/// task-locals.
private enum StartingThread {
    @TaskLocal static var isPresent = false
}

/// What was found by trying to break groups.
@Suite(.timeLimit(.minutes(20))) struct GroupLimitTests {
    private func ended(_ request: AnyRequest) async throws {
        try await waitUntil("the request has ended") { request.state.isFinished }
    }

    /// Not asynchronous, so that `withValue` is not either.
    private func start(_ request: AnyRequest) {
        StartingThread.$isPresent.withValue(true) { _ = request.start() }
    }

    @Test func groupsWithinGroupsHaveALimit() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "x") })
        func nested(_ depth: Int) -> Batch<any Sendable> {
            var batch = Batch([BatchMember(Get())])
            for _ in 0..<depth { batch = Batch([BatchMember(batch)]) }
            return batch
        }
        await #expect(throws: Never.self) { try await client.run(nested(150)) }
        var error: ErrandError? = await #expect(throws: ErrandError.groupFailed) { try await client.run(nested(1000)) }
        while let inner = error?.groupFailure?.error { error = inner }
        #expect(error == .invalidArgument)
        await client.shutdown(.cancel)
    }

    @Test(arguments: [true, false]) func aRetryIsNoWayToOutliveAShutdown(isWaiting: Bool) async throws {
        let stub = StubTransport { _ in .response(status: 500) }
        let client = Client.stubbed(stub)
        let delay = isWaiting ? Duration.seconds(600) : .zero
        let request = client.start(Chain([ChainStep(Get(), onFailure: { _, _ in .retry(after: delay) })]))
        try await waitUntil("the step was sent") { !stub.submitted.isEmpty }
        await client.shutdown(.cancel)
        #expect(request.error == .shutDown)
    }

    @Test func anEndlessDelayIsNoTrap() async throws {
        let stub = StubTransport { _ in .response(status: 500) }
        let client = Client.stubbed(stub)
        let request = client.start(
            Chain([ChainStep(Get(), onFailure: { _, _ in .retry(after: .seconds(Int64.max)) })]))
        try await waitUntil("the step has failed") { stub.submitted.count == 1 && request.children.isEmpty }
        request.stop()
        try await ended(request)
        await client.shutdown(.cancel)
    }

    /// The thread that starts a group starts what may run at once, and no more.
    @Test func aStartReturnsSoon() async throws {
        let client = Client.stubbed(StubTransport(delivery: .immediate) { _ in .response(status: 200, body: "x") })
        let made = Notes<Bool>()
        let request = client.request(
            Batch(count: 500, maxConcurrent: 4) { _ -> Get in
                made.add(StartingThread.isPresent)
                return Get()
            })
        start(request)
        try await ended(request)
        #expect(made.all.count == 500)
        #expect(made.all.count(where: { $0 }) == 4)
        await client.shutdown(.cancel)
    }

    @Test func aFailedGroupHasNoResponseOfItsOwn() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 500) })
        let request = client.start(Batch([Get(), Get()]))
        try await ended(request)
        #expect(request.response == nil && request.metrics == nil && request.error?.statusCode == 500)
        #expect(request.error?.message == "child 0 failed: statusNotAccepted: the status is 500, expected 200-299")
        #expect(request.results.count == 2 && request.failedRequest != nil)
        let all = client.start(Batch([Get()], policy: .collectAll))
        try await ended(all)
        #expect(all.failedRequest == nil && all.value?.failures.count == 1)
        await client.shutdown(.cancel)
    }

    @Test func fewerThanNoChildrenAreAnError() async throws {
        let client = Client.stubbed(StubTransport())
        await #expect(throws: ErrandError.invalidArgument) {
            try await client.run(Batch(count: -5) { _ in Get() })
        }
        await client.shutdown(.cancel)
    }

    /// Another client's shutdown is that client's, whoever's group it is.
    @Test func childrenOfAClientThatDrains() async throws {
        let stub = StubTransport()
        let draining = Client.stubbed(stub)
        let client = Client.stubbed(StubTransport())
        let held = draining.start(Get())
        let id = try await stub.opened()
        async let drained: Void = draining.shutdown()
        try await waitUntil("the client is shut down") { draining.isShutDown }
        let request = client.start(Batch(requests: [draining.request(Get())]))
        try await ended(request)
        #expect(request.error?.groupFailure?.error == .shutDown && stub.submitted.count == 1)
        stub.complete(id, with: .response(Response(statusCode: 200)))
        await drained
        #expect(held.state == .succeeded)
        await client.shutdown(.cancel)
    }

    @Test func progressOfChildrenOfTwoClientsIsInOrder() async throws {
        let clients = (0..<2).map { _ in Client.stubbed(StubTransport { _ in .response(status: 200, body: "x") }) }
        for _ in 0..<50 {
            let told = Notes<Int>()
            let request = clients[0].request(Batch(requests: (0..<40).map { clients[$0 % 2].request(Get()) }))
            request.onAdvance { ended, _ in told.add(ended) }
            request.start()
            try await ended(request)
            await clients[0].callbacksDrained()
            #expect(told.all == Array(1...40))
        }
        for client in clients { await client.shutdown(.cancel) }
    }

    @Test func aChainIsStoppedByItsTurn() async throws {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "x") })
        let request = client.start(Chain([ChainStep(Get()) { $0.chain.stop() }, ChainStep(Get())]))
        try await ended(request)
        #expect(request.state == .cancelled && request.results.entries.count == 1)
        await client.shutdown(.cancel)
    }
}
