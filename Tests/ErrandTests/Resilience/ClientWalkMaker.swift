import Errand
import ErrandTesting
import HTTPTypes

@testable import ErrandCaching
@testable import ErrandClient
@testable import ErrandGroups
@testable import ErrandModel
@testable import ErrandResilience

/// Makes the commands of a walk.
final class ClientWalkMaker: Sendable {
    private let client: Client
    private let ledger: ClientWalkLedger
    private let clock: ManualClock
    /// Whether some requests pass all parts of the resilience by.
    private let exempts: Bool
    private let dice: ClientWalkDice
    /// For interceptors and readers, whose tasks run in any order.
    private let taskDice: ClientWalkDice

    init(
        _ client: Client, _ ledger: ClientWalkLedger, _ clock: ManualClock, exempts: Bool, _ dice: ClientWalkDice,
        _ taskDice: ClientWalkDice
    ) {
        self.exempts = exempts
        self.client = client
        self.ledger = ledger
        self.clock = clock
        self.dice = dice
        self.taskDice = taskDice
    }

    // MARK: One request

    /// `isAlone`: one request is made of the command, and no group runs it.
    func ask(isAlone: Bool = false) -> ClientWalkAsk {
        var ask = ClientWalkAsk(path: "\(dice.below(6))", isChild: !isAlone)
        switch dice.below(10) {
        case 0..<2:
            ask.method = .put
            ask.body = .source(source(isAlone: isAlone))
        case 2:
            ask.method = .put
            ask.body = .string("text")
        case 3: ask.method = .post
        default: break
        }
        ask.cache = cachePolicy()
        if dice.isOneIn(6) { ask.options = .coalesced }
        ask.timeouts = timeouts()
        ask.priority = dice.pick(Priority.allCases) ?? .normal
        ask.resilience = resilience()
        ask.interceptors = interceptors()
        return ask
    }

    private func source(isAlone: Bool) -> ClientWalkSource {
        let source = ClientWalkSource(taskDice, clock, isAlone: isAlone)
        ledger.add(source)
        return source
    }

    private func cachePolicy() -> CachePolicy? {
        let readings: [CacheReading] = [
            .cacheElseNetwork, .cacheElseNetwork, .networkOnly, .cacheOnly, .cacheThenNetwork, .networkElseCache,
        ]
        let reading = dice.pick(readings) ?? .cacheElseNetwork
        var policy: CachePolicy
        switch dice.below(4) {
        case 0: policy = .timed(.seconds(2), reading: reading)
        case 1: policy = .http(reading: reading)
        default: return nil
        }
        policy.collapsesMisses = dice.isOneIn(2)
        if dice.isOneIn(2) { policy.staleIfError = .seconds(5) }
        return policy
    }

    private func timeouts() -> Timeouts? {
        switch dice.below(6) {
        case 0: Timeouts(total: .seconds(1 + dice.below(8)))
        case 1: Timeouts(queue: .seconds(1 + dice.below(3)))
        default: nil
        }
    }

    private func resilience() -> RequestResilience? {
        switch dice.below(12) {
        case 0: exempts ? .off : nil
        case 1: RequestResilience(retry: .never)
        case 2: RequestResilience(hedge: .never)
        case 3..<5: RequestResilience(name: ClientWalk.name)
        default: nil
        }
    }

    private func interceptors() -> [any Interceptor] {
        switch dice.below(8) {
        case 0: [whim]
        case 1: [fallback]
        case 2: [fallback, whim]
        default: []
        }
    }

    var whim: ClientWalkWhim { ClientWalkWhim(dice: taskDice, clock: clock) }

    private var fallback: Fallback {
        Fallback(.stale(), .command(ClientWalkAsk(path: "mirror")), .response(body: Array("instead".utf8)))
    }

    /// A command whose response is streamed.
    func stream() -> ClientWalkAsk {
        var ask = self.ask(isAlone: true)
        ask.isStream = true
        return ask
    }

    /// The deadline of the task that starts a request; `nil`: none.
    func deadline() -> Deadline? {
        switch dice.below(12) {
        case 0: .after(.zero)
        case 1: .after(.seconds(1 + dice.below(5)))
        default: nil
        }
    }

    // MARK: Groups

    /// A batch or a chain, whose children may be groups.
    func tree(_ depth: Int = 2) -> any Command {
        guard depth > 0, depth == 2 || dice.isOneIn(2) else { return ask() }
        switch dice.below(3) {
        case 0: return batch(depth)
        case 1: return chain(depth)
        default: return Chain(ask()).then { [self] _ in ask() }
        }
    }

    private func batch(_ depth: Int) -> Batch<any Sendable> {
        let count = dice.below(5)
        let policies: [BatchPolicy] = [.failFast, .collectAll, .quorum(dice.below(count + 1))]
        let members: [BatchMember] = (0..<count).map { _ in member(depth - 1) }
        var batch = Batch(
            members, policy: dice.pick(policies) ?? .failFast, maxConcurrent: 1 + dice.below(3))
        batch.timeouts = timeouts()
        return batch
    }

    private func chain(_ depth: Int) -> Chain<GroupResults> {
        let steps: [ChainStep] = (0..<dice.below(4)).map { _ in step(tree(depth - 1)) }
        var chain = Chain(steps)
        chain.timeouts = timeouts()
        return chain
    }

    private func member(_ depth: Int) -> BatchMember {
        let command = tree(depth)
        return dice.isOneIn(2) ? BatchMember(command) : watchedMember(command)
    }

    private func watchedMember(_ command: some Command) -> BatchMember {
        BatchMember(watched(command))
    }

    private func step(_ command: some Command) -> ChainStep {
        let what = dice.below(8)
        return ChainStep(watched(command)) { turn in
            switch what {
            case 0 where turn.runs < 3: turn.again(after: .milliseconds(200))
            case 1 where turn.runs < 3: turn.append(ChainStep(ClientWalkAsk(path: "appended")))
            case 2: turn.skip()
            default: break
            }
        } onFailure: { _, times in
            return switch what {
            case 0..<3 where times < 3: .retry(after: .milliseconds(300))
            case 3 where times < 3: .retry()
            case 4..<6: .skip
            case 6: .replace(ChainStep(ClientWalkAsk(path: "replaced")))
            default: .abort
            }
        }
    }

    private func watched<C: Command>(_ command: C) -> Request<C> {
        let request = client.request(command)
        ledger.newChild().watch(request)
        return request
    }
}
