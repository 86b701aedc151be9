import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandModel

/// Where a client's user is called, and who waits for him.
@Suite(.timeLimit(.minutes(20))) struct CallbackPlaceTests {
    private static let key = DispatchSpecificKey<Int>()

    private final class Watcher: RequestDelegate, EventAccessory {
        let told = Notes<String>()
        private func note(_ what: String) {
            told.add("\(what) on \(DispatchQueue.getSpecific(key: key).map(String.init) ?? "another thread")")
        }
        func requestFinished(_ request: AnyRequest) { note("finished") }
        func requestFailed(_ request: AnyRequest) { note("failed") }
        func requestWillStop(_ request: AnyRequest) { note("will stop") }
        func requestDidStop(_ request: AnyRequest) { note("did stop") }
        func request(_ request: AnyRequest, did event: RequestEvent) {
            if case .head = event { note("head") }
        }

        func requestWillStart(_ request: AnyRequest) {}
    }

    private func client(_ stub: StubTransport, _ change: (inout Client.Configuration) -> Void = { _ in }) -> Client {
        let queue = DispatchQueue(label: "own")
        queue.setSpecific(key: Self.key, value: 7)
        return Client.stubbed(stub) {
            $0.callbackQueue = .dispatchQueue(queue)
            change(&$0)
        }
    }

    enum Form: CaseIterable { case value, stream }
    enum End: CaseIterable { case success, failure, stop }

    private static func wait(_ form: Form, on client: Client) async throws {
        switch form {
        case .value: _ = try await client.run(GetText())
        case .stream: for try await _ in try await client.stream(GetText()).body {}
        }
    }

    /// A delegate that is set on a request which was found in ``Client/requests``.
    @Test(arguments: Form.allCases, End.allCases)
    func aDelegateOfARequestThatATaskWaitsFor(form: Form, end: End) async throws {
        let stub = StubTransport()
        let client = client(stub) { $0.reportsStops = true }
        let task = Task { try await Self.wait(form, on: client) }
        let id = try await stub.opened()
        let watcher = Watcher()
        let request = try #require(client.requests.first)
        request.delegate = watcher
        switch end {
        case .success: stub.complete(id, with: .response(Response(statusCode: 200)))
        case .failure: stub.complete(id, with: .failure(.connectFailed))
        case .stop: request.stop()
        }
        let result = await task.result
        // Returns when the request has told its end.
        await client.shutdown()
        #expect(watcher.told.all == [end == .success ? "finished on 7" : "failed on 7"])
        if end == .success { #expect(throws: Never.self) { try result.get() } }
    }

    /// Promise 3, where the callback queue stops the request before the delegate's turn.
    @Test func aStopOnTheCallbackQueueSilencesTheDelegate() async throws {
        let stub = StubTransport()
        let client = client(stub)
        let task = Task { try await client.run(GetText()) }
        let id = try await stub.opened()
        let watcher = Watcher()
        let request = try #require(client.requests.first)
        request.delegate = watcher
        let isHeld = DispatchSemaphore(value: 0)
        client.callbacks.async {
            isHeld.wait()
            request.stop()
        }
        stub.complete(id, with: .response(Response(statusCode: 200, body: Array("a".utf8))))
        #expect(try await task.value == "a")
        isHeld.signal()
        await client.shutdown()
        #expect(watcher.told.all == [])
    }

    /// Accessories of a stream are called on the callback queue, and in order.
    @Test func accessoriesOfAStream() async throws {
        let stub = StubTransport()
        let watcher = Watcher()
        let client = client(stub) { $0.accessories = [watcher] }
        let task = Task { try await client.stream(GetText()).body.collect(upTo: 10) }
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        stub.sendChunk([1], to: id)
        stub.end(id)
        #expect(try await task.value == [1])
        await client.shutdown()
        #expect(watcher.told.all == ["head on 7", "will stop on 7", "did stop on 7"])
    }

    /// The reader that a body's failure ends lets go of the request before the delegate's turn: that is no stop.
    @Test func aDelegateIsToldOfABodyThatBreaksOff() async throws {
        let stub = StubTransport()
        let client = client(stub)
        let task = Task { try await client.stream(GetText()).body.collect(upTo: 10) }
        let id = try await stub.opened()
        let watcher = Watcher()
        try #require(client.requests.first).delegate = watcher
        let isHeld = DispatchSemaphore(value: 0)
        client.callbacks.async { isHeld.wait() }
        stub.sendHead(200, to: id)
        stub.sendChunk([1], to: id)
        stub.complete(id, with: .failure(.partialBody))
        await #expect(throws: ErrandError.self) { try await task.value }
        isHeld.signal()
        await client.shutdown()
        #expect(watcher.told.all == ["failed on 7"])
    }

    /// A closure that takes its time on the callback queue holds up no reader of a stream.
    @Test(arguments: [false, true]) func aSlowClosureStallsNoStream(isWatched: Bool) async throws {
        let stub = StubTransport()
        let client = client(stub) { if isWatched { $0.accessories = [Watcher()] } }
        let isLet = DispatchSemaphore(value: 0)
        let isOver = Atomic(false)
        client.callbacks.async {
            // Bounded, so that a stream that does wait for it fails the test in place of hanging.
            _ = isLet.wait(timeout: .now() + .seconds(600))
            isOver.store(true, ordering: .releasing)
        }
        let opened = Task { try await client.stream(GetText()) }
        let id = try await stub.opened()
        stub.sendHead(200, to: id)
        let response = try await opened.value
        var body = response.body.makeAsyncIterator()
        stub.sendChunk([1], to: id)
        #expect(try await body.next() == [1])
        if !isWatched {
            stub.end(id)
            #expect(try await body.next() == nil)
        }
        let hasWaited = isOver.load(ordering: .acquiring)
        #expect(!hasWaited, "the stream has waited for the closure")
        isLet.signal()
        if isWatched { stub.end(id) }
        await client.shutdown()
    }

    @Test func aSlowClosureStallsNoCachedValues() async throws {
        let stub = StubTransport { _ in .response(status: 200, body: "a") }
        let client = client(stub)
        let isLet = DispatchSemaphore(value: 0)
        let isOver = Atomic(false)
        client.callbacks.async {
            _ = isLet.wait(timeout: .now() + .seconds(600))
            isOver.store(true, ordering: .releasing)
        }
        for try await value in client.values(of: GetText()) { #expect(value == "a") }
        let hasWaited = isOver.load(ordering: .acquiring)
        #expect(!hasWaited, "the values have waited for the closure")
        isLet.signal()
        await client.shutdown()
    }
}
