import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandEngine
@testable import ErrandModel

/// Takes its time, on a queue of its own.
private final class Slow: EventAccessory {
    let callbackQueue: CallbackQueue? = .serial(label: "slow")
    let gate = DispatchSemaphore(value: 0)
    let told = Notes<String>()

    func requestWillStart(_ request: AnyRequest) {
        gate.wait()
        told.add("willStart")
    }
    func requestWillStop(_ request: AnyRequest) { told.add("willStop") }
    func requestDidStop(_ request: AnyRequest) { told.add("didStop") }
    func request(_ request: AnyRequest, did event: RequestEvent) throws {
        if case .queued = event { told.add("queued") }
        if case .progress = event { told.add("progress") }
        throw ErrandError.internalFailure
    }
}

/// Notes the URLs of events, on a queue of its own that waits first.
private final class URLNotes: EventAccessory {
    let callbackQueue = CallbackQueue.serial(label: "urls")
    let gate = DispatchSemaphore(value: 0)
    let told = Notes<String>()

    func requestWillStart(_ request: AnyRequest) { gate.wait() }
    func request(_ request: AnyRequest, did event: RequestEvent) {
        switch event {
        case .queued(let description): told.add("queued \(description.url)")
        case .sent(let description): told.add("sent \(description.url)")
        case .redirected(let attempt, let url): told.add("\(attempt.url) to \(url)")
        default: break
        }
    }

    func requestWillStop(_ request: AnyRequest) {}
    func requestDidStop(_ request: AnyRequest) {}
}

/// Stops its request with the first progress that it hears of.
private final class Stopper: EventAccessory {
    let told = Notes<TransferProgress>()
    func request(_ request: AnyRequest, did event: RequestEvent) {
        guard case .progress(let progress) = event else { return }
        told.add(progress)
        request.stop()
    }

    func requestWillStart(_ request: AnyRequest) {}
    func requestWillStop(_ request: AnyRequest) {}
    func requestDidStop(_ request: AnyRequest) {}
}

@Suite(.timeLimit(.minutes(20))) struct AccessoryQueueTests {
    @Test func aSlowOneOnItsOwnQueueDelaysNobody() async throws {
        let slow = Slow()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200, body: "v") }) {
            $0.accessories = [slow]
        }
        // Neither the one that it watches nor another waits for it.
        #expect(try await client.run(GetText()) == "v")
        #expect(try await client.run(GetText()) == "v")
        #expect(slow.told.all.isEmpty)
        slow.gate.signal()
        slow.gate.signal()
        try await waitUntil("8 events were told") { slow.told.all.count >= 8 }
        #expect(Array(slow.told.all.prefix(4)) == ["willStart", "queued", "willStop", "didStop"])
        #expect(Array(slow.told.all.suffix(4)) == ["willStart", "queued", "willStop", "didStop"])
        await client.shutdown(.cancel)
    }

    /// `errand fetch -v` printed the second hop's URL for the first, where its queue was slower than the transfers.
    @Test func eventsNameTheirOwnTransfer() async throws {
        let stub = StubTransport()
        let urls = URLNotes()
        let client = Client.stubbed(stub) { $0.accessories = [urls] }
        let request = client.request(GetText())
        request.start()
        try await waitUntil("a transfer is open") { !stub.open.isEmpty }
        let first = stub.submitted[0].url
        stub.send(.sent, to: stub.open[0])
        stub.complete(
            stub.open[0], with: .response(Response(statusCode: 307, headers: [.location: "/there"], body: [])))
        try await waitUntil("2 transfers were submitted and one is open") {
            stub.submitted.count >= 2 && !stub.open.isEmpty
        }
        let second = stub.submitted[1].url
        #expect(second != first)
        stub.send(.sent, to: stub.open[0])
        stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: [])))
        try await waitUntil("the request has ended") { request.state.isFinished }
        urls.gate.signal()
        try await waitUntil("5 events were told") { urls.told.all.count >= 5 }
        #expect(
            urls.told.all == [
                "queued \(first)", "sent \(first)", "\(first) to \(second)", "queued \(second)", "sent \(second)",
            ])
        await client.shutdown(.cancel)
    }

    /// What was under way to the callback queue when the request was stopped there is not told.
    @Test func nothingIsToldAfterAStop() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let stopper = Stopper()
        let closure = Notes<TransferProgress>()
        let request = client.request(GetText())
        request.addAccessory(stopper)
        request.onProgress { closure.add($0) }
        let held = DispatchSemaphore(value: 0)
        request.start()
        client.callbacks.async { held.wait() }
        for bytes in 1...5 { stub.send(.progress(TransferProgress(bytesReceived: UInt64(bytes))), to: stub.open[0]) }
        held.signal()
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(stopper.told.all.map(\.bytesReceived) == [1])
        // The event that the stop came from goes on to those who stand behind.
        #expect(closure.all.count <= 1)
        await client.shutdown(.cancel)
    }

    /// One run of several transfers: no number falls, and a redirect's own body is no progress.
    @Test func progressOfARunNeverFalls() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let told = Notes<TransferProgress>()
        let request = client.request(GetText(method: .put))
        request.onProgress { told.add($0) }
        request.start()
        func send(_ sent: UInt64, _ received: UInt64, of length: UInt64?) {
            let progress = TransferProgress(
                bytesSent: sent, bytesReceived: received, bytesToSend: 100, bytesToReceive: length)
            stub.send(.progress(progress), to: stub.open[0])
        }
        send(60, 0, of: nil)
        send(100, 0, of: nil)
        stub.send(.head(Response(statusCode: 307)), to: stub.open[0])
        send(100, 50, of: 50)
        stub.complete(
            stub.open[0],
            with: .response(Response(statusCode: 307, headers: [.location: "/there"], body: [])))
        try await waitUntil("2 transfers were submitted and one is open") {
            stub.submitted.count >= 2 && !stub.open.isEmpty
        }
        send(30, 0, of: nil)
        send(100, 0, of: nil)
        stub.send(.head(Response(statusCode: 200)), to: stub.open[0])
        send(100, 400, of: 1000)
        send(100, 1000, of: 1000)
        stub.complete(stub.open[0], with: .response(Response(statusCode: 200, body: [])))
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(told.all.map(\.bytesSent) == [60, 100, 100, 100, 100, 100])
        #expect(told.all.map(\.bytesReceived) == [0, 0, 0, 0, 400, 1000])
        #expect(told.all.last?.bytesToReceive == 1000)
        await client.shutdown(.cancel)
    }

    /// A redirecting response that is the response has its progress told.
    @Test func aRedirectThatIsTakenEndsAtItsTotal() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let told = Notes<TransferProgress>()
        let request = client.request(GetRaw(redirects: .doNotFollow))
        request.onProgress { told.add($0) }
        request.start()
        stub.send(.head(Response(statusCode: 302)), to: stub.open[0])
        stub.send(.progress(TransferProgress(bytesReceived: 50, bytesToReceive: 50)), to: stub.open[0])
        stub.complete(stub.open[0], with: .response(Response(statusCode: 302, body: [])))
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(told.all == [TransferProgress(bytesReceived: 50, bytesToReceive: 50)])
        await client.shutdown(.cancel)
    }
}
