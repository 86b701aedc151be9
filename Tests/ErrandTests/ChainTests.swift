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

private struct Unfit: Error, Equatable {}

@Suite(.timeLimit(.minutes(20))) struct ChainTests {
    /// Answers with the number that was asked for; what `failing` names, with 500 as often as it says.
    private func client(
        failing: [Int: Int] = [:], _ change: (inout Client.Configuration) -> Void = { _ in }
    ) -> (Client, StubTransport) {
        let left = Mutex(failing)
        let stub = StubTransport { description in
            let number = Int(description.url.split(separator: "/").last ?? "") ?? -1
            let isFailure = left.withLock { left -> Bool in
                guard let count = left[number], count > 0 else { return false }
                left[number] = count - 1
                return true
            }
            return .response(status: isFailure ? 500 : 200, body: "{\"number\": \(number)}")
        }
        return (Client.stubbed(stub, change), stub)
    }

    private func asked(_ stub: StubTransport) -> [Int] {
        stub.submitted.map { Int($0.url.split(separator: "/").last ?? "") ?? -1 }
    }

    @Test func handsOverByType() async throws {
        let (client, stub) = client()
        let last = try await client.run(
            Chain(GetNumber(number: 1))
                .then { GetNumber(number: $0.number + 1) }
                .then(name: "text") { GetText(path: "\($0.number + 1)") })
        #expect(last == #"{"number": 3}"#)
        #expect(asked(stub) == [1, 2, 3])
        let built = Chain {
            GetNumber(number: 5)
            Then { (number: GetNumber.Response) in GetText(path: "\(number.number * 2)") }
            GetNumber(number: 7)
            Then(name: "end") { (number: GetNumber.Response) in GetNumber(number: number.number + 1) }
        }
        #expect(try await client.run(built).number == 8)
        #expect(asked(stub).suffix(4) == [5, 10, 7, 8])
        await client.shutdown(.cancel)
    }

    /// A, then B and C by A's result, then D.
    @Test(arguments: [1, 2]) func branches(first: Int) async throws {
        let (client, stub) = client()
        let results = try await client.run(
            Chain([
                ChainStep(GetNumber(number: first), name: "a") { turn in
                    if turn.value.number == 1 {
                        turn.insert(ChainStep(GetNumber(number: 10)), ChainStep(GetNumber(number: 11)))
                    }
                },
                ChainStep(GetText(path: "99"), name: "d"),
            ]))
        #expect(asked(stub) == (first == 1 ? [1, 10, 11, 99] : [2, 99]))
        #expect(results.entries.map(\.index) == Array(results.entries.indices))
        #expect(results.value(of: GetText.self) == #"{"number": 99}"#)
        #expect(results.values(of: GetNumber.self).map(\.number) == (first == 1 ? [1, 10, 11] : [2]))
        #expect(try results.value(named: "a", as: GetNumber.Response.self).number == first)
        #expect(throws: ErrandError.invalidArgument) { try results.value(named: "a", as: String.self) }
        #expect(throws: ErrandError.invalidArgument) { try results.value(named: "b", as: String.self) }
        await client.shutdown(.cancel)
    }

    @Test func repeatsSkipsAppendsAndFinishes() async throws {
        let (client, stub) = client()
        let runs = Notes<Int>()
        _ = try await client.run(
            Chain([
                ChainStep(GetNumber(number: 1)) { turn in
                    runs.add(turn.runs)
                    if turn.runs < 3 { turn.again(after: .milliseconds(turn.runs)) } else { turn.skip(1) }
                },
                ChainStep(GetNumber(number: 2)),
                ChainStep(GetNumber(number: 3)) { turn in turn.append(ChainStep(GetNumber(number: 6))) },
                ChainStep(GetNumber(number: 4)) { turn in turn.insert(ChainStep(GetNumber(number: 5))) },
            ]))
        #expect(asked(stub) == [1, 1, 1, 3, 4, 5, 6])
        #expect(runs.all == [1, 2, 3])
        _ = try await client.run(
            Chain([
                ChainStep(GetNumber(number: 1)) { turn in turn.finish() }, ChainStep(GetNumber(number: 2)),
            ]))
        #expect(asked(stub).count == 8)
        _ = try await client.run(Chain([ChainStep(GetNumber(number: 1)) { $0.skip(1000) }]))
        await client.shutdown(.cancel)
    }

    @Test func anAbortFailsTheChain() async throws {
        let (client, stub) = client()
        let request = client.request(
            Chain([
                ChainStep(GetNumber(number: 1)), ChainStep(GetNumber(number: 2), name: "second") { $0.abort(Unfit()) },
                ChainStep(GetNumber(number: 3)),
            ]))
        await #expect(throws: ErrandError.groupFailed) { try await request.runWatched() }
        #expect(asked(stub) == [1, 2])
        #expect(request.failedRequest?.url == "http://test/2")
        #expect(request.error?.groupFailure?.index == 1 && request.error?.groupFailure?.name == "second")
        #expect(request.error?.groupFailure?.error == .validationFailed)
        #expect(request.error?.groupFailure?.error.underlyingError is Unfit)
        #expect(request.error?.statusCode == 200)
        await client.shutdown(.cancel)
    }

    @Test func aFailureIsHandledByItsStep() async throws {
        let (client, stub) = client(failing: [1: 2, 3: 1, 5: 1, 7: 9])
        let counts = Notes<Int>()
        let request = client.request(
            Chain([
                ChainStep(
                    GetNumber(number: 1),
                    onFailure: { error, count in
                        counts.add(count)
                        return error == .statusNotAccepted && count < 5 ? .retry(after: .milliseconds(1)) : .abort
                    }),
                ChainStep(GetNumber(number: 3), onFailure: { _, _ in .skip }),
                ChainStep(GetNumber(number: 5), onFailure: { _, _ in .replace(ChainStep(GetNumber(number: 6))) }),
                ChainStep(GetNumber(number: 7), onFailure: { _, count in count < 3 ? .retry() : .abort }),
                ChainStep(GetNumber(number: 8)),
            ]))
        await #expect(throws: ErrandError.groupFailed) { try await request.runWatched() }
        #expect(asked(stub) == [1, 1, 1, 3, 5, 6, 7, 7, 7])
        #expect(counts.all == [1, 2])
        #expect(request.error?.groupFailure?.error == .statusNotAccepted)
        #expect(request.failedRequest?.url == "http://test/7")
        #expect(request.results.entries.count == 5)
        await client.shutdown(.cancel)
    }

    @Test func aStepThatCannotBeMadeHasFailed() async throws {
        let (client, stub) = client()
        let errors = Notes<ErrandError>()
        let results = try await client.run(
            Chain([
                ChainStep { _ -> GetNumber in
                    throw Unfit()
                } onFailure: { error, _ in
                    errors.add(error)
                    return .skip
                },
                ChainStep(make: { GetNumber(number: $0.entries.count) }),
            ]))
        #expect(errors.all == [.interceptionFailed])
        #expect(results.entries.count == 2 && results.entries[0].request == nil)
        #expect(asked(stub) == [1])
        // The value to hand over is not there.
        await #expect(throws: ErrandError.groupFailed) {
            try await client.run(
                Chain(GetNumber(number: 1)).then { _ -> GetNumber in
                    throw Unfit()
                } onFailure: { _, _ in
                    .skip
                }
                .then { GetNumber(number: $0.number) })
        }
        // Nor is that of the chain itself.
        await #expect(throws: ErrandError.invalidArgument) {
            try await client.run(
                Chain(GetNumber(number: 1)).then { _ -> GetNumber in
                    throw Unfit()
                } onFailure: { _, _ in
                    .skip
                }
                .then { _ -> GetText in
                    throw Unfit()
                } onFailure: { _, _ in
                    .skip
                })
        }
        await client.shutdown(.cancel)
    }

    @Test func aGroupIsNothingToStreamOrToDescribe() async throws {
        let (client, stub) = client()
        let chain = Chain(GetNumber(number: 1))
        await #expect(throws: ErrandError.invalidArgument) { try await client.stream(chain) }
        #expect(throws: ErrandError.invalidArgument) { try client.describe(chain) }
        var overrides = RequestOverrides()
        overrides.validator = { _ in throw Unfit() }
        #expect(try await client.run(chain, overrides: overrides).number == 1)
        #expect(stub.submitted.count == 1)
        await client.shutdown(.cancel)
    }

    /// A stop inside a step's callback is a stop, and no finish.
    @Test(arguments: [0, 1]) func aStopInACallbackIsAStop(step: Int) async throws {
        let (client, stub) = client()
        let ended = Notes<String>()
        let own = Mutex<AnyRequest?>(nil)
        let steps = (0..<2).map { number in
            ChainStep(GetNumber(number: number)) { _ in if number == step { own.withLock { $0 }?.stop() } }
        }
        let request = client.request(Chain(steps))
        own.withLock { $0 = request }
        request.start(success: { _ in ended.add("success") }, failure: { _ in ended.add("failure") })
        try await waitUntil("the request has ended") { request.state.isFinished }
        await client.callbacksDrained()
        #expect(request.state == .cancelled && ended.all.isEmpty)
        #expect(asked(stub) == Array(0...step))
        await client.shutdown(.cancel)
    }

    @Test func stepsAreAddedFromOutside() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let request = client.request(Chain([ChainStep(GetText(path: "1"))]))
        try request.add(ChainStep(GetText(path: "2")))
        request.start()
        for number in 1...3 {
            let id = try await stub.opened()
            if number == 2 { try request.add(ChainStep(GetText(path: "3"))) }
            #expect(stub.submitted.last?.url == "http://test/\(number)")
            stub.complete(id, with: .response(Response(statusCode: 200)))
            await client.callbacksDrained()
        }
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(throws: ErrandError.invalidArgument) { try request.add(ChainStep(GetText(path: "4"))) }
        #expect(request.value?.entries.count == 3)
        // A restart begins with the chain's own steps.
        request.start()
        _ = try await stub.opened()
        #expect(stub.submitted.last?.url == "http://test/1")
        request.stop()
        await client.shutdown(.cancel)
    }

    /// Nothing in it grows by the square of its length, nor by how often a step is repeated.
    @Test func longChains() async throws {
        struct At: Command {
            var path: String { "http://" }
            typealias Response = NoContent
        }
        let client = Client.stubbed(StubTransport())
        let count = 4000
        let steps = (0..<count).map { _ in ChainStep(At(), name: "a", onFailure: { _, _ in .skip }) }
        let results = try await client.run(Chain(steps))
        #expect(results.entries.count == count)
        let polled = try await client.run(
            Chain([ChainStep(At(), onFailure: { _, count in count < 1000 ? .retry() : .skip })]))
        #expect(polled.entries.count == 1)
        await client.shutdown(.cancel)
    }

    @Test func anEmptyChainSucceeds() async throws {
        let (client, _) = client()
        #expect(try await client.run(Chain([])).entries.isEmpty)
        await client.shutdown(.cancel)
    }

    @Test func nests() async throws {
        let (client, stub) = client()
        let inner = Chain(GetNumber(number: 1)).then { GetNumber(number: $0.number + 1) }
        let results = try await client.run(
            Chain([
                ChainStep(inner), ChainStep(Batch([GetNumber(number: 3), GetNumber(number: 4)])),
                ChainStep(client.request(GetNumber(number: 5))),
            ]))
        #expect(results.value(of: Chain<GetNumber.Response>.self)?.number == 2)
        #expect(results.value(of: Batch<GetNumber.Response>.self)?.values.map(\.number) == [3, 4])
        #expect(asked(stub).sorted() == [1, 2, 3, 4, 5])
        await client.shutdown(.cancel)
    }

    @Test func cancellingTheTaskStopsTheStep() async throws {
        let stub = StubTransport()
        let client = Client.stubbed(stub)
        let task = Task { try await client.run(Chain(GetText(path: "1")).then { _ in GetText(path: "2") }) }
        _ = try await stub.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.open.isEmpty && stub.submitted.count == 1)
        await client.shutdown(.cancel)
    }

    /// A wait between two tries ends with the chain.
    @Test(arguments: [true, false]) func aStopEndsTheWait(byTime: Bool) async throws {
        let (client, stub) = client(failing: [1: 9])
        var chain = Chain(GetNumber(number: 1), onFailure: { _, _ in .retry(after: .seconds(600)) })
        if byTime { chain.timeouts = Timeouts(total: .milliseconds(30)) }
        let request = client.start(chain)
        try await waitUntil("the child was submitted and has ended") {
            request.state.isFinished || (!stub.submitted.isEmpty && request.children.isEmpty)
        }
        await client.callbacksDrained()
        if !byTime { request.stop() }
        try await waitUntil("the request has ended") { request.state.isFinished }
        #expect(request.error == (byTime ? .timeoutTotal : .cancelled))
        await client.shutdown(.cancel)
    }
}
