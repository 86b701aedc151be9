import Dispatch
import Errand
import ErrandTesting
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient

private final class Delegate: RequestDelegate {
    private let onFinished: @Sendable (AnyRequest) -> Void
    init(_ onFinished: @escaping @Sendable (AnyRequest) -> Void) { self.onFinished = onFinished }
    func requestFinished(_ request: AnyRequest) { onFinished(request) }

    func requestFailed(_ request: AnyRequest) {}
}

/// A transport whose `pause` waits to be let through, as a thread may at any time.
private final class SlowPause: TransportWithoutStreams {
    let stub = StubTransport()
    let entered = DispatchSemaphore(value: 0)
    let leave = DispatchSemaphore(value: 0)

    func submit(_ description: RequestDescription, for receiver: TransferReceiver) throws(ErrandError) -> TransferID {
        try stub.submit(description, for: receiver)
    }
    func cancel(_ id: TransferID) { stub.cancel(id) }
    func pause(_ id: TransferID) {
        entered.signal()
        leave.wait()
        stub.pause(id)
    }
    func resume(_ id: TransferID) { stub.resume(id) }
    func shutdown(_ stopped: @escaping @Sendable () -> Void) { stub.shutdown(stopped) }
}

/// Looks at its request when it dies, which needs the request's lock.
private final class Nosy: Sendable {
    private let look: @Sendable () -> Void
    init(_ look: @escaping @Sendable () -> Void) { self.look = look }
    deinit { look() }
}

private struct GetNosy: Command {
    let make: @Sendable () throws -> Nosy
    var path: String { "nosy" }
    typealias Response = Nosy
    func decode(_ response: Errand.Response) throws -> Nosy { try make() }
}

private struct NosyError: Error {
    let nosy: Nosy
}

/// What happens around the end of a run: stops, restarts and the order of what is told.
@Suite struct RequestTellingTests {
    @Test func aPauseThatComesLateDoesNotOutliveTheResume() async throws {
        let transport = SlowPause()
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        let request = client.start(GetText())
        let id = try #require(transport.stub.open.first)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                request.pause()
                continuation.resume()
            }
            DispatchQueue.global().async {
                transport.entered.wait()
                request.resume()
                transport.leave.signal()
            }
        }
        #expect(request.state == .running)
        #expect(!transport.stub.isPaused(id))
        await client.shutdown(.cancel)
    }

    /// What they hold asks the request something in its `deinit`, which would wait for the lock for ever.
    @Test func closuresThatAreReplacedDieOutsideTheLock() async {
        let transport = StubTransport()
        let client = Client(configuration: .init(baseURL: "http://test/"), transport: transport)
        let died = Mutex(0)
        let request = client.request(GetText())
        func noteDeath(_ nosy: Nosy) -> @Sendable (Request<GetText>) -> Void { { _ in _ = nosy } }
        func nosy() -> Nosy {
            Nosy {
                _ = request.state
                died.withLock { $0 += 1 }
            }
        }
        request.whenDone(success: noteDeath(nosy()), failure: noteDeath(nosy()))
        request.whenDone(success: noteDeath(nosy()))
        let dead = died.withLock { $0 }
        #expect(dead == 2)
        #expect(request.start(success: nil))
        let all = died.withLock { $0 }
        #expect(all == 3)
        await client.shutdown(.cancel)
    }

    @Test func aRequestStoppedInWillStartIsNotSent() async {
        final class Stopper: Accessory {
            func requestWillStart(_ request: AnyRequest) { request.stop() }

            func requestWillStop(_ request: AnyRequest) {}
            func requestDidStop(_ request: AnyRequest) {}
        }
        let stub = StubTransport { _ in .response(status: 200) }
        let record = RecordingAccessory()
        let client = Client.stubbed(stub) { $0.accessories = [Stopper(), record] }
        let told = Notes<String>()
        let request = client.start(GetText(), completion: { _ in told.add("told") })
        await #expect(throws: CancellationError.self) { try await client.run(GetText()) }
        await client.shutdown()
        #expect(request.state == .cancelled)
        #expect(told.all == [])
        #expect(stub.submitted.isEmpty)
        #expect(record.events.count == 6)
        #expect(record.isBalanced)
    }

    /// The task is cancelled after `run` looked and before the request is handed over: while its command is read.
    @Test(arguments: [true, false])
    func aTaskCancelledBeforeTheSubmitSendsNothing(isWatched: Bool) async {
        struct CancelsItself: Command {
            var path: String {
                withUnsafeCurrentTask { $0?.cancel() }
                return "x"
            }
        }
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub) { if isWatched { $0.accessories = [RecordingAccessory()] } }
        let task = Task { try await client.run(CancelsItself()) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.submitted.isEmpty)
        await client.shutdown()
    }

    @Test func aRestartFromACallbackBeginsAfterDidStop() async {
        let accessory = RecordingAccessory()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) { $0.accessories = [accessory] }
        let request = client.request(GetText())
        await withCheckedContinuation { continuation in
            request.start(completion: { request in
                let begins = request.start(completion: { _ in continuation.resume() })
                #expect(begins)
                #expect(accessory.events.count == 2)
                #expect(request.state == .succeeded)
            })
        }
        await client.shutdown()
        #expect(accessory.events.count == 6)
        #expect(accessory.isBalanced)
    }

    /// The start of another thread between the end and the closure does not show the closure the new run.
    @Test func theClosureSeesTheRunItBelongsTo() async {
        let stub = StubTransport { _ in .response(status: 200, body: "old") }
        let client = Client.stubbed(stub)
        let request = client.request(GetText())
        let delegate = Delegate { request in #expect(request.start()) }
        request.delegate = delegate
        let seen: [String?] = await withCheckedContinuation { continuation in
            request.start(completion: { request in
                request.delegate = nil
                continuation.resume(returning: [request.value, "\(request.state)"])
            })
        }
        #expect(seen == ["old", "succeeded"])
        await client.shutdown()
        #expect(stub.submitted.count == 2)
        withExtendedLifetime(delegate) {}
    }

    @Test func aRestartThatIsStoppedIsToldAndNotSent() async {
        let accessory = RecordingAccessory()
        let stub = StubTransport { _ in .response(status: 200) }
        let client = Client.stubbed(stub) {
            $0.accessories = [accessory]
            $0.reportsStops = true
        }
        let request = client.request(GetText())
        let error = await withCheckedContinuation { continuation in
            request.start(completion: { request in
                request.start(completion: { continuation.resume(returning: $0.error) })
                request.stop()
            })
        }
        #expect(error == .cancelled)
        await client.shutdown()
        #expect(stub.submitted.count == 1)
        #expect(accessory.isBalanced)
    }

    @Test(arguments: [true, false])
    func aStopInTheDelegateSilencesTheClosure(reportsStops: Bool) async {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) { $0.reportsStops = reportsStops }
        let told = Notes<String>()
        let delegate = Delegate { $0.stop() }
        for usesCompletion in [true, false] {
            let request = client.request(GetText())
            request.delegate = delegate
            if usesCompletion {
                request.start(completion: { _ in told.add("completion") })
            } else {
                request.start(success: { _ in told.add("success") })
            }
        }
        await client.shutdown()
        #expect(told.all.count == (reportsStops ? 2 : 0))
        withExtendedLifetime(delegate) {}
    }

    @Test func accessoriesOfARequestAreReleasedAtItsEnd() async {
        final class Keeper: Accessory {
            let request = Mutex<AnyRequest?>(nil)

            func requestWillStart(_ request: AnyRequest) {}
            func requestWillStop(_ request: AnyRequest) {}
            func requestDidStop(_ request: AnyRequest) {}
        }
        weak var keeper: Keeper?
        weak var kept: AnyRequest?
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        do {
            let request = client.request(GetText())
            let made = Keeper()
            made.request.withLock { $0 = request }
            request.addAccessory(made)
            (keeper, kept) = (made, request)
            request.start()
        }
        await client.shutdown()
        await client.callbacksDrained()
        #expect(keeper == nil)
        #expect(kept == nil)
    }

    /// Values and errors of an earlier run die with no lock held.
    @Test(.timeLimit(.minutes(20)), arguments: [true, false])
    func theDeinitOfAValueMayAskTheRequest(succeeds: Bool) async {
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        let looks = Notes<RequestState>()
        let box = Notes<Request<GetNosy>>()
        let request = client.request(
            GetNosy {
                let nosy = Nosy { for request in box.all { looks.add(request.state) } }
                if succeeds { return nosy }
                throw NosyError(nosy: nosy)
            })
        box.add(request)
        for _ in 0..<3 {
            await withCheckedContinuation { continuation in
                request.start(completion: { _ in continuation.resume() })
            }
            await client.callbacksDrained()
        }
        #expect(looks.all.count == 2)
        await client.shutdown()
    }

    /// Decoded and not told, as the request is stopped when its accessories hear that it ends: nobody sees the value, and
    /// it dies with no lock held.
    @Test(.timeLimit(.minutes(20))) func aValueThatIsNotToldIsLetGo() async {
        final class Stopper: Accessory {
            let values = Notes<Bool>()
            func requestWillStop(_ request: AnyRequest) {
                if let request = request as? Request<GetNosy> { values.add(request.value != nil) }
                request.stop()
            }

            func requestWillStart(_ request: AnyRequest) {}
            func requestDidStop(_ request: AnyRequest) {}
        }
        let stopper = Stopper()
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) }) { $0.accessories = [stopper] }
        let looks = Notes<RequestState>()
        let box = Notes<Request<GetNosy>>()
        let request = client.request(GetNosy { Nosy { for request in box.all { looks.add(request.state) } } })
        box.add(request)
        for run in 1...2 {
            request.start()
            await client.callbacksDrained()
            #expect(request.state == .cancelled)
            #expect(request.value == nil)
            #expect(request.error == .cancelled)
            #expect(looks.all.count == run)
        }
        #expect(stopper.values.all == [false, false])
        await client.shutdown()
    }

    @Test func onlyTheFirstHopIsARefusal() async throws {
        let stub = StubTransport { description in
            description.url.hasSuffix("/raw")
                ? .response(status: 302, headers: [.location: "/next"]) : .refuse(.invalidURL)
        }
        let client = Client.stubbed(stub)
        let request = await withCheckedContinuation { continuation in
            client.start(GetRaw(), completion: { continuation.resume(returning: $0) })
        }
        let error = try #require(request.error)
        #expect(error == .redirectRefused)
        #expect(!error.isRefusal)
        #expect(error.statusCode == 302)
        #expect(error.underlyingError as? ErrandError == .invalidURL)
        guard case .failure(let first) = await client.result(of: GetText()) else { return #expect(Bool(false)) }
        #expect(first == .invalidURL)
        #expect(first.isRefusal)
        await client.shutdown()
        guard case .failure(let late) = await client.result(of: GetText()) else { return #expect(Bool(false)) }
        #expect(late == .shutDown)
        #expect(late.isRefusal)
    }

    @Test func aShutdownBeneathARunningRequestIsNoRefusal() async throws {
        let client = Client.stubbed(StubTransport())
        let request = client.start(GetText())
        await client.shutdown(.cancel)
        let error = try #require(request.error)
        #expect(error == .shutDown)
        #expect(!error.isRefusal)
    }
}
