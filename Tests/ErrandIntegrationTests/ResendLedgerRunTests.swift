import Errand
import ErrandTesting
import Synchronization
import Testing

/// What libcurl sends again itself within one transfer, in the ledger of the request and in the budget.
@Suite(.timeLimit(.minutes(20))) struct ResendLedgerRunTests {
    /// How the caller waits for the request.
    enum Form: CaseIterable {
        case closure, async, stream
    }

    /// Why libcurl sends the attempt again that then loses to a hedge.
    enum Loss: CaseIterable {
        case deadConnection, challenge
    }

    /// The ledgers of the requests that have ended.
    private final class Ledgers: Accessory {
        private let noted = Mutex<[[Resend]]>([])

        var all: [[Resend]] { noted.withLock { $0 } }

        func requestWillStart(_ request: AnyRequest) {}
        func requestWillStop(_ request: AnyRequest) {}
        func requestDidStop(_ request: AnyRequest) { noted.withLock { $0.append(request.resends) } }
    }

    private struct Ask: Command {
        var path: String { "" }
        var authorization: Authorization?
        typealias Response = Errand.Response
    }

    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private static let challenge = ScriptedServer.Step.send(
        "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
            + "Content-Length: 0\r\n\r\n")
    private static let hedge = HedgePolicy(
        delay: .fixed(.seconds(1)), budget: RetryBudget.Policy(ratio: 1, floorPerSecond: 1))

    /// A client with a kept connection to a server whose next connections run `scripts` for `/`. `clock`: the client
    /// sends a hedge after a second of this clock; `nil`: it sends none.
    private func with(
        _ scripts: [[ScriptedServer.Step]], _ accessories: [any Accessory], hedgedBy clock: ManualClock? = nil,
        _ body: (Client, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        try server.on("/keep", [Self.ok])
        for script in scripts { try server.on("/", script) }
        var configuration = Client.Configuration.patient(baseURL: server.url("/"), loops: 1)
        configuration.resilience = Resilience(
            budget: RetryBudget.Policy(ratio: 0, floorPerSecond: 1, window: .seconds(3600)),
            hedge: clock == nil ? nil : Self.hedge)
        if let clock { configuration.clock = clock }
        configuration.accessories = accessories
        try await Client.with(Client(configuration: configuration)) { client in
            _ = try await client.run(Get(path: "keep"))
            try await body(client, server)
        }
    }

    private func run(_ command: Ask, as form: Form, by client: Client) async -> ErrandError? {
        do {
            switch form {
            case .closure:
                let request = client.request(command)
                await withCheckedContinuation { continuation in
                    _ = request.start { _ in continuation.resume() }
                }
                return request.error
            case .async:
                _ = try await client.run(command)
            case .stream:
                let streamed = try await client.stream(command)
                for try await _ in streamed.body {}
            }
            return nil
        } catch {
            return error as? ErrandError ?? ErrandError.internalFailure
        }
    }

    private func budget(_ client: Client, _ server: ScriptedServer) throws -> RetryBudget {
        try #require(client.resilience?.budgets).budget(for: "http://127.0.0.1:\(server.port)")
    }

    /// The server closes the kept connection when it has read the second request.
    @Test(arguments: Form.allCases, [true, false])
    func aDeadConnection(form: Form, isObserved: Bool) async throws {
        let (ledgers, recorder) = (Ledgers(), EventRecorder())
        try await with([[.finish], [Self.ok]], isObserved ? [ledgers, recorder] : [ledgers]) { client, server in
            let budget = try budget(client, server)
            let before = budget.available
            #expect(await run(Ask(), as: form, by: client) == nil)
            try await waitUntil("both requests have ended") { ledgers.all.count == 2 }
            #expect(ledgers.all == [[], [.connection]])
            #expect(server.requests.count == 3)
            #expect(budget.available == before - 1)
            let counts = budget.counts
            #expect(counts.deposits == 2 && counts.charges == 1 && counts.withdrawals == 1 && counts.refusals == 0)
        }
        #expect(recorder.names.filter { $0 == "resent connection" }.count == (isObserved ? 1 : 0))
        if isObserved {
            let place = try #require(recorder.names.firstIndex(of: "resent connection"))
            #expect(recorder.names[place...].starts(with: ["resent connection", "head 200"]))
        }
    }

    /// libcurl sends once more, and the second connection dies too.
    @Test(arguments: Form.allCases) func aRequestThatFailsAllTheSame(form: Form) async throws {
        let ledgers = Ledgers()
        try await with([[.finish]], [ledgers]) { client, server in
            #expect(await run(Ask(), as: form, by: client) == .connectionLost)
            try await waitUntil("both requests have ended") { ledgers.all.count == 2 }
            #expect(ledgers.all == [[], [.connection]])
            #expect(server.requests.count == 3)
            let counts = try budget(client, server).counts
            #expect(counts.deposits == 2 && counts.charges == 1 && counts.withdrawals == 1)
        }
    }

    /// The engine answers a Digest challenge itself.
    @Test(arguments: Form.allCases) func aChallenge(form: Form) async throws {
        let ledgers = Ledgers()
        try await with([[Self.challenge, .readHead, Self.ok]], [ledgers]) { client, server in
            let command = Ask(authorization: .digest(username: "ada", password: "pw"))
            #expect(await run(command, as: form, by: client) == nil)
            try await waitUntil("both requests have ended") { ledgers.all.count == 2 }
            #expect(ledgers.all == [[], [.authentication]])
            let counts = try budget(client, server).counts
            #expect(counts.deposits == 2 && counts.charges == 1 && counts.withdrawals == 1)
        }
    }

    /// The first attempt is sent twice and gets no answer. The loser's resend is known only when the request has ended.
    @Test(arguments: Loss.allCases, [Form.closure, .async])
    func theResendOfALoser(loss: Loss, form: Form) async throws {
        let (ledgers, clock) = (Ledgers(), ManualClock())
        let isChallenged = loss == .challenge
        let scripts: [[ScriptedServer.Step]] =
            isChallenged
            ? [[Self.challenge, .readHead, .stall], [Self.challenge, .readHead, Self.ok]]
            : [[.finish], [.stall], [Self.ok]]
        let command = Ask(authorization: isChallenged ? .digest(username: "ada", password: "pw") : nil)
        try await with(scripts, [ledgers], hedgedBy: clock) { client, server in
            let budget = try budget(client, server)
            let before = budget.available
            let run = Task { await self.run(command, as: form, by: client) }
            #expect(await server.hasSeen(.init(requests: 3)))
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
            #expect(await run.value == nil)
            try await waitUntil("both requests have ended") { ledgers.all.count == 2 }
            // With Digest the hedge has a second round too.
            let resends: [Resend] = isChallenged ? [.hedge, .authentication] : [.hedge]
            #expect(ledgers.all == [[], resends])
            let charges = isChallenged ? 2 : 1
            try await waitUntil("the loser's resend is charged") { budget.counts.charges == charges }
            let counts = budget.counts
            #expect(counts.deposits == 2 && counts.withdrawals == 1 + charges && counts.refusals == 0)
            // The answers to challenges take no token.
            #expect(budget.available == before - (isChallenged ? 1 : 2))
            #expect(server.requests.count == (isChallenged ? 5 : 4))
            #expect(client.resilience?.counts.losers == 1)
        }
    }
}
