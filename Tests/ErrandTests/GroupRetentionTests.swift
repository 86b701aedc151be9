import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct GetNumber: Command {
    var number: Int
    var timeouts: Timeouts?
    var path: String { "\(number)" }
    typealias Response = String
}

private final class Listener: RequestDelegate, Accessory {
    let held: Held
    init(_ held: Held) { self.held = held }

    func requestFinished(_ request: AnyRequest) {}
    func requestFailed(_ request: AnyRequest) {}
    func requestWillStart(_ request: AnyRequest) {}
    func requestWillStop(_ request: AnyRequest) {}
    func requestDidStop(_ request: AnyRequest) {}
}

private final class Own: Sendable {
    private let kept = Mutex<Weak>(Weak())
    private struct Weak { weak var request: AnyRequest? }
    var request: AnyRequest? {
        get { kept.withLock { $0.request } }
        set { kept.withLock { $0.request = newValue } }
    }
}

/// What a group, its children, their closures and delegates hold is let go with the end of the run, wherever that comes,
/// and though the client goes on.
@Suite(.timeLimit(.minutes(20))) struct GroupRetentionTests {
    enum Kind: CaseIterable {
        case batch, batchOfRequests, chain, graph, nest, emptyBatch, emptyChain, emptyGraph
    }

    enum Point: CaseIterable {
        case never, inWillStart, atOnce, afterOne, afterTwo, inClosure, inStep
        case success, failure, timeout, cancelAll, shutdown, restart, restartStopped
    }

    private struct World {
        let count = Held.Count()
        let stub = StubTransport()
        let client: Client
        let own = Own()
        let point: Point

        init(_ point: Point) {
            self.point = point
            client = Client.stubbed(stub)
        }

        /// Everything that can hold something does.
        func request<C: Command>(_ command: C) -> Request<C> {
            let request = client.request(command)
            hang(on: request)
            return request
        }

        func hang<C: Command>(on request: Request<C>) {
            let (held, own, point) = (count.make(), own, point)
            request.userInfo["held"] = held
            request.addAccessory(Listener(count.make()))
            request.whenDone(
                success: { [held] _ in
                    held.touch()
                    if point == .inClosure, C.self == GetNumber.self { own.request?.stop() }
                }, failure: { [held] _ in held.touch() })
        }

        func step(_ number: Int) -> ChainStep {
            let (held, own, point) = (count.make(), own, point)
            return ChainStep(
                make: { [held] _ in
                    held.touch()
                    return GetNumber(number: number)
                },
                then: { [held] _ in
                    held.touch()
                    if point == .inStep { own.request?.stop() }
                },
                onFailure: { [held] _, _ in
                    held.touch()
                    return .abort
                })
        }

        func top<C: Command>(_ command: C) -> AnyRequest {
            var overrides = RequestOverrides()
            overrides.timeouts = point == .timeout ? Timeouts(total: .milliseconds(10)) : nil
            let request = client.request(command, overrides: overrides)
            hang(on: request)
            return request
        }

        func make(_ kind: Kind) -> AnyRequest {
            let numbers = (0..<4).map { GetNumber(number: $0) }
            switch kind {
            case .batch: return top(Batch(numbers, maxConcurrent: 2))
            case .batchOfRequests: return top(Batch(requests: numbers.map { request($0) }, maxConcurrent: 2))
            case .chain: return top(Chain((0..<4).map { step($0) }))
            case .graph:
                let held = count.make()
                return top(
                    RequestGraph([
                        .init("0", numbers[0]), .init("1", numbers[1]),
                        .init("2", after: ["0"]) { [held] _ in
                            held.touch()
                            return numbers[2]
                        },
                    ]))
            case .nest:
                let batch = Batch(
                    [BatchMember(request(Chain([step(0), step(1)]))), BatchMember(request(numbers[2]))],
                    maxConcurrent: 1)
                return top(Chain([ChainStep(request(batch)), step(3)]))
            case .emptyBatch: return top(Batch([GetNumber]()))
            case .emptyChain: return top(Chain([]))
            case .emptyGraph: return top(RequestGraph([]))
            }
        }

        func answer(_ most: Int, status: Int = 200, until request: AnyRequest) async throws {
            for _ in 0..<most {
                try await waitUntil("a transfer is open or the request has ended") {
                    !stub.open.isEmpty || request.state.isFinished
                }
                guard let id = stub.open.first else { return }
                do { stub.complete(id, with: .response(Response(statusCode: status))) }
                await client.callbacksDrained()
            }
        }
    }

    @Test(arguments: Kind.allCases, Point.allCases) func nothingIsKept(kind: Kind, point: Point) async throws {
        let world = World(point)
        try await Self.live(kind, point, world)
        try await world.count.expectNone()
        await world.client.shutdown(.cancel)
    }

    private static func live(_ kind: Kind, _ point: Point, _ world: World) async throws {
        let request = world.make(kind)
        world.own.request = request
        let delegate = Listener(world.count.make())
        request.delegate = delegate
        switch point {
        case .never: return
        case .inWillStart:
            request.addAccessory(StartWatcher { $0.stop() })
            request.start()
        case .atOnce:
            request.start()
            request.stop()
        case .afterOne, .afterTwo:
            request.start()
            try await world.answer(point == .afterOne ? 1 : 2, until: request)
            request.stop()
        case .inClosure, .inStep, .success:
            request.start()
            try await world.answer(9, until: request)
        case .failure:
            request.start()
            try await world.answer(9, status: 500, until: request)
        case .timeout: request.start()
        case .cancelAll:
            request.start()
            world.client.cancelAll()
        case .shutdown:
            request.start()
            await world.client.shutdown(.cancel)
        case .restart, .restartStopped:
            request.start()
            if point == .restart { try await world.answer(9, until: request) } else { request.stop() }
            try await waitUntil("the request is at rest") { request.isAtRest }
            request.start()
            try await world.answer(9, until: request)
        }
        try await waitUntil("the request is at rest") { request.isAtRest }
        withExtendedLifetime(delegate) {}
    }

    private final class StartWatcher: Accessory {
        let act: @Sendable (AnyRequest) -> Void
        init(_ act: @escaping @Sendable (AnyRequest) -> Void) { self.act = act }
        func requestWillStart(_ request: AnyRequest) { act(request) }

        func requestWillStop(_ request: AnyRequest) {}
        func requestDidStop(_ request: AnyRequest) {}
    }

    @Test func aChainThatWaitsForARetry() async throws {
        let world = World(.never)
        func live() async throws {
            let held = world.count.make()
            let step = ChainStep(GetNumber(number: 1)) { [held] _ in
                held.touch()
            } onFailure: { [held] _, _ in
                held.touch()
                return .retry(after: .seconds(600))
            }
            let request = world.top(Chain([step]))
            request.start()
            try await world.answer(1, status: 500, until: request)
            try await waitUntil("the request has no children") { request.children.isEmpty }
            await world.client.callbacksDrained()
            request.stop()
            try await waitUntil("the request is at rest") { request.isAtRest }
        }
        try await live()
        try await world.count.expectNone()
        await world.client.shutdown(.cancel)
    }

    /// Steps are let go with the run that they were added to, whatever their callbacks hold: their own chain as a rule.
    @Test(arguments: [true, false]) func addedStepsThatHoldTheirChain(isStopped: Bool) async throws {
        let world = World(.never)
        func live() async throws {
            let request = world.request(Chain([world.step(0)]))
            for number in 1...2 {
                try request.add(ChainStep(GetNumber(number: number)) { [request] _ in _ = request.tag })
            }
            request.start()
            try request.add(
                ChainStep(GetNumber(number: 3)) { [request] turn in
                    turn.append(ChainStep(GetNumber(number: 4)) { [request] _ in _ = request.tag })
                })
            try await world.answer(isStopped ? 2 : 5, until: request)
            if isStopped { request.stop() }
            try await waitUntil("the request is at rest") { request.isAtRest }
            #expect(isStopped || world.stub.submitted.count == 5)
        }
        try await live()
        try await world.count.expectNone()
        await world.client.shutdown(.cancel)
    }

    @Test func requestsAddedToAChainThatNeverStarts() async throws {
        let world = World(.never)
        func live() throws {
            let chain = world.request(Chain([]))
            try chain.add(ChainStep(world.request(GetNumber(number: 1))))
            try chain.add(world.step(2))
        }
        try live()
        try await world.count.expectNone()
        await world.client.shutdown(.cancel)
    }

    /// The results as they come: not asked for, asked for and not read, read in part, read by a task that is cancelled.
    @Test(arguments: 0..<4) func resultsThatAreLeft(how: Int) async throws {
        let world = World(.never)
        func live() async throws {
            let batch = world.request(
                Batch((0..<4).map { GetNumber(number: $0) }, policy: .collectAll, maxConcurrent: 2))
            let results = batch.resultsAsCompleted
            switch how {
            case 0: return
            case 1: _ = results.makeAsyncIterator()
            case 2:
                var iterator = results.makeAsyncIterator()
                try await world.answer(2, until: batch)
                _ = try await iterator.next()
            default:
                let task = Task { for try await _ in results {} }
                _ = try await world.stub.opened()
                task.cancel()
                _ = await task.result
            }
            try await waitUntil("the batch is at rest") { batch.isAtRest }
        }
        try await live()
        try await world.count.expectNone()
        #expect(world.stub.open.isEmpty && world.client.requests.isEmpty)
        await world.client.shutdown(.cancel)
    }

    /// A value of the user's dies with the next run, and may ask its batch something then.
    @Test(arguments: 0..<3) func aValueMayAskItsGroupWhenItDies(kind: Int) async throws {
        let (own, died) = (Own(), Notes<Int>())
        final class Value: Sendable {
            let own: Own
            let died: Notes<Int>
            init(_ own: Own, _ died: Notes<Int>) {
                self.own = own
                self.died = died
            }
            deinit { died.add(own.request?.children.count ?? -1) }
        }
        struct GetValue: Command {
            let own: Own
            let died: Notes<Int>
            var path: String { "1" }
            typealias Response = Value
            func decode(_ response: Errand.Response) throws -> Value { Value(own, died) }
        }
        let client = Client.stubbed(StubTransport { _ in .response(status: 200) })
        let command = GetValue(own: own, died: died)
        let request: AnyRequest =
            switch kind {
            case 0: client.request(Batch([command, command]))
            case 1: client.request(Chain([ChainStep(command), ChainStep(command)]))
            default: client.request(RequestGraph([.init("a", command), .init("b", command)]))
            }
        own.request = request
        for run in 0..<3 {
            request.start()
            try await waitUntil("the request is at rest") { request.isAtRest }
            #expect(died.all.count == 2 * run)
        }
        await client.shutdown(.cancel)
    }
}
