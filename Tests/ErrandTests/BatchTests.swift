import Errand
import ErrandTesting
import HTTPTypes
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

private final class Watcher: Accessory, RequestDelegate {
    let order: Notes<String>
    let name: String
    init(_ name: String, _ order: Notes<String>) {
        self.name = name
        self.order = order
    }
    func requestWillStart(_ request: AnyRequest) { order.add("\(name) willStart") }
    func requestWillStop(_ request: AnyRequest) { order.add("\(name) willStop") }
    func requestDidStop(_ request: AnyRequest) { order.add("\(name) didStop") }
    func requestFinished(_ request: AnyRequest) { order.add("\(name) finished") }
    func requestFailed(_ request: AnyRequest) { order.add("\(name) failed") }
}

@Suite(.timeLimit(.minutes(20))) struct BatchTests {
    /// Answers with the number that was asked for; what `failing` names, with 500.
    private func client(
        failing: Set<Int> = [], _ change: (inout Client.Configuration) -> Void = { _ in }
    ) -> (Client, StubTransport) {
        let stub = StubTransport { description in
            let number = Int(description.url.split(separator: "/").last ?? "") ?? -1
            return .response(status: failing.contains(number) ? 500 : 200, body: "{\"number\": \(number)}")
        }
        return (Client.stubbed(stub, change), stub)
    }

    @Test func resultsComeInTheOrderOfTheirCommands() async throws {
        let (client, stub) = client()
        let result = try await client.run(Batch((0..<200).map(GetNumber.init), maxConcurrent: 7))
        #expect(result.values.map(\.number) == Array(0..<200))
        #expect(result.failures.isEmpty)
        #expect(stub.submitted.count == 200)
        await client.shutdown(.cancel)
    }

    @Test func neverMoreAtATime() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(Batch((0..<20).map(GetNumber.init), maxConcurrent: 3))
        for _ in 0..<20 {
            try await waitUntil("a transfer is open") { !stub.open.isEmpty }
            #expect(stub.open.count <= 3)
            #expect(client.requests.count <= 4)
            stub.complete(
                stub.open[0], with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8))))
            await client.callbacksDrained()
        }
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(request.value?.values.count == 20)
        #expect(request.response == nil)
        await client.shutdown(.cancel)
    }

    @Test func anEmptyBatchSucceeds() async throws {
        let (client, stub) = client()
        #expect(try await client.run(Batch([GetNumber]())).results.isEmpty)
        #expect(stub.submitted.isEmpty)
        await client.shutdown(.cancel)
    }

    @Test func aFailureNamesItsChild() async throws {
        let (client, _) = client(failing: [3])
        let request = client.request(Batch((0..<100).map(GetNumber.init), maxConcurrent: 2))
        _ = try? await request.runWatched()
        #expect(request.error == .groupFailed)
        #expect(request.error?.groupFailure?.index == 3)
        #expect(request.error?.groupFailure?.error == .statusNotAccepted)
        #expect(request.error?.statusCode == 500)
        await client.shutdown(.cancel)
    }

    @Test func policies() async throws {
        let (client, _) = client(failing: [1, 2])
        let all = try await client.run(Batch((0..<4).map(GetNumber.init), policy: .collectAll))
        #expect(all.failures.map(\.index) == [1, 2])
        #expect(all.values.map(\.number) == [0, 3])
        let some = try await client.run(
            Batch((0..<9).map(GetNumber.init), policy: .quorum(3), maxConcurrent: 1))
        #expect(some.values.map(\.number) == [0, 3, 4])
        #expect(
            some.failures.map(\.error) == [.statusNotAccepted, .statusNotAccepted]
                + Array(repeating: .cancelled, count: 4))
        await #expect(throws: ErrandError.groupFailed) {
            try await client.run(Batch((0..<4).map(GetNumber.init), policy: .quorum(3)))
        }
        for wrong in [BatchPolicy.quorum(5), .quorum(-1)] {
            await #expect(throws: ErrandError.invalidArgument) {
                try await client.run(Batch((0..<4).map(GetNumber.init), policy: wrong))
            }
        }
        await #expect(throws: ErrandError.invalidArgument) {
            try await client.run(Batch((0..<4).map(GetNumber.init), maxConcurrent: 0))
        }
        await client.shutdown(.cancel)
    }

    /// Children before their parent; each once.
    @Test(arguments: [true, false]) func orderOfHooks(isSuccess: Bool) async throws {
        let order = Notes<String>()
        let (client, _) = client(failing: isSuccess ? [] : [0])
        let child = client.request(GetNumber(number: 0))
        let own = Watcher("child", order)
        child.addAccessory(own)
        child.delegate = own
        child.whenDone(success: { _ in order.add("child success") }, failure: { _ in order.add("child failure") })
        let batch = client.request(Batch(requests: [child]))
        let watcher = Watcher("batch", order)
        batch.addAccessory(watcher)
        batch.delegate = watcher
        batch.start(success: { _ in order.add("batch success") }, failure: { _ in order.add("batch failure") })
        try await waitUntil("batch didStop was told") { order.all.contains("batch didStop") }
        func part(_ name: String) -> [String] {
            [
                "\(name) willStop", "\(name) " + (isSuccess ? "finished" : "failed"),
                "\(name) " + (isSuccess ? "success" : "failure"), "\(name) didStop",
            ]
        }
        #expect(order.all == ["batch willStart", "child willStart"] + part("child") + part("batch"))
        await client.shutdown(.cancel)
        withExtendedLifetime((own, watcher)) {}
    }

    @Test func aStopEndsTheChildrenFirst() async throws {
        let order = Notes<String>()
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let child = client.request(GetNumber(number: 0))
        child.addAccessory(Watcher("child", order))
        let batch = client.request(Batch(requests: [child]))
        batch.addAccessory(Watcher("batch", order))
        batch.start(success: { _ in order.add("success") }, failure: { _ in order.add("failure") })
        batch.stop()
        try await waitUntil("batch didStop was told") { order.all.contains("batch didStop") }
        #expect(
            order.all == [
                "batch willStart", "child willStart", "child willStop", "child didStop", "batch willStop",
                "batch didStop",
            ])
        #expect(batch.state == .cancelled && child.state == .cancelled)
        // Its client lets go of a request after `didStop`.
        try await waitUntil("nothing is left") { stub.open.isEmpty && client.requests.isEmpty }
        await client.shutdown(.cancel)
    }

    @Test func aChildThatIsStoppedFailsItsBatch() async throws {
        let client = Client.stubbed(StubTransport())
        let children = (0..<3).map { client.request(GetNumber(number: $0)) }
        let batch = client.start(Batch(requests: children))
        children[1].stop()
        try await waitUntil("the batch has ended") { batch.state.isFinished }
        #expect(batch.error?.groupFailure?.index == 1)
        #expect(batch.error?.groupFailure?.error == .cancelled)
        #expect(children.allSatisfy { $0.state == .cancelled })
        await client.shutdown(.cancel)
    }

    @Test func aRunningChildIsRefused() async throws {
        let client = Client.stubbed(StubTransport())
        let children = (0..<5000).map { _ in client.request(GetNumber(number: 1)) }
        for child in children { child.start() }
        let batch = client.start(Batch(requests: children, policy: .collectAll))
        try await waitUntil("the batch has ended") { batch.state.isFinished }
        #expect(batch.value?.failures.count == 5000)
        #expect(batch.value?.failures.allSatisfy { $0.error == .invalidArgument } == true)
        await client.shutdown(.cancel)
    }

    /// Children that end before their start returns stand on nobody's shoulders.
    @Test func childrenThatEndAtOnce() async throws {
        struct Unbuildable: Command { var path: String { "http://" } }
        let client = Client.stubbed(StubTransport()) { $0.callbackQueue = .inline() }
        for policy in [BatchPolicy.collectAll, .quorum(1)] {
            let request = client.start(Batch((0..<5000).map { _ in Unbuildable() }, policy: policy, maxConcurrent: 1))
            try await waitUntil("the request has ended") { request.state.isFinished }
            #expect(policy == .collectAll ? request.value?.failures.count == 5000 : request.error == .groupFailed)
        }
        await client.shutdown(.cancel)
    }

    @Test func nestingAndMixing() async throws {
        let (client, _) = client()
        let inner = Batch((0..<3).map(GetNumber.init))
        let result = try await client.run(
            Batch([
                BatchMember(inner), BatchMember(GetText(path: "9")), BatchMember(client.request(GetNumber(number: 5))),
            ]))
        #expect((result.values[0] as? BatchResult<GetNumber.Response>)?.values.map(\.number) == [0, 1, 2])
        #expect(result.values[1] as? String == #"{"number": 9}"#)
        #expect(result.values[2] as? GetNumber.Response == GetNumber.Response(number: 5))
        await client.shutdown(.cancel)
    }

    @Test func itsTimeIsItsOwn() async throws {
        let client = Client.stubbed(StubTransport())
        var batch = Batch((0..<3).map(GetNumber.init))
        batch.timeouts = Timeouts(total: .milliseconds(20))
        let children = batch
        await #expect(throws: ErrandError.timeoutTotal) { try await client.run(children) }
        try await waitUntil("the client has let go of the batch") { client.requests.isEmpty }
        await client.shutdown(.cancel)
    }

    @Test func restarts() async throws {
        let (client, stub) = client(failing: [2])
        let request = client.request(Batch((0..<4).map(GetNumber.init), policy: .collectAll))
        for run in 1...3 {
            _ = try await request.runWatched()
            #expect(request.value?.failures.map(\.index) == [2])
            #expect(stub.submitted.count == 4 * run)
        }
        await client.shutdown(.cancel)
    }

    @Test func pausesItsChildren() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.start(Batch((0..<3).map(GetNumber.init), maxConcurrent: 2))
        let open = stub.open
        request.pause()
        #expect(open.allSatisfy(stub.isPaused))
        request.resume()
        #expect(!open.contains(where: stub.isPaused))
        request.pause()
        stub.complete(open[0], with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8))))
        try await waitUntil("3 transfers were submitted") { stub.submitted.count >= 3 }
        await client.callbacksDrained()
        #expect(stub.open.allSatisfy(stub.isPaused))
        request.stop()
        await client.shutdown(.cancel)
    }

    /// The client's shutdown, or `cancelAll`, ends groups too, each once.
    @Test(arguments: [true, false]) func theClientEndsGroups(byShutdown: Bool) async throws {
        let client = Client.stubbed(StubTransport())
        let ended = Notes<ErrandError?>()
        let request = client.request(Batch((0..<300).map(GetNumber.init), maxConcurrent: 8))
        request.start(notifiesOnStop: true) { ended.add($0.error) }
        if byShutdown { await client.shutdown(.cancel) } else { client.cancelAll() }
        try await waitUntil("an ending was told") { !ended.all.isEmpty }
        await client.shutdown(.cancel)
        await client.callbacksDrained()
        #expect(ended.all == [byShutdown ? .shutDown : .cancelled])
        #expect(client.requests.isEmpty)
    }

    /// Nothing of a group is kept after its end, at whatever point it was stopped.
    @Test(arguments: 0..<12) func nothingIsKept(stoppedAfter count: Int) async throws {
        final class Held: Sendable {}
        weak var held: Held?
        weak var gone: Request<Batch<GetNumber.Response>>?
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        do {
            let made = Held()
            held = made
            let request = client.request(Batch((0..<10).map(GetNumber.init), maxConcurrent: 2))
            gone = request
            request.start(success: { [made] _ in _ = made }, failure: { [made] _ in _ = made })
            for _ in 0..<min(count, 10) {
                try await waitUntil("a transfer is open") { !stub.open.isEmpty }
                stub.complete(
                    stub.open[0], with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8))))
                await client.callbacksDrained()
            }
            if count < 10 { request.stop() }
            try await waitUntil("the request has ended") { request.state.isFinished }
        }
        await client.shutdown(.cancel)
        try await waitUntil("nothing of the group is kept") { gone == nil && held == nil }
    }
}
