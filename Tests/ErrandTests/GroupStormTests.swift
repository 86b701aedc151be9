import Dispatch
import Errand
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel

private struct Ask: Command {
    let held: Held
    var coalesces = false
    var path = "x"
    var options: CommandOptions { coalesces ? .coalesced : [] }
    typealias Response = String
}

/// Trees of groups under everything that may happen to them at once.
@Suite(.timeLimit(.minutes(20))) struct GroupStormTests {
    /// What one thread makes and does.
    private struct Thrower {
        let storm: Storm
        var random: SeededGenerator

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        mutating func width() -> Int { Int.random(in: 1...4, using: &random) }

        mutating func count() -> Int { Int.random(in: 0...6, using: &random) }

        mutating func timeouts() -> Timeouts? {
            chance(8) ? Timeouts(total: .milliseconds(Int.random(in: 1...20, using: &random))) : nil
        }

        mutating func leaf() -> Ask {
            Ask(
                held: storm.count.make(), coalesces: chance(10),
                path: chance(2) ? "http://" : "\(Int.random(in: 0..<5, using: &random))")
        }

        mutating func command(_ depth: Int) -> any Command {
            guard depth > 0, depth == 3 || chance(60) else { return leaf() }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let number = count()
                let policies = [BatchPolicy.failFast, .collectAll, .quorum(Int.random(in: 0...number, using: &random))]
                var batch = Batch(
                    (0..<number).map { _ in member(depth - 1) },
                    policy: policies[Int.random(in: 0..<3, using: &random)], maxConcurrent: width())
                batch.timeouts = timeouts()
                return batch
            case 1:
                var chain = Chain((0..<count()).map { _ in step(command(depth - 1)) })
                chain.timeouts = timeouts()
                return chain
            case 2: return Chain(leaf()).then { [self] _ in Ask(held: storm.count.make()) }
            default:
                let members = (0..<count()).map { index in
                    let needs = (0..<index).filter { _ in chance(40) }.map { "\($0)" }
                    return graphMember("\(index)", needs, command(depth - 1))
                }
                var graph = RequestGraph(members, maxConcurrent: width())
                graph.continuesAfterFailures = chance(50)
                graph.timeouts = timeouts()
                return graph
            }
        }

        private func graphMember(_ name: String, _ needs: [String], _ command: some Command) -> RequestGraph.Member {
            .init(name, after: needs) { _ in command }
        }

        private mutating func member(_ depth: Int) -> BatchMember {
            let command = command(depth)
            return chance(50) ? BatchMember(command) : storm.watched(command)
        }

        private mutating func step(_ command: some Command) -> ChainStep {
            let (held, what) = (storm.count.make(), Int.random(in: 0..<12, using: &random))
            return ChainStep(storm.request(command)) { [held] turn in
                held.touch()
                switch what {
                case 0 where turn.runs < 3: turn.again(after: .microseconds(500))
                case 1 where turn.runs < 3: turn.again()
                case 2: turn.insert(ChainStep(Ask(held: held)), ChainStep(Ask(held: held)))
                case 3: turn.append(ChainStep(Ask(held: held)))
                case 4: turn.skip(2)
                case 5: turn.finish()
                case 6: turn.abort(ErrandError.validationFailed)
                default: break
                }
            } onFailure: { [held] _, times in
                held.touch()
                return switch what {
                case 0..<4 where times < 3: .retry(after: .microseconds(300))
                case 4..<6 where times < 3: .retry()
                case 6..<8: .skip
                case 8: .replace(ChainStep(Ask(held: held)))
                default: .abort
                }
            }
        }

        /// Starts a tree, and does something to one of the last ones.
        mutating func throwOne() {
            storm.start(storm.top(command(3)))
            act()
            while storm.isFull { act() }
        }

        private mutating func act() {
            guard let top = storm.recent.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<40, using: &random) {
            case 0: top.request.stop()
            case 1...2: top.request.pause()
            case 3...6: top.request.resume()
            case 7: storm.start(top)
            case 8: top.request.children.randomElement(using: &random)?.stop()
            case 9: top.add(ChainStep(Ask(held: storm.count.make())))
            case 10 where chance(10): storm.client.cancelAll()
            default: storm.answer(Int.random(in: 1...8, using: &random), &random)
            }
        }
    }

    private struct Top: Sendable {
        let request: AnyRequest
        let start: @Sendable (@escaping @Sendable () -> Void) -> Bool
        let add: @Sendable (ChainStep) -> Void
    }

    private final class Storm: Sendable {
        let count = Held.Count()
        let recorder = RecordingAccessory()
        let stub: StubTransport
        let client: Client
        let started = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        private let tops = Mutex<[Top]>([])

        init(seed: UInt64) {
            let random = Mutex(SeededGenerator(seed: seed))
            let recorder = recorder
            stub = StubTransport { _ in
                switch random.withLock({ Int.random(in: 0..<20, using: &$0) }) {
                case 0: .response(status: 500)
                case 1: .failure(.connectionLost)
                case 2: .refuse(.queueFull)
                case 3...8: .response(status: 200, body: "x")
                default: .hold
                }
            }
            client = Client.stubbed(stub) {
                $0.accessories = [recorder]
                $0.reportsStops = true
            }
        }

        func request<C: Command>(_ command: C) -> Request<C> {
            let request = client.request(command)
            request.userInfo["held"] = count.make()
            return request
        }

        func watched(_ command: some Command) -> BatchMember {
            let (request, held) = (request(command), count.make())
            request.whenDone(success: { [held] _ in held.touch() }, failure: { [held] _ in held.touch() })
            return BatchMember(request)
        }

        func top(_ command: any Command) -> Top { top(opened: command) }

        private func top<C: Command>(opened command: C) -> Top {
            let request = request(command)
            let top = Top(
                request: request, start: { ended in request.start(completion: { _ in ended() }) },
                add: { try? (request as? ChainRequest<GroupResults>)?.add($0) })
            tops.withLock { $0.append(top) }
            return top
        }

        /// A restart where it ran before.
        func start(_ top: Top) {
            started.add(1, ordering: .relaxed)
            let held = count.make()
            let isStarted = top.start { [self] in
                held.touch()
                ended.add(1, ordering: .relaxed)
            }
            if !isStarted { started.subtract(1, ordering: .relaxed) }
        }

        var recent: ArraySlice<Top> { tops.withLock { $0.suffix(32) } }

        var isFull: Bool { started.load(ordering: .relaxed) - ended.load(ordering: .relaxed) > 32 }

        /// What is not paused.
        func answer(_ most: Int, _ random: inout SeededGenerator) {
            for id in stub.open.shuffled(using: &random).prefix(most) where !stub.isPaused(id) {
                let status = Int.random(in: 0..<10, using: &random) == 0 ? 500 : 200
                stub.complete(id, with: .response(Response(statusCode: status)))
            }
        }

        /// Lets what runs end, nothing being paused any more.
        func calm(_ random: inout SeededGenerator) async throws {
            do {
                try await waitUntil("all groups have ended", within: .seconds(900)) {
                    for top in tops.withLock({ $0 }) { top.request.resume() }
                    answer(100, &random)
                    return started.load(ordering: .relaxed) <= ended.load(ordering: .relaxed)
                }
            } catch {
                for top in tops.withLock({ $0 }) where !top.request.isAtRest {
                    Issue.record("\(Self.describe(top.request))")
                }
                throw error
            }
        }

        private static func describe(_ request: AnyRequest) -> String {
            "\(type(of: request)) \(request.state) [\(request.children.map(describe).joined(separator: ", "))]"
        }

        func forget() { tops.withLock { $0 = [] } }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>) func everyRunEndsOnceAndNothingIsKept(seed: UInt64) async throws {
        let storm = Storm(seed: seed)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    var thrower = Thrower(storm: storm, random: SeededGenerator(seed: seed << 8 + UInt64(thread)))
                    for _ in 0..<250 { thrower.throwOne() }
                }
                continuation.resume()
            }
        }
        var random = SeededGenerator(seed: seed)
        try await storm.calm(&random)
        await storm.client.callbacksDrained()
        #expect(storm.started.load(ordering: .relaxed) == storm.ended.load(ordering: .relaxed))
        #expect(storm.recorder.isBalanced)
        #expect(storm.client.requests.isEmpty && storm.stub.open.isEmpty)
        storm.forget()
        try await storm.count.expectNone()
        await storm.client.shutdown(.cancel)
    }
}
