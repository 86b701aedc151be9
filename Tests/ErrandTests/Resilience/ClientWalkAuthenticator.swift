import Errand
import ErrandTesting
import Synchronization

/// The authenticator of a walk. A refresh does something different each time: it succeeds at once, fails, takes long, or
/// is a request or a group of the same client.
final class ClientWalkAuthenticator: Authenticator {
    typealias Credential = Int

    /// The path of the requests that refreshes send.
    static let path = "token"

    private let dice: ClientWalkDice
    private let clock: ManualClock
    private let timer: ClientWalkTimer
    private let tokens: ClientWalkTokens
    private let faults: Notes<String>
    private let owner = Mutex<Client?>(nil)
    private let calls = Mutex((running: 0, begun: 0))

    init(
        _ dice: ClientWalkDice, _ clock: ManualClock, _ timer: ClientWalkTimer, _ tokens: ClientWalkTokens,
        _ faults: Notes<String>
    ) {
        self.dice = dice
        self.clock = clock
        self.timer = timer
        self.tokens = tokens
        self.faults = faults
    }

    /// The client that sends the requests of refreshes; `nil`: the client is not needed any more.
    func use(_ client: Client?) { owner.withLock { $0 = client } }

    /// The refreshes that run now.
    var running: Int { calls.withLock { $0.running } }
    /// All refreshes so far.
    var begun: Int { calls.withLock { $0.begun } }

    // MARK: Authenticator

    func applies(to request: RequestDescription) -> Bool { true }

    func apply(_ credential: Int, to request: inout RequestDescription) throws {
        try ClientWalkTokens.add(credential, to: &request)
    }

    func isUsable(_ credential: Int) -> Bool { !dice.isOneIn(30) }

    func refuses(_ response: Response) -> Bool { response.statusCode == 401 }

    func refresh(_ credential: Int?, after response: Response?) async throws -> Int {
        begin()
        defer { calls.withLock { $0.running -= 1 } }
        if let response, !refuses(response) { faults.add("a refresh after a response of \(response.statusCode)") }
        if Deadline.current != nil { faults.add("a refresh has the deadline of a request") }
        switch dice.below(12) {
        case 0: throw ClientWalkTrouble()
        case 1..<3: try await clock.sleep(for: .milliseconds(dice.below(900)))
        case 3: try await clock.sleep(for: .seconds(2 + dice.below(10)))
        case 4..<7: try await ask(twice: false)
        case 7: try await ask(twice: true)
        default: for _ in 0..<dice.below(10) { await Task.yield() }
        }
        if dice.isOneIn(8) { throw ClientWalkTrouble() }
        return tokens.issue()
    }

    private func begin() {
        let running = calls.withLock { calls in
            calls.running += 1
            calls.begun += 1
            return calls.running
        }
        // A refresh that has timed out may run a little longer.
        if running > 1 + timer.expired { faults.add("\(running) refreshes at a time") }
    }

    private func ask(twice: Bool) async throws {
        guard let client = owner.withLock({ $0 }) else { throw ClientWalkTrouble() }
        var ask = ClientWalkAsk(path: Self.path)
        if dice.isOneIn(3) { ask.timeouts = Timeouts(total: .seconds(4)) }
        guard twice else {
            _ = try await client.run(ask)
            return
        }
        let step = ChainStep(ask)
        _ = try await client.run(Chain([step, step]))
    }
}
