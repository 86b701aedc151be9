import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

/// What a group does to its children it does to the runs that it has started, and to no other run of the same requests.
@Suite(.timeLimit(.minutes(20))) struct GroupOwnershipTests {
    enum Order: CaseIterable { case stop, pause }

    /// The child has ended on its client's queue, the group has not heard of it yet, and the user runs it again.
    @Test(arguments: Order.allCases) func aRunOfTheUsersThatTheGroupDoesNotKnowOf(order: Order) async throws {
        let (stub, groupStub) = (StubTransport(), StubTransport())
        let (client, groupClient) = (Client.stubbed(stub), Client.stubbed(groupStub))
        let child = client.request(GetText())
        let other = groupClient.request(GetText())
        let group = groupClient.start(Batch(requests: [child, other], policy: .collectAll))
        let id = try await stub.opened()
        // The group's own queue is busy.
        let isLet = DispatchSemaphore(value: 0)
        groupClient.callbacks.async { isLet.wait() }
        stub.complete(id, with: .response(Response(statusCode: 200)))
        try await waitUntil("the request child is at rest") { child.isAtRest }
        #expect(child.start())
        let own = try await stub.opened()
        switch order {
        case .stop: group.stop()
        case .pause: group.pause()
        }
        #expect(child.state == .running && !stub.isPaused(own), "the run is the user's own")
        isLet.signal()
        group.stop()
        try await waitUntil("the request group has ended") { group.state.isFinished }
        #expect(child.state == .running)
        stub.complete(own, with: .response(Response(statusCode: 200)))
        await client.shutdown()
        #expect(child.state == .succeeded && other.state == .cancelled)
        await groupClient.shutdown(.cancel)
    }

    /// A stop of the group that comes while a child tells its end silences what the child has still to tell, and leaves
    /// alone the run that the child's user has asked for meanwhile.
    @Test func aStopWhileAChildTellsItsEnd() async throws {
        final class Restarter: RequestDelegate {
            let group = Mutex<AnyRequest?>(nil)
            func requestFinished(_ request: AnyRequest) {
                #expect(request.start())
                group.withLock { $0 }?.stop()
            }

            func requestFailed(_ request: AnyRequest) {}
        }
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let told = Notes<String>()
        let restarter = Restarter()
        let child = client.request(GetText())
        child.delegate = restarter
        child.whenDone(success: { _ in told.add("success") })
        let group = client.start(Batch(requests: [child]))
        restarter.group.withLock { $0 = group }
        stub.complete(try await stub.opened(), with: .response(Response(statusCode: 200)))
        try await waitUntil("the request group has ended") { group.state.isFinished }
        _ = try await stub.opened()
        #expect(group.state == .cancelled && told.all == [] && child.state == .running)
        child.delegate = nil
        restarter.group.withLock { $0 = nil }
        await client.shutdown(.cancel)
    }
}
