import Dispatch
import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct GetNumber: Command {
    var number: Int
    var options: CommandOptions = []
    var path: String { "\(number)" }
    struct Response: Decodable, Sendable, Equatable { var number: Int }
}

@Suite(.timeLimit(.minutes(20))) struct GroupEdgeTests {
    private func client(_ change: (inout Client.Configuration) -> Void = { _ in }) -> (Client, StubTransport) {
        let stub = StubTransport { description in
            .response(
                status: 200, body: "{\"number\": \(description.url.split(separator: "/").last ?? "")}")
        }
        return (Client.stubbed(stub, change), stub)
    }

    private func numbers(_ range: Range<Int>) -> [GetNumber] { range.map { GetNumber(number: $0) } }

    /// At once the second is refused; one after the other it is started again.
    @Test(arguments: [1, 2]) func aRequestTwiceInOneBatch(width: Int) async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let twice = client.request(GetNumber(number: 1))
        let batch = Batch(requests: [twice, twice], policy: .collectAll, maxConcurrent: width)
        let request = client.start(batch)
        for _ in 0..<(width == 1 ? 2 : 1) {
            let id = try await stub.opened()
            stub.complete(id, with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8))))
        }
        try await waitUntil("the request has ended") { request.state.isFinished }
        let result = try #require(request.value)
        #expect(result.values.count == (width == 1 ? 2 : 1) && stub.submitted.count == result.values.count)
        #expect(result.failures.map(\.error) == (width == 1 ? [] : [.invalidArgument]))
        await client.shutdown(.cancel)
    }

    @Test func aChainThatIsItsOwnStep() async throws {
        let (client, _) = client()
        let request = client.request(Chain([]))
        try request.add(ChainStep(request))
        await #expect(throws: ErrandError.groupFailed) { try await request.runWatched() }
        #expect(request.error?.groupFailure?.error == .invalidArgument)
        await client.shutdown(.cancel)
    }

    @Test func oneChainRunTwiceAtOnce() async throws {
        let (client, stub) = client()
        let chain = Chain(GetNumber(number: 1)).then { GetNumber(number: $0.number + 1) }
        async let first = client.run(chain)
        async let second = client.run(chain)
        #expect(try await [first.number, second.number] == [2, 2])
        #expect(stub.submitted.count == 4)
        await client.shutdown(.cancel)
    }

    @Test func aRestartStartsItsRequestsAgain() async throws {
        let (client, stub) = client()
        let children = (0..<3).map { client.request(GetNumber(number: $0)) }
        let batch = client.request(Batch(requests: children))
        for run in 1...3 {
            _ = try await batch.runWatched()
            #expect(batch.value?.values.map(\.number) == [0, 1, 2] && stub.submitted.count == 3 * run)
            #expect(children.allSatisfy { $0.state == .succeeded })
        }
        await client.shutdown(.cancel)
    }

    /// From the callback in which everybody hears of its end.
    @Test func aGroupRestartsItself() async throws {
        let (client, stub) = client()
        let runs = Notes<Int>()
        @Sendable func again(_ request: Request<Batch<GetNumber.Response>>) {
            runs.add(request.value?.values.count ?? 0)
            if runs.all.count < 3 { request.start(completion: again) }
        }
        let request = client.request(Batch(numbers(0..<2)))
        request.start(completion: again)
        try await waitUntil("the request is at rest after three runs") { request.isAtRest && runs.all.count >= 3 }
        #expect(runs.all == [2, 2, 2] && stub.submitted.count == 6)
        await client.shutdown(.cancel)
    }

    /// A child that its own closure starts again runs for itself; the batch has heard of the first run.
    @Test func aChildThatRestartsItself() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let child = client.request(GetNumber(number: 1))
        child.whenDone(success: { $0.start() })
        let batch = client.start(Batch(requests: [child]))
        stub.complete(
            try await stub.opened(), with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8))))
        try await waitUntil("the batch has ended") { batch.state.isFinished }
        #expect(batch.state == .succeeded && child.state == .running && batch.children.isEmpty)
        batch.stop()
        #expect(child.state == .running)
        child.stop()
        await client.shutdown(.cancel)
    }

    @Test func aPauseBeforeTheChildrenStart() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        final class Pauser: Accessory {
            func requestWillStart(_ request: AnyRequest) { request.pause() }

            func requestWillStop(_ request: AnyRequest) {}
            func requestDidStop(_ request: AnyRequest) {}
        }
        let request = client.request(Batch([Batch(numbers(0..<2)), Batch(numbers(2..<4))]))
        request.addAccessory(Pauser())
        request.start()
        #expect(request.state == .paused && stub.open.count == 4)
        #expect(stub.open.allSatisfy(stub.isPaused))
        #expect(request.children.allSatisfy { $0.state == .paused })
        request.resume()
        #expect(!stub.open.contains(where: stub.isPaused))
        request.stop()
        await client.shutdown(.cancel)
    }

    @Test func theTotalTimeIsForAllChildren() async throws {
        let stub = StubTransport()
        let clock = ManualClock()
        let timed = Client.stubbed(stub) { $0.clock = clock }
        let request = timed.request(
            Batch(numbers(0..<50), policy: .collectAll, maxConcurrent: 1), overrides: Self.total(.milliseconds(60)))
        request.start()
        await clock.sleepers(1)
        // Each child takes a while, so that the time is up before the last.
        for _ in 0..<12 {
            stub.complete(try await stub.opened(), with: .response(Response(statusCode: 500)))
            clock.advance(by: .milliseconds(5))
        }
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(request.error == .timeoutTotal)
        #expect((12...13).contains(stub.submitted.count) && stub.open.isEmpty)
        await timed.shutdown(.cancel)
        // A nested one's is its own.
        let client = Client.stubbed(stub)
        var inner = Batch(numbers(0..<1))
        inner.timeouts = Timeouts(total: .milliseconds(5))
        let outer = client.request(Batch([inner]))
        await #expect(throws: ErrandError.groupFailed) { try await outer.runWatched() }
        #expect(outer.error?.groupFailure?.error == .timeoutTotal)
        await client.shutdown(.cancel)
    }

    private static func total(_ time: Duration) -> RequestOverrides {
        var overrides = RequestOverrides()
        overrides.timeouts = Timeouts(total: .after(time))
        return overrides
    }

    /// What is a child's matter is of no effect on the group, nor on its children.
    @Test func overridesOfAGroup() async throws {
        struct Refuse: PreparingInterceptor {
            func prepare(
                _ request: RequestDescription, in context: InterceptionContext
            ) async throws -> RequestDescription {
                throw ErrandError.interceptionFailed
            }
        }
        let (client, stub) = client()
        var overrides = RequestOverrides()
        overrides.options = .coalesced
        overrides.interceptors = [Refuse()]
        overrides.headers[.userAgent] = "z"
        overrides.acceptedStatusCodes = [404]
        overrides.body = .string("x")
        overrides.timeouts = Timeouts(total: .noLimit)
        #expect(try await client.run(Batch(numbers(0..<3)), overrides: overrides).values.count == 3)
        #expect(try await client.run(Chain(GetNumber(number: 7)), overrides: overrides).number == 7)
        #expect(stub.submitted.allSatisfy { $0.bodyBytes.isEmpty })
        await client.shutdown(.cancel)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func aTimeThatIsNone(time: Duration) async throws {
        let (client, stub) = client()
        await #expect(throws: ErrandError.self) {
            try await client.run(Batch(numbers(0..<3)), overrides: Self.total(time))
        }
        #expect(stub.submitted.isEmpty)
        await client.shutdown(.cancel)
    }

    @Test func coalescedChildren() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let command = GetNumber(number: 1, options: .coalesced)
        let request = client.start(Batch(Array(repeating: command, count: 100), maxConcurrent: 50))
        for transfer in 1...2 {
            stub.complete(
                try await stub.opened(), with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8)))
            )
            await client.callbacksDrained()
            #expect(transfer == 2 || stub.submitted.count >= 1)
            try await waitUntil("a transfer is open or the request has ended") {
                !stub.open.isEmpty || request.state.isFinished
            }
        }
        try await waitUntil("the request has ended") {
            if let id = stub.open.first {
                stub.complete(id, with: .response(Response(statusCode: 200, body: Array(#"{"number": 1}"#.utf8))))
            }
            return request.state.isFinished
        }
        #expect(request.value?.values.count == 100)
        #expect((2...50).contains(stub.submitted.count))
        let stopped = client.start(Batch(Array(repeating: command, count: 10)))
        stopped.stop()
        try await waitUntil("the stopped request has ended") { stopped.state.isFinished }
        try await waitUntil("no transfer is open") { stub.open.isEmpty && client.coalescing.count == 0 }
        await client.shutdown(.cancel)
    }

    /// What came before a step that is tried again, or asked again, is still there.
    @Test(arguments: [200, 500]) func aStepThatRunsAgainHidesNoEarlierOne(status: Int) async throws {
        let stub = StubTransport { description in
            .response(status: description.url.hasSuffix("2") ? status : 200, body: #"{"number": 1}"#)
        }
        let client = Client.stubbed(stub)
        let seen = Notes<Int>()
        let second = ChainStep(
            name: "same",
            make: { results in
                seen.add(results.value(of: GetNumber.self)?.number ?? 0)
                seen.add(try results.value(named: "same", as: GetNumber.Response.self).number)
                return GetNumber(number: 2)
            }, then: { turn in if turn.runs < 3 { turn.again() } },
            onFailure: { _, times in times < 3 ? .retry() : .skip })
        let results = try await client.run(Chain([ChainStep(GetNumber(number: 1), name: "same"), second]))
        #expect(seen.all == [1, 1, 1, 1, 1, 1])
        #expect(results.entries.count == 2 && results.value(of: GetNumber.self)?.number == 1)
        #expect(results.values(of: GetNumber.self).count == (status == 200 ? 2 : 1))
        await client.shutdown(.cancel)
    }

    @Test func skippingBackwards() async throws {
        let (client, stub) = client()
        _ = try await client.run(
            Chain([
                ChainStep(GetNumber(number: 1)) { turn in
                    turn.skip(-3)
                    if turn.runs < 2 { turn.again(after: .seconds(-1)) }
                }, ChainStep(GetNumber(number: 2)),
            ]))
        #expect(stub.submitted.map(\.url) == ["http://test/1", "http://test/1", "http://test/2"])
        await client.shutdown(.cancel)
    }

    /// Each is run, or its adder is told that it came too late.
    @Test func stepsAddedByManyThreads() async throws {
        let (client, stub) = client()
        for _ in 0..<20 {
            let before = stub.submitted.count
            let request = client.request(Chain([ChainStep(GetNumber(number: 0))]))
            let taken = Mutex(0)
            request.start()
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    DispatchQueue.concurrentPerform(iterations: 4) { thread in
                        for number in 0..<25 where (try? request.add(ChainStep(GetNumber(number: number)))) != nil {
                            taken.withLock { $0 += 1 }
                        }
                    }
                    continuation.resume()
                }
            }
            try await waitUntil("the request has ended") { request.state.isFinished }
            #expect(stub.submitted.count - before == taken.withLock { $0 } + 1)
            #expect(request.value?.entries.count == taken.withLock { $0 } + 1)
        }
        await client.shutdown(.cancel)
    }

    @Test func widthsWithoutBounds() async throws {
        let (client, _) = client()
        #expect(try await client.run(Batch(numbers(0..<200), maxConcurrent: .max)).values.count == 200)
        let members = (0..<200).map { RequestGraph.Member("\($0)", GetNumber(number: $0)) }
        #expect(try await client.run(RequestGraph(members, maxConcurrent: .max)).entries.count == 200)
        await client.shutdown(.cancel)
    }

    /// Long ones go to their end; a time by the square of their length would be felt here.
    @Test func longOnes() {
        var chain = ChainStateMachine()
        var graph = GroupStateMachine()
        let count = 20_000
        let none = [Int](repeating: 0, count: count)
        _ = chain.started(steps: Array(0..<count))
        _ = graph.started(
            .init(
                count: count, width: 4, policy: .failFast, failsAtEnd: true,
                dependencies: .init(dependents: Array(repeating: [], count: count), needs: none)))
        for index in 0..<count {
            _ = chain.childEnded(index, succeeded: true)
            _ = chain.decided(.goOn)
            _ = graph.childEnded(index, succeeded: true)
        }
        #expect(chain.state == .ended(.succeeded) && graph.state == .ended(.succeeded))
    }
}
