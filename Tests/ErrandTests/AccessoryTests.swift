import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient

private final class Delegate: RequestDelegate {
    let told = Notes<String>()
    func requestFinished(_ request: AnyRequest) { told.add("finished") }
    func requestFailed(_ request: AnyRequest) { told.add("failed") }
}

@Suite struct AccessoryTests {
    private func run(
        _ answer: StubTransport.Answer, stop: Bool = false, path: String = "x"
    ) async -> (events: [RecordingAccessory.Event], id: UInt64, balanced: Bool) {
        let accessory = RecordingAccessory()
        let client = Client.stubbed(StubTransport { _ in answer })
        let request = client.request(GetText(path: path))
        request.addAccessory(accessory)
        request.start()
        if stop { request.stop() }
        await client.shutdown()
        return (accessory.events, request.id, accessory.isBalanced)
    }

    @Test func balancedOnEveryPath() async {
        let runs = [
            await run(.response(status: 200)), await run(.response(status: 500)), await run(.failure(.timeoutIdle)),
            await run(.refuse(.queueFull)), await run(.hold, stop: true), await run(.hold, path: "a\0b"),
        ]
        for (events, id, balanced) in runs {
            #expect(events == [.willStart(id), .willStop(id), .didStop(id)])
            #expect(balanced)
        }
    }

    @Test func toldOfAsyncRequestsAndRestarts() async throws {
        let accessory = RecordingAccessory()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) { $0.accessories = [accessory] }
        _ = try await client.run(GetText())
        let request = client.request(GetText())
        for _ in 0..<2 {
            await withCheckedContinuation { continuation in
                request.start(completion: { _ in continuation.resume() })
            }
            await client.callbacksDrained()
        }
        #expect(accessory.events.count == 9)
        #expect(accessory.isBalanced)
    }

    /// Delegate first, then the closure, between `willStop` and `didStop`.
    @Test func order() async {
        let order = Notes<String>()
        let accessory = RecordingAccessory { _ in order.add("willStop") }
        let delegate = Delegate()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        let request = client.request(GetText())
        request.addAccessory(accessory)
        request.delegate = delegate
        request.start(success: { _ in
            for call in delegate.told.all { order.add(call) }
            order.add("success")
            #expect(accessory.events.count == 2)
        })
        await client.shutdown()
        #expect(order.all == ["willStop", "finished", "success"])
        #expect(accessory.events.count == 3)
    }

    @Test func stopInsideWillStopKeepsTheRestSilent() async {
        let accessory = RecordingAccessory { $0.stop() }
        let delegate = Delegate()
        let told = Notes<String>()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) { $0.accessories = [accessory] }
        let request = client.request(GetText())
        request.delegate = delegate
        request.start(success: { _ in told.add("s") }, failure: { _ in told.add("f") })
        await client.shutdown()
        #expect(told.all == [])
        #expect(delegate.told.all == [])
        #expect(request.state == .cancelled)
        #expect(accessory.isBalanced)
    }

    /// No lock of ours is held while user code runs: each of these would deadlock otherwise.
    @Test func requestsMayBeUsedInsideCallbacks() async {
        let accessory = RecordingAccessory { request in
            _ = (request.state, request.response, request.error, request.attempts, request.metrics)
            request.addAccessory(RecordingAccessory())
        }
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) { $0.accessories = [accessory] }
        await withCheckedContinuation { continuation in
            client.start(
                GetText(),
                success: { request in
                    _ = (request.value, request.result, request.state)
                    request.stop()
                    continuation.resume()
                })
        }
        await client.shutdown()
        #expect(accessory.isBalanced)
    }

    @Test func theDelegateIsWeak() {
        let client = Client.stubbed(StubTransport())
        let request = client.request(GetText())
        do { request.delegate = Delegate() }
        #expect(request.delegate == nil)
    }
}
