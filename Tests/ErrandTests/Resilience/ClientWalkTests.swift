import Errand
import ErrandTesting
import Synchronization
import Testing

/// Everything that a client has at once: resilience, endpoints, HSTS, alternative services, dry runs, cache, shared
/// transfers, groups, streams, interceptors and bodies from sources, authentication with refreshes, with stops, pauses,
/// restarts, deadlines and a shutdown at random times. Each run ends once, and nothing is left. All pairs of
/// ``ClientWalkFeatures`` are reached.
@Suite(.timeLimit(.minutes(20))) struct ClientWalkTests {
    private static let seeds: [Int] = Array(0..<64)
    private static let ended = Atomic<Int>(0)
    private static let refreshes = Atomic<Int>(0)
    private static let replays = Atomic<Int>(0)
    private static let streams = Atomic<Int>(0)
    private static let alternatives = Atomic<Int>(0)
    private static let coverage = ClientWalkCoverage()
    private static let finished = Atomic<Int>(0)

    @Test(arguments: seeds)
    func everyRunEndsOnceAndNothingIsLeft(seed: Int) async throws {
        let walk = ClientWalk(seed: seed, Self.coverage)
        await walk.run()
        try await walk.settle()
        try await walk.finish()
        walk.checkEnds()
        walk.checkBudgets()
        walk.checkProbes()
        walk.checkRefreshes()
        walk.checkParts()
        let sum = Self.ended.add(walk.ledger.ended, ordering: .relaxed).newValue
        let refreshes = Self.refreshes.add(walk.access?.authenticator.begun ?? 0, ordering: .relaxed).newValue
        let replays = Self.replays.add(walk.ledger.replays, ordering: .relaxed).newValue
        let streams = Self.streams.add(walk.ledger.streams.ended, ordering: .relaxed).newValue
        let chosen = walk.alternatives?.counts.chosen ?? 0
        let alternatives = Self.alternatives.add(chosen, ordering: .relaxed).newValue
        // The walks run at the same time: the last one sees the sums of all.
        guard Self.finished.add(1, ordering: .sequentiallyConsistent).newValue == Self.seeds.count else { return }
        let pairs = Self.coverage.reached
        print(
            "ClientWalkTests: \(sum) runs, \(streams) streams, \(alternatives) attempts at alternatives, "
                + "\(refreshes) refreshes, \(replays) counted replays, \(pairs) pairs in \(Self.seeds.count) walks")
        #expect(sum > 5_000)
        #expect(refreshes > 50)
        #expect(replays > 0)
        #expect(streams > 500)
        #expect(alternatives > 50)
        // Those of fourteen features.
        #expect(Self.coverage.missing.isEmpty, "\(Self.coverage.missing)")
        #expect(pairs == 91)
    }
}
