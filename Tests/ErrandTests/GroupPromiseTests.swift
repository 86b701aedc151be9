import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

/// What the table of YTKNetwork and the guide promise of groups, and no other test looks at.
@Suite(.timeLimit(.minutes(20))) struct GroupPromiseTests {
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
        func requestFailed(_ request: AnyRequest) {
            order.add("\(name) failed by \(request.failedRequest?.url ?? "nobody")")
        }
    }

    /// What ends in "bad" fails.
    private func client(_ change: (inout Client.Configuration) -> Void = { _ in }) -> (Client, StubTransport) {
        let stub = StubTransport { description in .response(status: description.url.hasSuffix("bad") ? 500 : 200) }
        return (Client.stubbed(stub, change), stub)
    }

    private func until(_ isReached: () -> Bool) async throws {
        try await waitUntil("the group has come so far", isReached)
    }

    /// Each step with all of its own end, then its callback, then the next; the chain last.
    @Test func aChainIsToldAfterItsSteps() async throws {
        let order = Notes<String>()
        let (client, _) = client()
        let steps = ["a", "b"].map { name in
            let request = client.request(GetText(path: name))
            request.addAccessory(Watcher(name, order))
            return ChainStep(request) { _ in order.add("\(name) callback") }
        }
        let chain = client.request(Chain(steps))
        let watcher = Watcher("chain", order)
        chain.addAccessory(watcher)
        chain.delegate = watcher
        chain.onAdvance { ended, _ in order.add("advanced \(ended)") }
        chain.start(success: { _ in order.add("chain success") })
        try await until { order.all.contains("chain didStop") }
        let ends = ["a", "b"].enumerated().map { index, name in
            [
                "\(name) willStart", "\(name) willStop", "\(name) didStop", "advanced \(index + 1)",
                "\(name) callback",
            ]
        }
        #expect(
            order.all == ["chain willStart"] + ends.joined()
                + ["chain willStop", "chain finished", "chain success", "chain didStop"])
        await client.shutdown(.cancel)
    }

    @Test func aChainsDelegateFindsTheStepThatFailed() async throws {
        let order = Notes<String>()
        let (client, stub) = client()
        let chain = client.request(Chain(["a", "bad", "c"].map { ChainStep(GetText(path: $0)) }))
        let watcher = Watcher("chain", order)
        chain.delegate = watcher
        chain.start(success: nil, failure: { chain in order.add("index \(chain.error?.groupFailure?.index ?? -1)") })
        try await until { order.all.count == 2 }
        #expect(order.all == ["chain failed by http://test/bad", "index 1"])
        #expect(stub.submitted.count == 2)
        await client.shutdown(.cancel)
        withExtendedLifetime(watcher) {}
    }

    @Test func aStopEndsTheStepFirst() async throws {
        let order = Notes<String>()
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let step = client.request(GetText(path: "a"))
        step.addAccessory(Watcher("step", order))
        let chain = client.request(
            Chain([ChainStep(step, then: { _ in order.add("callback") }), ChainStep(GetText(path: "b"))]))
        let watcher = Watcher("chain", order)
        chain.addAccessory(watcher)
        chain.delegate = watcher
        chain.start(success: { _ in order.add("success") }, failure: { _ in order.add("failure") })
        chain.stop()
        try await until { order.all.contains("chain didStop") }
        await client.callbacksDrained()
        #expect(
            order.all == [
                "chain willStart", "step willStart", "step willStop", "step didStop", "chain willStop", "chain didStop",
            ])
        #expect(stub.open.isEmpty && stub.submitted.count == 1)
        #expect(chain.delegate === watcher)
        await client.shutdown(.cancel)
    }

    @Test func aChainRunsAgain() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let chain = client.request(Chain(["a", "b"].map { ChainStep(GetText(path: $0)) }))
        for run in 1...3 {
            #expect(chain.start())
            #expect(!chain.start())
            for status in [200, 500] {
                stub.complete(try await stub.opened(), with: .response(Response(statusCode: status)))
            }
            try await until { chain.state.isFinished && client.requests.isEmpty }
            #expect(chain.error?.groupFailure?.index == 1)
            #expect(chain.results.entries.count == 2 && stub.submitted.count == 2 * run)
        }
        await client.shutdown(.cancel)
    }

    /// Nobody has to keep it, and the client knows it and what it runs.
    @Test(arguments: [true, false]) func aRunningGroupShowsItsChildren(isChain: Bool) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let ended = Notes<Bool>()
        let commands = ["a", "b"].map { GetText(path: $0) }
        if isChain {
            client.start(Chain(commands.map { ChainStep($0) }), success: { _ in ended.add(true) })
        } else {
            client.start(Batch(commands), success: { _ in ended.add(true) })
        }
        let group = try #require(client.requests.first { !$0.children.isEmpty })
        #expect(group.children.map(\.url) == (isChain ? ["http://test/a"] : ["http://test/a", "http://test/b"]))
        #expect(client.requests.count == group.children.count + 1)
        for _ in 0..<2 { stub.complete(try await stub.opened(), with: .response(Response(statusCode: 200))) }
        try await until { !ended.all.isEmpty && client.requests.isEmpty }
        #expect(group.children.isEmpty)
        await client.shutdown(.cancel)
    }

    @Test func aGroupKeepsWhatBelongsToTheUser() async throws {
        let (client, _) = client()
        let batch = client.request(Batch([GetText()]))
        batch.tag = 7
        batch.userInfo["who"] = "ada"
        for _ in 0..<2 { _ = try await batch.runWatched() }
        #expect(batch.tag == 7 && batch.userInfo["who"] as? String == "ada")
        await client.shutdown(.cancel)
    }

    /// Of a group and of a child; for one run.
    @Test func closuresMayBeGivenBeforeTheStart() async throws {
        let order = Notes<String>()
        let (client, _) = client()
        let child = client.request(GetText())
        let batch = client.request(Batch(requests: [child]))
        child.whenDone(success: { _ in order.add("child") })
        batch.whenDone(success: { _ in order.add("batch") })
        for _ in 0..<2 {
            batch.start()
            try await until { batch.state.isFinished && client.requests.isEmpty }
        }
        await client.callbacksDrained()
        #expect(order.all == ["child", "batch"])
        await client.shutdown(.cancel)
    }

    @Test func aChildThatHasEndedRunsAgain() async throws {
        let (client, stub) = client()
        let child = client.request(GetText())
        _ = try await child.runWatched()
        #expect(try await client.run(Batch(requests: [child])).values.count == 1)
        #expect(stub.submitted.count == 2)
        await client.shutdown(.cancel)
    }

    @Test func aLeaseEndsItsGroup() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let batch = client.request(Batch(["a", "b"].map { GetText(path: $0) }))
        do {
            let lease = batch.lease()
            batch.start()
            #expect(stub.open.count == 2)
            withExtendedLifetime(lease) {}
        }
        try await until { batch.state.isFinished }
        #expect(batch.state == .cancelled && stub.open.isEmpty)
        await client.shutdown(.cancel)
    }

    /// What stands before requests stands before children.
    @Test func interceptorsSeeChildrenAlone() async throws {
        struct Noting: PreparingInterceptor {
            let seen: Notes<String>
            func prepare(
                _ request: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                seen.add(request.url)
                return request
            }
        }
        let seen = Notes<String>()
        let (client, _) = client { $0.interceptors = [Noting(seen: seen)] }
        _ = try await client.run(Chain(GetText(path: "a")).then { _ in Batch([GetText(path: "b")]) })
        #expect(seen.all == ["http://test/a", "http://test/b"])
        await client.shutdown(.cancel)
    }

    /// An event of the group's, after the end of the child that counts.
    @Test func theRecorderNotesHowAGroupAdvances() async throws {
        let recorder = EventRecorder()
        let (client, _) = client()
        let batch = client.request(Batch(["a", "bad"].map { GetText(path: $0) }, policy: .collectAll))
        batch.addAccessory(recorder)
        _ = try await batch.runWatched()
        #expect(recorder.names == ["willStart", "queued", "advanced 1/2", "advanced 2/2", "willStop", "didStop"])
        await client.shutdown(.cancel)
    }
}
