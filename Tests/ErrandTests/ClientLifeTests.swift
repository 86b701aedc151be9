import Dispatch
import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

private typealias Machine = ClientStateMachine

@Suite struct ClientLifeTests {
    @Test func machineDrains() {
        var machine = Machine()
        #expect(machine.requestStarted() == true)
        #expect(machine.shutdownRequested(drain: true) == .startDrainTimer)
        #expect(machine.requestStarted() == false)
        #expect(machine.requestEnded() == .none)
        #expect(machine.requestEnded() == .stopTransport)
        #expect(machine.drainExpired() == .none)
        #expect(machine.transportStopped() == .finish)
        #expect(machine.shutdownRequested(drain: true) == .finish)
        #expect(machine.state == .stopped)
    }

    /// Requests that drain may need a credential.
    @Test func machineDrainsRefreshes() {
        var machine = Machine()
        #expect(machine.requestStarted(isAwaited: false) == true)
        #expect(machine.shutdownRequested(drain: true) == .startDrainTimer)
        #expect(machine.requestStarted(isAwaited: true) == true)
        #expect(machine.requestEnded() == .none)
        #expect(machine.requestEnded() == .stopTransport)
        #expect(machine.requestStarted(isAwaited: true) == false)
        #expect(machine.requestEnded() == .none)
        #expect(machine.transportStopped() == .finish)
        #expect(machine.requestStarted(isAwaited: true) == false)
    }

    @Test func machineWaitsForTheLastRequestAfterTheTransport() {
        var machine = Machine()
        _ = machine.requestStarted()
        #expect(machine.shutdownRequested(drain: false) == .stopTransport)
        #expect(machine.shutdownRequested(drain: false) == .none)
        #expect(machine.transportStopped() == .none)
        #expect(machine.transportStopped() == .none)
        #expect(machine.requestEnded() == .finish)
    }

    @Test func machineTurnsADrainIntoACancel() {
        var machine = Machine()
        _ = machine.requestStarted()
        #expect(machine.shutdownRequested(drain: true) == .startDrainTimer)
        #expect(machine.shutdownRequested(drain: false) == .stopTransport)
        #expect(machine.drainExpired() == .none)
        #expect(machine.requestEnded() == .none)
        #expect(machine.transportStopped() == .finish)
    }

    @Test func machineToleratesATransportThatStopsByItself() {
        var machine = Machine()
        #expect(machine.transportStopped() == .none)
        #expect(machine.drainExpired() == .none)
        #expect(machine.state == .running)
        #expect(machine.shutdownRequested(drain: true) == .stopTransport)
    }

    @Test func drainLetsRequestsEndAndRefusesNewOnes() async {
        let stub = StubTransport()
        let clock = ManualClock()
        let client = Client.stubbed(stub) { $0.clock = clock }
        let request = client.start(GetText())
        let shutdown = Task { await client.shutdown(.drain(within: .seconds(5))) }
        await clock.sleepers(1)
        #expect(client.isShutDown)
        await #expect(throws: ErrandError.shutDown) { try await client.run(GetText()) }
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        await shutdown.value
        #expect(request.state == .succeeded)
        clock.advance(by: .seconds(5))
    }

    /// As long as that the clock's own addition would overflow.
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
    func absurdDrainTimesAreBorne(time: Duration) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(GetText())
        let shutdown = Task { await client.shutdown(.drain(within: time)) }
        try await waitUntil("the client is shut down") { client.isShutDown }
        await allowTime(for: "a trap in the task of the timer")
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        await shutdown.value
        #expect(request.state.isFinished)
    }

    @Test func drainEndsWhatIsLeft() async {
        let stub = StubTransport()
        let clock = ManualClock()
        let client = Client.stubbed(stub) { $0.clock = clock }
        let request = client.start(GetText())
        let shutdown = Task { await client.shutdown(.drain(within: .seconds(5))) }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(4999))
        #expect(request.state == .running)
        clock.advance(by: .milliseconds(1))
        await shutdown.value
        #expect(request.error == .shutDown)
    }

    @Test func cancelEndsEverythingAndMayBeRepeated() async {
        let client = Client.stubbed(StubTransport())
        let requests = (0..<50).map { _ in client.start(GetText()) }
        let waiting = Task { try await client.run(GetText()) }
        async let first: Void = client.shutdown(.cancel)
        async let second: Void = client.shutdown(.cancel)
        _ = await (first, second)
        await client.shutdown()
        #expect(requests.allSatisfy { $0.error == .shutDown })
        await #expect(throws: ErrandError.shutDown) { try await waiting.value }
    }

    @Test func shutdownFromACallback() async {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        await withCheckedContinuation { continuation in
            client.start(
                GetText(),
                success: { _ in
                    client.shutdown(.drain(within: .seconds(60))) { continuation.resume() }
                })
        }
    }

    @Test func callbacksOnAQueueOfTheCallers() async {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "own")
        queue.setSpecific(key: key, value: 7)
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) {
            $0.callbackQueue = .dispatchQueue(queue)
        }
        let seen = await withCheckedContinuation { continuation in
            client.start(
                GetText(),
                success: { _ in
                    continuation.resume(returning: DispatchQueue.getSpecific(key: key))
                })
        }
        #expect(seen == 7)
    }

    // MARK: Memory

    private final class Token: Sendable {}

    @Test func requestsClientsAndClosuresAreReleased() async throws {
        weak var weakClient: Client?
        weak var weakRequest: Request<GetText>?
        weak var weakToken: Token?
        await {
            let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
            let token = Token()
            let request = client.request(GetText())
            await withCheckedContinuation { continuation in
                request.start(completion: { [request] _ in
                    withExtendedLifetime((token, request)) {}
                    continuation.resume()
                })
            }
            weakClient = client
            weakRequest = request
            weakToken = token
            await client.callbacksDrained()
        }()
        #expect(weakToken == nil)
        // A thread that has called a callback may hold them for another moment.
        try await waitUntil("the request and the client are gone") { weakRequest == nil && weakClient == nil }
    }

    @Test func aDroppedRequestRunsToItsEnd() async {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let told = Notes<Int>()
        weak var request: Request<GetText>?
        do { request = client.start(GetText(), success: { _ in told.add(1) }) }
        #expect(request != nil)
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        await client.shutdown()
        #expect(told.all == [1])
    }

    @Test func aDroppedClientLivesUntilItsRequestsHaveEnded() async {
        let stub = StubTransport()
        weak var weakClient: Client?
        let told = AsyncStream.makeStream(of: Void.self)
        do {
            let client = Client.stubbed(stub)
            weakClient = client
            client.start(GetText(), success: { _ in told.continuation.yield() })
        }
        #expect(weakClient != nil)
        stub.completeAll { _ in .response(Response(statusCode: 200)) }
        for await _ in told.stream { break }
    }
}
