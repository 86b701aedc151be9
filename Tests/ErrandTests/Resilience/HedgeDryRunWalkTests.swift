import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandClient
@testable import ErrandResilience

/// Transfers of a dry run, in random order: each hedge is counted once, and nothing else changes.
@Suite(.timeLimit(.minutes(20))) struct HedgeDryRunWalkTests {
    private static let key = "http://a:80"

    private static func description(isStreamed: Bool) throws -> RequestDescription {
        var description = try ResilientFixture.description()
        description.reports = .events
        if isStreamed { description.delivery = .streamed }
        return description
    }

    /// Ends an attempt. The head comes first, as an engine has it.
    private static func end(_ attempt: TransferID, _ fixture: ResilientFixture, status: Int) {
        let response = Response(statusCode: status)
        _ = fixture.stub.send(.head(response), to: attempt)
        fixture.stub.complete(attempt, with: .response(response))
    }

    @Test(arguments: 0..<40)
    func aWalk(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let extra = Int.random(in: 1...3, using: &random)
        let tokens = [0, 3, 100][Int.random(in: 0..<3, using: &random)]
        // The floor is averaged over ten seconds, which a walk does not last.
        let hedge = HedgePolicy(
            delay: .fixed(.milliseconds(100)), maxExtra: extra,
            budget: .init(ratio: 0, floorPerSecond: Double(tokens) / 10), isDryRun: true)
        let fixture = ResilientFixture(Resilience(retry: nil, budget: RetryBudget.Policy(), hedge: hedge))
        var transfers: [(receiver: CallReceiver, id: TransferID)] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                let isStreamed = Bool.random(using: &random)
                let (receiver, id) = try fixture.submit(Self.description(isStreamed: isStreamed))
                transfers.append((receiver, id))
            case 2, 3:
                fixture.clock.advance(by: .milliseconds(Int.random(in: 1...100, using: &random)))
            case 4:
                guard let attempt = fixture.stub.open.randomElement(using: &random) else { continue }
                Self.end(attempt, fixture, status: [200, 404, 503][Int.random(in: 0..<3, using: &random)])
            case 5:
                guard let attempt = fixture.stub.open.randomElement(using: &random) else { continue }
                fixture.stub.complete(attempt, with: .failure(.connectionLost))
            default:
                guard let transfer = transfers.randomElement(using: &random) else { continue }
                fixture.outer.cancel(transfer.id)
            }
        }
        for attempt in fixture.stub.open { Self.end(attempt, fixture, status: 200) }
        fixture.clock.advance(by: .seconds(1))
        let parts = fixture.transport.parts
        let own = parts.hedgeTracker(for: Self.key, hedge).budget
        try await waitUntil("seed \(seed): each counted hedge has a token") {
            own.counts.withdrawals == parts.counts.wouldHedge
        }
        #expect(fixture.isEmpty() && transfers.allSatisfy { $0.receiver.results.all.count == 1 }, "seed \(seed)")
        let counts = parts.counts
        #expect(counts.hedges == 0 && counts.losers == 0 && counts.hedgesRefused == 0, "seed \(seed): \(counts)")
        #expect(counts.attempts == transfers.count && counts.transfers == transfers.count, "seed \(seed)")
        #expect(fixture.stub.submitted.count == transfers.count, "seed \(seed)")
        #expect(counts.wouldHedge <= min(tokens, extra * transfers.count), "seed \(seed): \(counts)")
        // Decisions that the end overtakes are not told.
        let told = transfers.map { transfer in
            transfer.receiver.decisions.all.count { $0 == .notHedged(reason: "dryRun") }
        }
        #expect(told.allSatisfy { $0 <= extra } && told.reduce(0, +) <= counts.wouldHedge, "seed \(seed)")
        let budget = try #require(parts.budgets).budget(for: Self.key).counts
        #expect(budget.deposits == transfers.count && budget.withdrawals == 0, "seed \(seed): \(budget)")
    }
}
